//! The text scanner on clean text: MB per CPU second, against each rule's regex in turn, `RegexSet`, the crate redact-secret and `memcpy`.
//!
//! `cargo bench --bench scan [-- ROW [TEXTS]]`: parts of their names. Counts the CPU time of the thread, so that a busy machine gives the same figures. The texts
//! are in `texts.rs`; what stands in the table is the median of several passes.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a benchmark")]

mod clock;
mod texts;

use std::hint::black_box;

use blackbar::redact::Report;
use blackbar::redact::rules::RuleSet;
use blackbar::redact::text::TextScrubber;
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// Rules of an operator that are added to the built-in ones.
const OPERATOR_RULES: usize = 1000;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let (filter, texts) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let scrubber = TextScrubber::builtin().unwrap();
    let groups = [
        ("mixed, 2 KB", texts::mixed()),
        ("prose, 2 KB", texts::prose()),
        ("agent payloads", texts::agent()),
        ("small strings", texts::small()),
    ];
    let groups = groups.map(|(name, values)| {
        let all = values.len();
        let clean: Vec<Vec<u8>> = values.into_iter().filter(|text| is_clean(&scrubber, text)).collect();
        let bytes: usize = clean.iter().map(Vec::len).sum();
        println!("{name}: {} clean values of {all}, {:.1} MB", clean.len(), bytes as f64 / 1e6);
        (name, clean)
    });
    let operator = with_operator_rules();
    let (regexes, set) = regexes();
    let mut copy = Vec::with_capacity(1 << 20);

    println!("\nMB per CPU second");
    let row = |what: &str, look: &mut dyn FnMut(&[u8])| {
        if !what.contains(&filter) {
            return;
        }
        print!("{what:<28}");
        for (name, texts) in groups.iter().filter(|(name, _)| name.contains(&texts)) {
            print!(" {name} {:>8.1}", clock::megabytes_per_second(texts, look));
        }
        println!();
    };
    let mut report = Report::default();
    row("blackbar", &mut |text| {
        black_box(scrubber.scrub(None, black_box(text), &mut report));
    });
    row("blackbar, 1,000 rules more", &mut |text| {
        black_box(operator.scrub(None, black_box(text), &mut report));
    });
    row("each rule's regex in turn", &mut |text| {
        black_box(regexes.iter().filter(|regex| regex.is_match(black_box(text))).count());
    });
    row("regex::RegexSet", &mut |text| {
        black_box(set.is_match(black_box(text)));
    });
    row("redact-secret (the crate)", &mut |text| {
        let text = black_box(str::from_utf8(text).unwrap_or_default());
        black_box(redact_secret::sanitize(text).is_ok());
    });
    row("memcpy", &mut |text| {
        copy.clear();
        copy.extend_from_slice(black_box(text));
        black_box(&copy);
    });
}

fn is_clean(scrubber: &TextScrubber, text: &[u8]) -> bool {
    scrubber.scrub(None, text, &mut Report::default()).is_none()
}

/// The built-in rules and those of an operator: an anchor of four to seven bytes, and a run of letters and digits.
fn with_operator_rules() -> TextScrubber {
    let mut yaml = String::from("rules:\n");
    for n in 0..OPERATOR_RULES {
        // Spread over the alphabet: 26 is prime to 7 and 11.
        let letter = |by: usize| char::from(b'a' + u8::try_from((n * by + n / 26) % 26).unwrap());
        let anchor = format!("{}{}{}{}_", letter(7), letter(11), letter(3), n % 10);
        yaml.push_str(&format!(
            "  - {{id: operator-{n}, kind: operator-key, description: x, confidence: confident, anchors: ['{anchor}'], \
             pattern: '{anchor}[0-9A-Za-z]{{20,}}', examples: ['{anchor}{{alnum:20}}'], counterexamples: ['x']}}\n"
        ));
    }
    let mut rules = RuleSet::builtin();
    rules.extend(RuleSet::from_yaml("operator.yaml", &yaml).unwrap());
    TextScrubber::new(rules).unwrap()
}

fn regexes() -> (Vec<Regex>, RegexSet) {
    let rules = RuleSet::builtin();
    let patterns: Vec<&str> = rules.rules().iter().map(|rule| rule.pattern.as_str()).collect();
    let each = patterns.iter().map(|pattern| RegexBuilder::new(pattern).unicode(false).build().unwrap());
    let set = RegexSetBuilder::new(&patterns).unicode(false).size_limit(1 << 28).build().unwrap();
    (each.collect(), set)
}
