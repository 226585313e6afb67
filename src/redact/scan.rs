//! One text through all rules, pairs and decode layers: what is secret in it.
//!
//! The text is scanned as it stands, then each view of it, however deep; every finding is mapped back to the source at
//! once. [`Scan`] collects them; `overlap` decides between them. Knows no OTLP and writes no marker.

pub(super) mod cut;
mod digest;
mod rules;
mod work;

use std::ops::Range;

use super::candidates::Candidates;
use super::compile::Compiled;
use super::decode::{self, Place};
use super::finding::{Finder, Finding};
use super::pairs;
use super::sieve::May;
use work::Work;

/// Most character levels of a text; five JSON levels are common.
const MAX_CHARS: u8 = 12;
/// Most base64 or hex layers.
const MAX_RUNS: u8 = 3;

/// The scan of one value.
pub(super) struct Scan<'c> {
    compiled: &'c Compiled,
    sieved: bool,
    findings: Vec<Finding>,
    /// Rules in audit mode that found something.
    audited: Vec<(usize, Range<usize>)>,
    work: Work,
}

/// What a scan found.
pub(super) struct Found {
    /// What is to be replaced.
    pub(super) findings: Vec<Finding>,
    /// Finds of rules in audit mode: the rule and where.
    pub(super) audited: Vec<(usize, Range<usize>)>,
    /// The value needed more work than a value may cost, or a rule doesn't compile.
    pub(super) incomplete: bool,
    /// Bytes looked at, for tests of linear time.
    pub(super) work: usize,
}

impl Found {
    /// Whether another scan of the same text has come to the same, whatever it cost and in whatever order.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let sorted = |found: &Self| {
            let mut findings = found.findings.clone();
            findings.sort_by_key(|f| (f.range.start, f.range.end, format!("{:?}", f.finder)));
            findings.dedup();
            findings
        };
        // A scan that was given up has found what it came to.
        self.incomplete
            || other.incomplete
            || (sorted(self) == sorted(other) && self.audited == other.audited)
    }
}

impl<'c> Scan<'c> {
    /// Starts the scan of a value of so many bytes. `sieved`: what the sieve says is not there is left out.
    pub(super) fn new(compiled: &'c Compiled, len: usize, sieved: bool) -> Self {
        Self { compiled, sieved, findings: Vec::new(), audited: Vec::new(), work: Work::for_value(len) }
    }

    /// Scans the source text.
    pub(super) fn text(mut self, text: &[u8], key: Option<(&[u8], pairs::KeyClass)>) -> Found {
        if let Some((key, class)) = key {
            self.keyed(text, key, class);
        }
        self.view(text, &Place::default());
        self.audited.sort_by_key(|(rule, range)| (*rule, range.start));
        self.audited.dedup();
        let (incomplete, work) = (self.work.is_exhausted(), self.work.looked_at());
        Found { findings: self.findings, audited: self.audited, incomplete, work }
    }

    /// The value of a secret key is secret whatever it looks like.
    fn keyed(&mut self, text: &[u8], key: &[u8], class: pairs::KeyClass) {
        let value = pairs::trim(text, 0..text.len());
        if let Some(secret) = pairs::structured_secret(text, key, class, value) {
            record(&mut self.findings, Finder::Pair, secret, None, &Place::default());
        }
    }

    /// Scans a text and all that is encoded in it.
    fn view(&mut self, text: &[u8], place: &Place<'_>) {
        if text.len() < MIN_TEXT || !self.work.spend(text.len()) {
            return;
        }
        let (candidates, may) = self.look(text, place);
        self.rules(text, candidates, place);
        if may.pairs && self.compiled.set().named_pairs() {
            self.pairs(text, place);
        }
        if may.chains {
            self.chains(text, place);
        }
        if let Some(view) = Some(text).filter(|_| may.quoted).and_then(decode::quoted::decode) {
            let place = place.in_chars(&view);
            if self.work.spend(view.bytes.len()) {
                let (candidates, may) = self.look(&view.bytes, &place);
                self.rules(&view.bytes, candidates, &place);
                if may.chains {
                    self.chains(&view.bytes, &place);
                }
            }
        }
        if may.runs {
            self.runs(text, place);
        }
        if may.numbers {
            self.numbers(text, place);
        }
        if may.streams {
            self.streams(text, place);
        }
        let Some(view) = Some(text).filter(|_| may.chars).and_then(decode::chars::decode) else { return };
        if place.chars >= MAX_CHARS {
            self.work.give_up();
            return;
        }
        self.view(&view.bytes, &place.in_chars(&view));
    }

