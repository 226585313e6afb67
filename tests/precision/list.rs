//! Lists every redaction in a directory of text, for people to judge: is it a credential?
//!
//! ```text
//! tests/precision/gather.sh DIR
//! cargo run --release --example precision -- DIR/text > found.tsv
//! ```
//!
//! Each file is scrubbed whole and in values of 2 KB. A line for each redaction: form, kind, place, what was redacted between `«` and `»` with 40 bytes
//! around it. For public text only: it prints what the proxy never would, so it is no part of the binary.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for developers, on public text")]
#![allow(clippy::indexing_slicing, clippy::expect_used, reason = "a panic ends a measurement")]

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs};

use blackbar::redact::{Report, TextScrubber};
use memchr::memmem;

/// Bytes of one value.
const VALUE: usize = 2048;
/// Bytes shown on either side.
const AROUND: usize = 40;
/// Bytes shown of what was redacted.
const SHOWN: usize = 100;
const MARKER: &[u8] = b"[REDACTED:";

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::args().nth(1).expect("a directory"));
    let scrubber = TextScrubber::builtin().expect("the built-in rules compile");
    let mut files = Vec::new();
    list(&root, &mut files)?;
    files.sort();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let (mut bytes, mut values) = (0, 0);
    for file in &files {
        let text = fs::read(file)?;
        let name = file.strip_prefix(&root).unwrap_or(file).display();
        bytes += text.len();
        let pieces = pieces(&text);
        values += pieces.len();
        let whole = std::iter::once(("whole", 0..text.len()));
        let all = whole.chain(pieces.into_iter().map(|piece| ("2 KB", piece)));
        for (form, range) in all {
            let value = &text[range.clone()];
            let Some(scrubbed) = scrubber.scrub(None, value, &mut Report::default()) else { continue };
            for (secret, kind) in changes(value, &scrubbed) {
                writeln!(
                    out,
                    "{form}\t{kind}\t{name}:{}\t{}",
                    range.start + secret.start,
                    shown(value, &secret)
                )?;
                *counts.entry((form, kind)).or_default() += 1;
            }
        }
    }
    out.flush()?;
    eprintln!("{} files, {bytes} bytes, {values} values of 2 KB", files.len());
    for ((form, kind), count) in counts {
        eprintln!("{count:6} {form} {kind}");
    }
    Ok(())
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => list(&entry.path(), files)?,
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// Ranges of [`VALUE`] bytes, or a few less where that would cut a character.
fn pieces(text: &[u8]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let mut end = (start + VALUE).min(text.len());
        while end > start + 1 && text.get(end).is_some_and(|b| b & 0xc0 == 0x80) {
            end -= 1;
        }
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// What of `before` became which marker, found from what stands between the markers.
fn changes(before: &[u8], after: &[u8]) -> Vec<(Range<usize>, String)> {
    let mut changes = Vec::new();
    let (mut at, mut rest) = (0, after);
    loop {
        let marker = memmem::find_iter(rest, MARKER).find(|start| {
            // One that stood there before is no change.
            let len = rest[*start..].iter().position(|b| *b == b']').unwrap_or(0);
            !before.get(at + start..).unwrap_or_default().starts_with(&rest[*start..start + len])
        });
        let Some(start) = marker else { break };
        let end = start + rest[start..].iter().position(|b| *b == b']').map_or(0, |len| len + 1);
        let kind = String::from_utf8_lossy(
            &rest[start + MARKER.len()..end.saturating_sub(1).max(start + MARKER.len())],
        );
        // A number in JSON becomes a string: its quotes are new.
        let quoted = before.get(at..at + start).is_some_and(|old| old != &rest[..start]);
        let from = at + start - usize::from(quoted);
        rest = rest.get(end + usize::from(quoted)..).unwrap_or_default();
        let next = &rest[..memmem::find(rest, MARKER).unwrap_or(rest.len())];
        let len = match next {
            [] if rest.is_empty() => before.len() - from,
            _ => memmem::find(before.get(from + 1..).unwrap_or_default(), next).map_or(0, |len| len + 1),
        };
        changes.push((from..from + len, kind.into_owned()));
        at = from + len;
    }
    changes
}

/// A redaction with its neighbourhood, on one line.
fn shown(text: &[u8], secret: &Range<usize>) -> String {
    let end = secret.end.min(secret.start + SHOWN);
    let part = |range: Range<usize>| String::from_utf8_lossy(&text[range]).replace(['\n', '\r', '\t'], "⏎");
    let before = part(secret.start.saturating_sub(AROUND)..secret.start);
    let cut = if end < secret.end { "…" } else { "" };
    format!(
        "{before}«{}{cut}»{}",
        part(secret.start..end),
        part(secret.end..(secret.end + AROUND).min(text.len()))
    )
}
