//! Speed of the text scanner on clean text in values of 2 KB: against each rule's regex in turn, and `memcpy`.
//!
//! The text is made here (source code, JSON, prose, log lines in turn), so that figures can be compared between machines.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "criterion makes the main function; a panic ends a benchmark"
)]

use std::hint::black_box;

use blackbar::redact::Report;
use blackbar::redact::rules::RuleSet;
use blackbar::redact::text::TextScrubber;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Bytes of one value.
const VALUE: usize = 2048;
/// Values of one pass.
const VALUES: usize = 512;

/// Clean text of one kind, all values different.
fn values(kinds: &[fn(usize) -> String]) -> Vec<Vec<u8>> {
    let value = |n: usize| {
        let mut text = String::new();
        for line in n * 100.. {
            text.push_str(&kinds.get(n % kinds.len()).unwrap()(line));
            if text.len() >= VALUE {
                break;
            }
        }
        text.truncate(VALUE);
        text.into_bytes()
    };
    (0..VALUES).map(value).collect()
}

fn code(n: usize) -> String {
    format!("    let total_{n} = self.rows.iter().map(|row| row.count * {n}).sum::<u64>(); // see #{n}\n")
}

fn json(n: usize) -> String {
    format!(
        "{{\"id\": {n}, \"name\": \"item-{n}\", \"path\": \"/srv/data/{n}/part.json\", \"tags\": [\"a\", \"b{n}\"], \"ok\": true}}\n"
    )
}

fn prose(n: usize) -> String {
    format!(
        "In step {n} the agent reads the file again and finds that the test which failed before now goes through. "
    )
}

fn log(n: usize) -> String {
    format!(
        "2024-05-12T10:{:02}:{:02}.{:03}Z INFO server: request {n} took {} ms status=200 bytes={}\n",
        n / 60 % 60,
        n % 60,
        n % 1000,
        n % 97,
        n * 7
    )
}

fn scan(c: &mut Criterion) {
    let mixed = values(&[code, json, prose, log]);
    let plain = values(&[prose]);
    let scrubber = TextScrubber::builtin().unwrap();
    let regexes: Vec<regex::bytes::Regex> = RuleSet::builtin()
        .rules()
        .iter()
        .map(|rule| regex::bytes::RegexBuilder::new(&rule.pattern).unicode(false).build().unwrap())
        .collect();

    let mut group = c.benchmark_group("scan");
    group.sample_size(10);
    for (name, texts) in [("mixed", &mixed), ("prose", &plain)] {
        group.throughput(Throughput::Bytes(texts.iter().map(|text| text.len() as u64).sum()));
        group.bench_function(format!("blackbar/{name}"), |b| {
            b.iter(|| {
                let mut report = Report::default();
                for text in texts {
                    assert!(scrubber.scrub(None, black_box(text), &mut report).is_none());
                }
            });
        });
        group.bench_function(format!("each regex in turn/{name}"), |b| {
            b.iter(|| {
                for text in texts {
                    black_box(regexes.iter().filter(|regex| regex.is_match(black_box(text))).count());
                }
            });
        });
        group.bench_function(format!("memcpy/{name}"), |b| {
            let mut copy = vec![0_u8; VALUE];
            b.iter(|| {
                for text in texts {
                    copy.copy_from_slice(black_box(text));
                    black_box(&copy);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, scan);
criterion_main!(benches);