    /// The rules that may match, and what else the text may hold.
    fn look(&self, text: &[u8], place: &Place<'_>) -> (Candidates, May) {
        let mut candidates = Candidates::new();
        if !self.sieved {
            self.compiled.with_anchors(text, &mut candidates);
            return (candidates, May::ALL);
        }
        self.compiled.always(text.len(), &mut candidates);
        let may = self.compiled.sieve().look(text, place, &mut candidates);
        (candidates, may)
    }

    fn runs(&mut self, text: &[u8], place: &Place<'_>) {
        decode::runs::each(
            text,
            |range| place.is_verbatim(range),
            |run| {
                if place.runs >= MAX_RUNS {
                    // Binary and short words are no further layer.
                    if run.text {
                        self.work.give_up();
                    }
                    return;
                }
                let inner = place.in_run(&run.view);
                if run.text {
                    self.view(&run.view.bytes, &inner);
                } else if self.work.spend(run.view.bytes.len()) {
                    let (candidates, _) = self.look(&run.view.bytes, &inner);
                    self.rules(&run.view.bytes, candidates, &inner);
                }
            },
        );
    }

    /// Bytes written as numbers.
    fn numbers(&mut self, text: &[u8], place: &Place<'_>) {
        decode::numbers::each(
            text,
            |range| place.is_verbatim(range),
            |view| {
                if place.runs < MAX_RUNS {
                    self.view(&view.bytes, &place.in_run(&view));
                } else {
                    self.work.give_up();
                }
            },
        );
    }

    /// Texts that come in pieces. A text put together is no stream again.
    fn streams(&mut self, text: &[u8], place: &Place<'_>) {
        if place.streamed {
            return;
        }
        decode::streams::each(
            text,
            |range| place.is_verbatim(range),
            |view| self.view(&view.bytes, &place.in_stream(&view)),
        );
    }

    fn pairs(&mut self, text: &[u8], place: &Place<'_>) {
        self.text_pairs(text, place, |_| true);
        let Self { work, findings, .. } = self;
        pairs::statements::each(
            text,
            |bytes| work.spend(bytes),
            |value| record(findings, Finder::Pair, value, None, place),
        );
        // In a character view the quotes of several levels stand side by side, so JSON is walked from the outermost.
        if place.chars == 0 {
            self.json(text, place, pairs::json::Above::default());
        }
    }

    /// Pairs in running text whose values count.
    fn text_pairs(&mut self, text: &[u8], place: &Place<'_>, counts: impl Fn(&Range<usize>) -> bool) {
        let Self { work, findings, .. } = self;
        pairs::text::each(
            text,
            place,
            |bytes| work.spend(bytes),
            |value, quote| {
                if counts(&value) {
                    record(findings, Finder::Pair, value, quote, place);
                }
            },
        );
    }

    /// Walks JSON, and the JSON in its strings.
    fn json(&mut self, text: &[u8], place: &Place<'_>, above: pairs::json::Above) {
        if !pairs::json::may_be(text) {
            return;
        }
        pairs::json::walk(text, above, |event| match event {
            pairs::json::Event::Secret { value, quote } => {
                record(&mut self.findings, Finder::Pair, value, quote, place);
            }
            pairs::json::Event::Nested { value, above } => {
                let inner = text.get(value.clone()).unwrap_or_default();
                let Some(view) = decode::chars::decode_backslashes(inner).map(|v| v.shifted(value.start))
                else {
                    return;
                };
                if place.chars < MAX_CHARS && self.work.spend(view.bytes.len()) {
                    self.json(&view.bytes, &place.in_chars(&view), above);
                }
            }
        });
    }
}

/// Records a secret of the text at `place`.
fn record(
    findings: &mut Vec<Finding>,
    finder: Finder,
    secret: Range<usize>,
    quote: Option<Range<usize>>,
    place: &Place<'_>,
) {
    // A decoded run is replaced whole: there is no string to make in it.
    let quote = quote.filter(|_| place.runs == 0).map(|quote| place.source(quote)).or_else(|| place.quote());
    place.each_source(secret, &mut |range, continues| {
        findings.push(Finding { range, finder, quote: quote.clone(), continues });
    });
}

/// Shorter texts hold no secret but as the value of a key.
const MIN_TEXT: usize = 8;
