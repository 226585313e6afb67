//! Log lines on standard error: text on a terminal, JSON otherwise.
//!
//! Only our own targets speak freely, since only they are known to hold no payload text. A dependency may put header
//! values or a caught panic's message into its events, so of those only warnings and errors are shown, and of these
//! only where they come from. Nothing that a filter says can widen that.

use std::fmt;
use std::io::{self, IsTerminal};

use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{EnvFilter, FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::fmt::format::{DefaultFields, Format, JsonFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, Layer as FmtLayer, MakeWriter};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// What stands where a dependency's own words would be.
const WITHHELD: &str = "a dependency reported a problem (its words are withheld)";

/// What the log may be told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogSettings {
    /// A level (`info`) or comma-separated `target=level` pairs, as in `RUST_LOG`; empty means `info`.
    pub filter: String,
    /// Text or JSON.
    pub format: LogFormat,
}

/// The shape of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// Text on a terminal, JSON otherwise.
    #[default]
    Auto,
    /// For people.
    Text,
    /// One object a line.
    Json,
}

/// Why the log could not be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The filter can't be parsed.
    #[error("the log filter is not a level or a list of target=level")]
    Filter,
    /// Something else has taken the process's log.
    #[error("the log is already set up")]
    Taken,
}

/// Sets up the process's log and its panic hook. Call once, before any work.
///
/// # Errors
///
/// [`LogError`]: a filter that can't be parsed, or a second call.
pub fn init(settings: &LogSettings) -> Result<(), LogError> {
    let terminal = io::stderr().is_terminal();
    let log = subscriber(settings, terminal, io::stderr)?;
    // Records of the `log` crate are not bridged: no dependency can reach our log that way.
    tracing::subscriber::set_global_default(log).map_err(|_| LogError::Taken)?;
    std::panic::set_hook(Box::new(|panic| log_panic(panic.location())));
    Ok(())
}

/// The same log over any writer: `terminal` is what [`LogFormat::Auto`] decides by.
///
/// # Errors
///
/// [`LogError::Filter`] if the filter can't be parsed.
pub fn subscriber<W>(
    settings: &LogSettings,
    terminal: bool,
    writer: W,
) -> Result<impl Subscriber + Send + Sync, LogError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .parse(&settings.filter)
        .map_err(|_| LogError::Filter)?;
    let filter = filter.and(filter_fn(may_speak));
    let json = match settings.format {
        LogFormat::Auto => !terminal,
        LogFormat::Text => false,
        LogFormat::Json => true,
    };
    let layer = if json {
        let ours = Format::default().json().with_current_span(false).with_span_list(false);
        let layer = FmtLayer::new().fmt_fields(JsonFields::new()).event_format(Guarded { ours, json });
        layer.with_writer(writer).boxed()
    } else {
        let ours = Format::default();
        let layer = FmtLayer::new().fmt_fields(DefaultFields::new()).event_format(Guarded { ours, json });
        layer.with_ansi(terminal).with_writer(writer).boxed()
    };
    Ok(Registry::default().with(layer.with_filter(filter)))
}

/// A panic's message may quote a payload: only its place is logged.
fn log_panic(place: Option<&std::panic::Location<'_>>) {
    let place = place.map_or_else(|| "unknown".to_owned(), ToString::to_string);
    tracing::error!(place, "panic (its message is withheld)");
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().split("::").next() == Some(env!("CARGO_PKG_NAME"))
}

fn may_speak(metadata: &Metadata<'_>) -> bool {
    is_ours(metadata) || (metadata.is_event() && *metadata.level() <= Level::WARN)
}

/// A line's format, in which a dependency's words never appear.
struct Guarded<F> {
    ours: F,
    json: bool,
}

impl<S, N, F> FormatEvent<S, N> for Guarded<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        cx: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        if is_ours(metadata) {
            return self.ours.format_event(cx, line, event);
        }
        let mut now = String::new();
        SystemTime.format_time(&mut Writer::new(&mut now))?;
        let (level, target) = (metadata.level().as_str(), metadata.target());
        let number = metadata.line().unwrap_or_default();
        if self.json {
            let object = serde_json::json!({
                "timestamp": now, "level": level, "fields": { "message": WITHHELD, "line": number }, "target": target
            });
            writeln!(line, "{object}")
        } else {
            writeln!(line, "{now} {level:>5} {target}: {WITHHELD} line={number}")
        }
    }
}
