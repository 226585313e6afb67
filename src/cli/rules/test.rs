//! `blackbar rules test`: how much of labelled texts is found, and what is found that is none.
//!
//! A labelled line is a JSON object: `text`, `positive`, the `secrets` in it, and where the secret stands there in another
//! form, `forbidden`. `rule` and `case` only group the counts. Nothing here prints a text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use memchr::memmem;
use serde_json::Value;

use crate::cli::arguments::RuleArguments;
use crate::cli::{FAILED, plural, print, say};
use crate::redact::{Report, TextScrubber};

/// Measure the rules on labelled texts: what they find, and their false alarms
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  blackbar rules test labelled.jsonl
  blackbar rules test --misses --min-recall 95 a.jsonl b.jsonl
  blackbar rules test --rules own.yaml --config relay.yaml labelled.jsonl

A line is a JSON object:
  {\"text\": \"...\", \"positive\": true, \"secrets\": [\"...\"], \"rule\": \"acme-key\"}
`forbidden` stands for `secrets` where the text has them in another form; `rule`
and `case` group the counts. A positive is found if the text changes and no
secret is left in it; a negative is a false alarm if anything changes.

Exit codes: 0 done, 1 a line is wrong or less is found than --min-recall.")]
pub(super) struct Arguments {
    /// Labelled texts, one JSON object a line
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// List the lines that were missed and the false alarms
    #[arg(long)]
    misses: bool,
    /// Least share of the positives that must be found
    #[arg(long, value_name = "PERCENT")]
    min_recall: Option<f64>,
    #[command(flatten)]
    rules: RuleArguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let scrubber = TextScrubber::new(arguments.rules.load()?.rules)?;
    let mut counts = Counts::default();
    let mut wrong = 0;
    for file in &arguments.files {
        let name = file.display();
        let lines = BufReader::new(File::open(file).with_context(|| name.to_string())?).split(b'\n');
        for (line, number) in lines.zip(1..) {
            let line = line.with_context(|| name.to_string())?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match Labelled::parse(&line) {
                Ok(labelled) => {
                    let miss = counts.add(&labelled, &scrubber);
                    if let Some(miss) = miss.filter(|_| arguments.misses) {
                        say(&format!("{name}:{number}: {miss}"));
                    }
                }
                Err(why) => {
                    wrong += 1;
                    say(&format!("{name}:{number}: {why}"));
                }
            }
        }
    }
    print(&counts.table()?)?;
    if wrong > 0 {
        say(&format!("blackbar: {wrong} line{} not understood", plural(wrong)));
        return Ok(ExitCode::from(FAILED));
    }
    let recall = counts.all.recall();
    if let Some(least) = arguments.min_recall.filter(|least| recall < *least) {
        say(&format!("blackbar: {recall:.1} % found, expected at least {least} %"));
        return Ok(ExitCode::from(FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

/// One line.
struct Labelled {
    text: String,
    positive: bool,
    /// What must be gone.
    forbidden: Vec<String>,
    rule: String,
    case: Option<String>,
}

impl Labelled {
    /// What is wrong is said without the line's text, and so in our own words.
    fn parse(line: &[u8]) -> Result<Self, String> {
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(line) else {
            return Err("not a JSON object".to_owned());
        };
        let mut text = |name: &str| match fields.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` must be a string")),
        };
        let (rule, case) = (text("rule")?.unwrap_or_default(), text("case")?);
        let text = text("text")?.ok_or("`text` is missing")?;
        let positive = fields.get("positive").and_then(Value::as_bool);
        let positive = positive.ok_or("`positive` must be true or false")?;
        let secrets = strings(&fields, "secrets")?;
        let forbidden = strings(&fields, "forbidden")?.or(secrets).unwrap_or_default();
        Ok(Self { text, positive, forbidden, rule, case })
    }
}

fn strings(fields: &serde_json::Map<String, Value>, name: &str) -> Result<Option<Vec<String>>, String> {
    let wrong = || format!("`{name}` must be a list of strings that are not empty");
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => {
            let text = |item: &Value| item.as_str().filter(|s| !s.is_empty()).map(str::to_owned);
            items.iter().map(text).collect::<Option<_>>().map(Some).ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

#[derive(Default)]
struct Counts {
    rules: BTreeMap<String, Tally>,
    cases: BTreeMap<String, Tally>,
    all: Tally,
}

#[derive(Default)]
struct Tally {
    positives: usize,
    found: usize,
    negatives: usize,
    alarms: usize,
    /// Our kinds that were found in its texts.
    kinds: BTreeMap<String, u64>,
}

impl Counts {
    /// Scrubs a text and counts what came of it. What was wrong with it, if anything.
    fn add(&mut self, labelled: &Labelled, scrubber: &TextScrubber) -> Option<&'static str> {
        let mut report = Report::default();
        let scrubbed = scrubber.scrub(None, labelled.text.as_bytes(), &mut report);
        let is_gone = |text: &[u8]| {
            labelled.forbidden.iter().all(|secret| memmem::find(text, secret.as_bytes()).is_none())
        };
        let right = match &scrubbed {
            Some(text) => labelled.positive && is_gone(text),
            None => !labelled.positive,
        };
        self.all.add(labelled.positive, right, &report);
        self.rules.entry(labelled.rule.clone()).or_default().add(labelled.positive, right, &report);
        if let Some(case) = &labelled.case {
            self.cases.entry(case.clone()).or_default().add(labelled.positive, right, &report);
        }
        match (right, labelled.positive) {
            (true, _) => None,
            (false, true) if scrubbed.is_some() => Some("missed (something else was found)"),
            (false, true) => Some("missed"),
            (false, false) => Some("false alarm"),
        }
    }

    fn table(&self) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        for (title, tallies) in [("rule", &self.rules), ("case", &self.cases)] {
            if tallies.is_empty() {
                continue;
            }
            let width = tallies.keys().map(|name| name.chars().count()).max().unwrap_or(0).max(title.len());
            writeln!(out, "{title:width$}  {:>11}  {:>12}  kinds", "found", "false alarms")?;
            for (name, tally) in tallies {
                let found = format!("{}/{}", tally.found, tally.positives);
                let alarms = format!("{}/{}", tally.alarms, tally.negatives);
                let kinds: Vec<String> = tally.kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
                let line = format!("{name:width$}  {found:>11}  {alarms:>12}  {}", kinds.join(", "));
                writeln!(out, "{}", line.trim_end())?;
            }
            out.push('\n');
        }
        let Tally { positives, found, negatives, alarms, .. } = &self.all;
        writeln!(
            out,
            "found {found} of {positives} ({:.1} %), {alarms} false alarm{} in {negatives}",
            self.all.recall(),
            plural(*alarms)
        )?;
        Ok(out)
    }
}

impl Tally {
    fn add(&mut self, positive: bool, right: bool, report: &Report) {
        if positive {
            self.positives += 1;
            self.found += usize::from(right);
        } else {
            self.negatives += 1;
            self.alarms += usize::from(!right);
        }
        for (kind, count) in &report.redactions {
            *self.kinds.entry(kind.to_string()).or_default() += count;
        }
        for count in report.unscanned.values() {
            *self.kinds.entry("unscanned".to_owned()).or_default() += count;
        }
    }

    /// Percent; of nothing, all is found.
    fn recall(&self) -> f64 {
        if self.positives == 0 { 100.0 } else { self.found as f64 * 100.0 / self.positives as f64 }
    }
}
