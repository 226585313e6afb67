//! OTLP export requests: JSON lines, as the Collector's file exporter writes them, and protobuf.

use std::io::{BufRead, Read as _, Write};

use anyhow::{Context as _, anyhow, ensure};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Scrubber, read_all};
use crate::otlp::json::{from_protobuf, to_protobuf};
use crate::otlp::{Payload, Signal};
use crate::redact::Report;

/// The longest line, in bytes: the default limit of an export request, with room for JSON.
const MAX_LINE: u64 = 256 << 20;

/// What to do with a line that is no export request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strange {
    /// The input was said to be OTLP JSON.
    Refuse,
    /// It only looked like it.
    ScrubAsText,
}

/// The keys of an export request; which one is there tells the signal.
#[derive(Deserialize)]
struct Keys {
    #[serde(rename = "resourceSpans", alias = "resource_spans")]
    traces: Option<IgnoredAny>,
    #[serde(rename = "resourceMetrics", alias = "resource_metrics")]
    metrics: Option<IgnoredAny>,
    #[serde(rename = "resourceLogs", alias = "resource_logs")]
    logs: Option<IgnoredAny>,
    #[serde(rename = "resourceProfiles", alias = "resource_profiles")]
    profiles: Option<IgnoredAny>,
}

/// The signal of an export request in JSON; `None`: it is none.
pub(super) fn signal_of(line: &[u8]) -> Option<Signal> {
    let keys: Keys = serde_json::from_slice(line).ok()?;
    let found = [
        (Signal::Traces, keys.traces),
        (Signal::Metrics, keys.metrics),
        (Signal::Logs, keys.logs),
        (Signal::Profiles, keys.profiles),
    ];
    let mut present = found.into_iter().filter(|(_, key)| key.is_some()).map(|(signal, _)| signal);
    present.next().filter(|_| present.next().is_none())
}

/// Reads one line with its end, under the bound.
pub(super) fn take_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> anyhow::Result<usize> {
    line.clear();
    let read = input.take(MAX_LINE).read_until(b'\n', line)?;
    ensure!((read as u64) < MAX_LINE, "a line of more than {MAX_LINE} bytes");
    Ok(read)
}

/// Scrubs line by line. Where the first line is not a whole JSON value, the input is taken for one request over several.
pub(super) fn lines(
    mut input: impl BufRead,
    out: &mut impl Write,
    scrubber: &Scrubber,
    report: &mut Report,
    strange: Strange,
) -> anyhow::Result<()> {
    let mut line = Vec::new();
    let mut number = 0;
    while take_line(&mut input, &mut line)? > 0 {
        number += 1;
        if number == 1 && serde_json::from_slice::<IgnoredAny>(&line).is_err() {
            line.extend(read_all(&mut input)?);
        }
        let (text, end) = split_end(&line);
        if text.iter().all(u8::is_ascii_whitespace) {
            out.write_all(&line)?;
            continue;
        }
        let scrubbed = match (signal_of(text), strange) {
            (Some(signal), _) => json(signal, text, scrubber, report),
            (None, Strange::Refuse) => Err(anyhow!("not an OTLP export request")),
            (None, Strange::ScrubAsText) => Ok(as_text(text, scrubber, report)),
        };
        out.write_all(&scrubbed.with_context(|| format!("line {number}"))?)?;
        out.write_all(end)?;
        // Whoever follows the output sees each request as it comes.
        out.flush()?;
    }
    Ok(())
}

fn split_end(line: &[u8]) -> (&[u8], &[u8]) {
    let length = line.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    line.split_at_checked(line.len() - length).unwrap_or((line, &[]))
}

fn as_text(text: &[u8], scrubber: &Scrubber, report: &mut Report) -> Vec<u8> {
    let mut counts = Report::default();
    let scrubbed = scrubber.text.scrub(None, text, &mut counts);
    report.add(counts);
    scrubbed.unwrap_or_else(|| text.to_vec())
}

fn json(signal: Signal, text: &[u8], scrubber: &Scrubber, report: &mut Report) -> anyhow::Result<Vec<u8>> {
    let body = to_protobuf(signal.request(), text)?;
    let redacted = scrubber.request.redact(signal, Payload::new(body))?;
    report.add(redacted.report().clone());
    // What the schema does not know is not in the protobuf: the line stays as it is only if nothing is in that either.
    let clean = || scrubber.text.scrub(None, text, &mut Report::default()).is_none();
    if redacted.report().is_unchanged() && clean() {
        return Ok(text.to_vec());
    }
    Ok(from_protobuf(signal.request(), redacted.body())?)
}

/// Scrubs one export request in protobuf.
pub(super) fn protobuf(
    mut input: impl BufRead,
    out: &mut impl Write,
    signal: Signal,
    scrubber: &Scrubber,
    report: &mut Report,
) -> anyhow::Result<()> {
    let body = read_all(&mut input)?;
    let redacted = scrubber.request.redact(signal, Payload::new(body))?;
    report.add(redacted.report().clone());
    out.write_all(redacted.body())?;
    Ok(())
}
