//! Plain text of any length, in bounded memory.
//!
//! A secret may span lines (a private key, a wrapped token), so text can't be scrubbed line by line, nor cut at just any
//! line end. A cut is taken only where it changes nothing: the two sides scrubbed apart must come to what they come to
//! together, with much text on both sides.

use std::io::{BufRead, Read as _, Write};

use crate::redact::{Report, TextScrubber};

/// Text that is looked at together, in bytes: a secret of up to half of it is whole on one side of a cut or refuses it.
const WINDOW: usize = 256 << 10;

/// The window grows up to this many bytes while there is no safe cut; then everything so far is scrubbed as one value.
const MAX_WINDOW: usize = 16 << 20;

/// Line ends that are tried as a cut before the window grows.
const TRIES: usize = 8;

/// Scrubs `input` to its end.
pub(super) fn scrub(
    input: &mut impl BufRead,
    out: &mut impl Write,
    scrubber: &TextScrubber,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut held = Vec::new();
    let mut window = WINDOW;
    loop {
        let missing = window.saturating_sub(held.len());
        let read = input.by_ref().take(missing as u64).read_to_end(&mut held)?;
        if read < missing {
            return emit(&held, out, scrubber, report);
        }
        match safe_cut(&held, scrubber) {
            Some(cut) => {
                let (done, rest) = held.split_at_checked(cut).unwrap_or((&held, &[]));
                emit(done, out, scrubber, report)?;
                held = rest.to_vec();
                window = WINDOW;
            }
            None if window < MAX_WINDOW => window *= 2,
            None => {
                emit(&held, out, scrubber, report)?;
                held.clear();
                window = WINDOW;
            }
        }
    }
}

fn emit(
    text: &[u8],
    out: &mut impl Write,
    scrubber: &TextScrubber,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut counts = Report::default();
    match scrubber.scrub(None, text, &mut counts) {
        Some(scrubbed) => out.write_all(&scrubbed)?,
        None => out.write_all(text)?,
    }
    report.add(counts);
    Ok(())
}

/// A line end near the middle where cutting changes nothing.
fn safe_cut(text: &[u8], scrubber: &TextScrubber) -> Option<usize> {
    let scrubbed =
        |part: &[u8]| scrubber.scrub(None, part, &mut Report::default()).unwrap_or_else(|| part.to_vec());
    let (first_half, _) = text.split_at_checked(text.len() / 2)?;
    let whole = scrubbed(text);
    let line_ends =
        first_half.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    // Spread out: neighbouring lines are often in the same private key.
    line_ends.step_by(32).take(TRIES).find(|&cut| {
        text.split_at_checked(cut).is_some_and(|(left, right)| {
            let (left, right) = (scrubbed(left), scrubbed(right));
            whole.strip_prefix(left.as_slice()) == Some(right.as_slice())
        })
    })
}
