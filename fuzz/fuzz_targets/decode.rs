//! The text scanner with all its decode layers takes any bytes, and what it leaves holds nothing more to redact.
//!
//! The first byte chooses whether the text is the value of a key, which is then the first line.

#![no_main]

use std::sync::LazyLock;

use blackbar::redact::text::KeyPath;
use blackbar::redact::{Report, TextScrubber, Unscanned};
use libfuzzer_sys::fuzz_target;

static SCRUBBER: LazyLock<TextScrubber> =
    LazyLock::new(|| TextScrubber::builtin().expect("the built-in rules compile"));

fuzz_target!(|input: &[u8]| {
    let Some((&choice, input)) = input.split_first() else { return };
    let line_end = input.iter().position(|byte| *byte == b'\n').filter(|_| choice % 2 == 1);
    let (key, text) = match line_end {
        Some(at) => (Some(&input[..at]), &input[at + 1..]),
        None => (None, input),
    };
    let keys = key.map(|key| KeyPath { key, parent: None });
    let mut report = Report::default();
    let Some(once) = SCRUBBER.scrub(keys.as_ref(), text, &mut report) else { return };
    assert!(!report.unscanned.contains_key(&Unscanned::Panic), "the scanner panicked");
    let twice = SCRUBBER.scrub(keys.as_ref(), &once, &mut Report::default());
    assert!(twice.is_none_or(|twice| twice == once), "scrubbing twice changes nothing more");
});
