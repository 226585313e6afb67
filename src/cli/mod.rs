//! The command line: one file per subcommand. Here: what there is to say, and which exit code it comes to.
//!
//! The only module that prints. Exit codes: 0 done, 1 failed, 2 wrong usage (clap), 78 wrong configuration
//! (`EX_CONFIG` of BSD's sysexits).

mod arguments;
mod check;
mod demo;
mod healthcheck;
mod print_config;
mod rules;
mod run;
mod scrub;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::{Notice, Problems};

/// Exit code of a command that failed.
const FAILED: u8 = 1;

/// Exit code where the configuration is wrong.
const CONFIGURATION: u8 = 78;

/// A redacting OTLP proxy: removes credentials from traces, logs, metrics and profiles, and forwards the rest.
#[derive(Debug, Parser)]
#[command(name = "blackbar", version, args_conflicts_with_subcommands = true, max_term_width = 110)]
#[command(after_help = "Examples:
  OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4317 blackbar run
  blackbar --config relay.yaml         the same as: blackbar run --config ...
  blackbar demo                        show what it does, with fake credentials
  kubectl logs pod | blackbar scrub    remove credentials from any text

Exit codes: 0 done, 1 failed, 2 wrong usage, 78 wrong configuration.")]
struct Cli {
    #[command(flatten)]
    run: run::Arguments,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Check(check::Arguments),
    PrintConfig(print_config::Arguments),
    Scrub(scrub::Arguments),
    Rules(rules::Arguments),
    Healthcheck(healthcheck::Arguments),
    Demo(demo::Arguments),
}

/// Parses the command line and calls a command.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        None => run::run(&cli.run),
        Some(Command::Run(arguments)) => run::run(&arguments),
        Some(Command::Check(arguments)) => check::run(&arguments),
        Some(Command::PrintConfig(arguments)) => print_config::run(&arguments),
        Some(Command::Scrub(arguments)) => scrub::run(&arguments),
        Some(Command::Rules(arguments)) => rules::run(&arguments),
        Some(Command::Healthcheck(arguments)) => healthcheck::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments),
    };
    match done {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

/// Says what went wrong, and chooses the exit code.
fn fail(error: &anyhow::Error) -> ExitCode {
    let broken_pipe =
        error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
    if broken_pipe {
        // Whoever read our output has seen enough.
        return ExitCode::SUCCESS;
    }
    match error.downcast_ref::<Problems>() {
        Some(problems) => {
            let count = problems.0.len();
            say(&format!("{problems}\nblackbar: {count} problem{} in the configuration", plural(count)));
            ExitCode::from(CONFIGURATION)
        }
        None => {
            say(&format!("blackbar: {error:#}"));
            ExitCode::from(FAILED)
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A line for the user, on standard error. That nobody reads it is no failure.
fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// What there is to know about a configuration that is right.
fn say_notices(notices: &[Notice]) {
    for notice in notices {
        say(&format!("{}: {}", if notice.warning { "warning" } else { "note" }, notice.message));
    }
}

/// Output of a command, on standard output.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
