//! `blackbar scrub`: the redactor without the proxy, from standard input or files. What the formats do is in `text` and
//! `otlp`; here are arguments, files and the summary.

mod otlp;
mod text;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};

use super::arguments::RuleArguments;
use super::say;
use crate::app;
use crate::otlp::Signal;
use crate::redact::{Redactor, Report, TextScrubber};

/// Remove credentials from text or OTLP files: standard input to standard output, or files
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl logs pod | blackbar scrub > clean.log
  blackbar scrub app.log other.log > clean.log
  blackbar scrub --in-place traces.jsonl
  blackbar scrub --signal traces < request.bin > clean.bin
  blackbar scrub --rules own.yaml --config relay.yaml < in > out

OTLP JSON lines, as the Collector's file exporter writes them, come out one by
one. Text is looked at 256 KiB at a time, since a secret may span lines: with
`tail -f` nothing comes out until that much is there, or the input ends.

A summary by kind goes to standard error.
Exit codes: 0 done (whether something was found or not), 1 failed,
78 wrong configuration or rules.")]
pub(super) struct Arguments {
    /// Files to read; none: standard input
    files: Vec<PathBuf>,
    /// What the input is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    format: Format,
    /// The signal of an OTLP protobuf request
    #[arg(long, value_enum, required_if_eq("format", "protobuf"))]
    signal: Option<SignalName>,
    /// Write each file back instead of to standard output
    #[arg(long, requires = "files")]
    in_place: bool,
    /// No summary
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    rules: RuleArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// OTLP JSON lines where the first line is one, else text, or protobuf if --signal is given
    Auto,
    /// Any text
    Text,
    /// OTLP JSON: one export request a line, or one in the whole input
    Json,
    /// One OTLP export request in protobuf, of --signal
    Protobuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SignalName {
    Traces,
    Metrics,
    Logs,
    Profiles,
}

/// What scrubs.
struct Scrubber {
    /// Texts.
    text: TextScrubber,
    /// Export requests.
    request: Redactor,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let scrubber = scrubber(arguments)?;
    let mut report = Report::default();
    if arguments.files.is_empty() {
        let mut out = BufWriter::new(io::stdout().lock());
        scrub(io::stdin().lock(), &mut out, arguments, &scrubber, &mut report)?;
        out.flush()?;
    }
    for file in &arguments.files {
        let input = File::open(file).with_context(|| file.display().to_string())?;
        let input = BufReader::new(input);
        if arguments.in_place {
            replace(file, |out| scrub(input, out, arguments, &scrubber, &mut report))
        } else {
            let mut out = BufWriter::new(io::stdout().lock());
            scrub(input, &mut out, arguments, &scrubber, &mut report).and_then(|()| Ok(out.flush()?))
        }
        .with_context(|| file.display().to_string())?;
    }
    if !arguments.quiet {
        say(&summary(&report));
    }
    Ok(ExitCode::SUCCESS)
}

fn scrubber(arguments: &Arguments) -> anyhow::Result<Scrubber> {
    let settings = arguments.rules.load()?;
    let text = TextScrubber::new(settings.rules.clone())?.by_line();
    Ok(Scrubber { text, request: app::redactor(&settings)? })
}

fn scrub(
    mut input: impl BufRead,
    out: &mut impl Write,
    arguments: &Arguments,
    scrubber: &Scrubber,
    report: &mut Report,
) -> anyhow::Result<()> {
    match (arguments.format, arguments.signal) {
        (Format::Text, _) => text::scrub(&mut input, out, &scrubber.text, report),
        (Format::Json, _) => otlp::lines(input, out, scrubber, report, otlp::Strange::Refuse),
        (Format::Protobuf, signal) => {
            // clap has asked for it.
            let signal = signal.context("--signal is missing")?;
            otlp::protobuf(input, out, signal.into(), scrubber, report)
        }
        (Format::Auto, signal) => {
            let mut first = Vec::new();
            otlp::take_line(&mut input, &mut first)?;
            let rest = io::Cursor::new(first.clone()).chain(input);
            match (otlp::signal_of(&first), signal) {
                (Some(_), _) => otlp::lines(rest, out, scrubber, report, otlp::Strange::ScrubAsText),
                (None, Some(signal)) => otlp::protobuf(rest, out, signal.into(), scrubber, report),
                (None, None) => text::scrub(&mut BufReader::new(rest), out, &scrubber.text, report),
            }
        }
    }
}

/// Writes next to a file, and takes its place once all is written. Behind a link: the file that it leads to.
fn replace(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let file = &fs::canonicalize(file)?;
    let mut name = file.file_name().context("not a file")?.to_owned();
    name.push(".blackbar-new");
    let new = file.with_file_name(name);
    let written = || -> anyhow::Result<()> {
        let mut options = File::options();
        let created = options.write(true).create_new(true).open(&new)?;
        created.set_permissions(fs::metadata(file)?.permissions())?;
        let mut out = BufWriter::new(created);
        write(&mut out)?;
        out.flush()?;
        out.get_ref().sync_all()?;
        Ok(fs::rename(&new, file)?)
    };
    let done = written();
    if done.is_err() {
        // The half that was written is of no use; why it failed is what counts.
        let _ = fs::remove_file(&new);
    }
    done
}

/// `3 redactions: 2 github-token, 1 jwt`.
fn summary(report: &Report) -> String {
    let total = report.total();
    let mut out = format!("{total} redaction{}", if total == 1 { "" } else { "s" });
    let mut separator = ": ";
    for (kind, count) in &report.redactions {
        out.push_str(&format!("{separator}{count} {kind}"));
        separator = ", ";
    }
    for (kind, count) in &report.audited {
        out.push_str(&format!("; audit only: {count} {kind}"));
    }
    for (reason, count) in &report.unscanned {
        out.push_str(&format!("; not scanned and so replaced: {count} ({})", reason.as_str()));
    }
    if report.dropped_fields > 0 {
        out.push_str(&format!("; unknown fields dropped: {}", report.dropped_fields));
    }
    out
}

/// Reads everything, up to a bound that no export request reaches.
fn read_all(input: &mut impl BufRead) -> anyhow::Result<Vec<u8>> {
    const MAX: u64 = 1 << 30;
    let mut all = Vec::new();
    input.take(MAX + 1).read_to_end(&mut all)?;
    ensure!(all.len() as u64 <= MAX, "more than {MAX} bytes");
    Ok(all)
}

impl From<SignalName> for Signal {
    fn from(name: SignalName) -> Self {
        match name {
            SignalName::Traces => Self::Traces,
            SignalName::Metrics => Self::Metrics,
            SignalName::Logs => Self::Logs,
            SignalName::Profiles => Self::Profiles,
        }
    }
}
