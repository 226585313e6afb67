//! `blackbar rules`: what is looked for, whether rule files are right, how much they find, and the same for other tools.

mod export;
mod test;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::arguments::ConfigArguments;
use super::{FAILED, plural, print, say, say_notices};
use crate::redact::replacements;
use crate::redact::rules::{Confidence, Mode, RuleSet, check};
use crate::redact::trial;

/// List, check, measure or export the rules
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  blackbar rules list
  blackbar rules list --config relay.yaml   the rules that it comes to
  blackbar rules check own.yaml             run the examples of a rule file
  blackbar rules check                      run those of the built-in rules
  blackbar rules test labelled.jsonl        what is found of known secrets
  blackbar rules export --format python     the rules for another tool")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(ListArguments),
    Check(CheckArguments),
    Test(test::Arguments),
    Export(export::Arguments),
}

/// List the rules: kind, confidence, what each finds
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  blackbar rules list
  blackbar rules list --config relay.yaml")]
struct ListArguments {
    #[command(flatten)]
    config: ConfigArguments,
}

/// Check that each rule finds its examples and not its counterexamples
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  blackbar rules check
  blackbar rules check own.yaml more.yaml

The examples of each rule are tried on its pattern, then on all rules together,
the built-in ones first: a secret that stays, or becomes another kind, is told.

Exit codes: 0 all is right, 1 it is not.")]
struct CheckArguments {
    /// Rule files; none: the built-in rules
    files: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::List(arguments) => list(arguments),
        Command::Check(arguments) => check_files(arguments),
        Command::Test(arguments) => test::run(arguments),
        Command::Export(arguments) => export::run(arguments),
    }
}

fn list(arguments: &ListArguments) -> anyhow::Result<ExitCode> {
    let config = arguments.config.load_without_backend()?.config;
    let rules = &config.scrub.rules;
    let width = rules.rules().iter().map(|rule| rule.kind.len()).max().unwrap_or(0);
    let mut out = String::new();
    for rule in rules.rules().iter() {
        let confidence = match rule.confidence {
            Confidence::Confident => "confident ",
            Confidence::Contextual => "contextual",
        };
        let audit = if rule.mode == Mode::Audit { " (audit: counted only)" } else { "" };
        writeln!(out, "{:width$}  {confidence}  {}{audit}", rule.kind, rule.description)?;
    }
    if rules.named_pairs() {
        writeln!(out, "{:width$}  contextual  the value of a name such as password or api_key", "secret")?;
    }
    print(&out)?;
    // What of an imported file does not count is part of the answer.
    say_notices(&config.notices);
    Ok(ExitCode::SUCCESS)
}

fn check_files(arguments: &CheckArguments) -> anyhow::Result<ExitCode> {
    let mut wrong = 0;
    let (mut rules, mut examples) = (0, 0);
    let builtin = RuleSet::builtin();
    let mut look = |set: &RuleSet, others: &RuleSet| -> anyhow::Result<usize> {
        let mut report = check(set);
        report.problems.extend(replacements::problems(set));
        report.problems.extend(trial::problems(set, others)?);
        rules += report.rules;
        examples += report.examples;
        for problem in &report.problems {
            say(&format!(
                "{}:{}: {}: {}",
                problem.origin.file, problem.origin.line, problem.kind, problem.message
            ));
        }
        Ok(report.problems.len())
    };
    if arguments.files.is_empty() {
        wrong += look(&builtin, &RuleSet::empty())?;
        if let Some(packs) = RuleSet::optional("pii") {
            wrong += look(&packs, &builtin)?;
        }
    }
    for file in &arguments.files {
        let name = file.display().to_string();
        match fs::read_to_string(file) {
            Ok(text) => match RuleSet::from_yaml(&name, &text) {
                Ok(set) => wrong += look(&set, &builtin)?,
                Err(errors) => {
                    wrong += errors.0.len();
                    say(&errors.to_string());
                }
            },
            Err(error) => {
                wrong += 1;
                say(&format!("{name}: cannot be read: {error}"));
            }
        }
    }
    if wrong > 0 {
        say(&format!("blackbar: {wrong} problem{} in the rules", plural(wrong)));
        return Ok(ExitCode::from(FAILED));
    }
    print(&format!("{rules} rules and {examples} examples are right\n"))?;
    Ok(ExitCode::SUCCESS)
}
