//! `blackbar rules export`: the rules for other tools. What a format can't say stands at the top of what is written.
//!
//! The patterns go out as they are, since rule files are written in what all these engines share; a pattern of an operator
//! that is not is left out and named.

mod collector;
mod python;

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::cli::arguments::RuleArguments;
use crate::cli::{print, say};
use crate::redact::rules::{Mode, Rule, RuleSet, portability};

/// Write the rules for another tool: a Python module, or the Collector's redaction processor
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  blackbar rules export --format python > blackbar_rules.py
  blackbar rules export --format collector > redaction.yaml

Neither decodes or knows names of secrets as Blackbar does: what is missing
stands at the top of the output.")]
pub(super) struct Arguments {
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    #[command(flatten)]
    rules: RuleArguments,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A module of its own, for Python 3.9 or later
    Python,
    /// YAML for the redaction processor of the OpenTelemetry Collector
    Collector,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let rules = arguments.rules.load()?.rules;
    let text = match arguments.format {
        Format::Python => python::module(&rules),
        Format::Collector => collector::document(&rules),
    };
    for (rule, why) in left_out(&rules) {
        say(&format!("note: rule {} is left out: {why}", rule.id));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The rules whose patterns mean the same elsewhere.
fn portable(rules: &RuleSet) -> impl Iterator<Item = &Rule> {
    rules.rules().iter().filter(|rule| why_not(rule).is_none())
}

/// The others, and why.
fn left_out(rules: &RuleSet) -> impl Iterator<Item = (&Rule, String)> {
    rules.rules().iter().filter_map(|rule| Some((rule, why_not(rule)?)))
}

fn why_not(rule: &Rule) -> Option<String> {
    if rule.mode == Mode::Audit {
        return Some("it only counts".to_owned());
    }
    if rule.integers {
        return Some("it looks at integers only".to_owned());
    }
    portability(&rule.whole_pattern()).into_iter().next()
}
