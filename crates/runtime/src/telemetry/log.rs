//! The log: each log line is an event of the `tracing` crate.
//!
//! ```text
//!   LogLine -> emit -> the subscriber of the program, for example a Log, which prints text or JSON
//! ```
//!
//! Events about runs have the target [`TARGET`], those of other parts of Reknit a target below it. The names of `tracing` fields are fixed at compile time, so the fields of a log
//! line are one field with a JSON object. This library installs no subscriber: the program does, and filters as it likes.

use std::fmt::{self, Write as _};

pub use reknit_config::{Form, LogSettings};
use reknit_protocol::{is_hidden, json_without_hidden, timestamp_text};
use reknit_telemetry::{AttributeValue, LogLine, Severity, Signal};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber, span};

use super::{SignalBatch, Sink};
use crate::clock::system_ms;

/// The target of all events.
pub const TARGET: &str = "reknit";

fn level(severity: Severity) -> Level {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARN,
        Severity::Final | Severity::Info => Level::INFO,
        Severity::Verbose => Level::DEBUG,
    }
}

/// Whether a subscriber may be interested in log lines.
pub(super) fn is_observed() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

/// Emits an event of this severity. `tracing` needs a constant level for each event.
macro_rules! emit_at {
    ($severity:expr, $($fields:tt)*) => {
        match level($severity) {
            Level::ERROR => tracing::event!(target: TARGET, Level::ERROR, $($fields)*),
            Level::WARN => tracing::event!(target: TARGET, Level::WARN, $($fields)*),
            Level::INFO => tracing::event!(target: TARGET, Level::INFO, $($fields)*),
            _ => tracing::event!(target: TARGET, Level::DEBUG, $($fields)*),
        }
    };
}

/// Emits a log line that belongs to no run, with one field.
pub(crate) fn emit_event(severity: Severity, message: &str, field: &str, value: &str) {
    let fields = Value::Object(Map::from_iter([(field.to_owned(), Value::from(value))]));
    let (at_ms, severity_name) = (system_ms(), severity.as_str());
    emit_at!(severity, message, source = "tools", severity = severity_name, at_ms, fields = %fields);
}

/// Emits the log lines among the signals to the current `tracing` subscriber.
pub(super) fn emit(batch: &SignalBatch<'_>) {
    for signal in batch.signals {
        let Signal::Log(line) = signal else { continue };
        emit_at!(
            line.severity,
            message = line.message.as_str(),
            source = line.source,
            severity = line.severity.as_str(),
            at_ms = batch.at_ms,
            request_id = batch.context.run().as_str(),
            trace_id = %batch.context.trace(),
            fields = %serde_json::Value::Object(json_fields(line)),
        );
    }
}

fn json_fields(line: &LogLine) -> Map<String, Value> {
    let value = |value: &AttributeValue| match value {
        AttributeValue::Text(text) => Value::from(text.as_str()),
        AttributeValue::Count(count) => Value::from(*count),
        AttributeValue::Number(number) => Value::from(*number),
        AttributeValue::Flag(flag) => Value::from(*flag),
    };
    line.fields.iter().map(|(name, field)| ((*name).to_owned(), value(field))).collect()
}

/// Writes log lines, as a sink of runs or as the `tracing` subscriber of a program. A subscriber ignores events that are not
/// Reknit's.
pub struct Log {
    settings: LogSettings,
    write: Box<dyn Fn(&str) + Send + Sync>,
}

impl fmt::Debug for Log {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Log").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Log {
    /// A log that calls `write` with each line, including its line break.
    pub fn new(settings: LogSettings, write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { settings, write: Box::new(write) }
    }

    fn write(&self, level: Level, line: LogRecord) {
        (self.write)(&match self.settings.form {
            Form::Text => line.into_text(level),
            Form::Json => line.into_json(level),
        });
    }
}

impl Sink for Log {
    fn take(&self, batch: &SignalBatch<'_>) {
        for signal in batch.signals {
            if let Signal::Log(line) = signal
                && level(line.severity) <= self.settings.level
            {
                self.write(level(line.severity), LogRecord::new(batch, line));
            }
        }
    }
}

impl Subscriber for Log {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && is_own(metadata.target()) && *metadata.level() <= self.settings.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.settings.level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = LogRecord::default();
        event.record(&mut line);
        if line.at_ms == 0 {
            // The line is not about a run.
            line.at_ms = system_ms();
            component(event.metadata().target()).clone_into(&mut line.source);
        }
        self.write(*event.metadata().level(), line);
    }

    // Spans are never enabled, so the methods about spans have nothing to do.
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// Whether an event is one of Reknit's crates.
fn is_own(target: &str) -> bool {
    target == TARGET || target.starts_with("reknit::") || target.starts_with("reknit_")
}

/// The part of Reknit that an event comes from: `audit` for `reknit::audit`, `server` for `reknit_server::access`.
fn component(target: &str) -> &str {
    let inner = target.strip_prefix("reknit::").or_else(|| target.strip_prefix("reknit_")).unwrap_or(target);
    inner.split("::").next().unwrap_or(inner)
}

/// A log line with its time and its run. A visitor of an event restores it.
#[derive(Debug, Default)]
struct LogRecord {
    at_ms: i64,
    source: String,
    message: String,
    request_id: String,
    trace_id: String,
    fields: Map<String, Value>,
}

impl Visit for LogRecord {
    fn record_i64(&mut self, field: &Field, value: i64) {
        match field.name() {
            "at_ms" => self.at_ms = value,
            name => self.add(name, value),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let target = match field.name() {
            "source" => &mut self.source,
            "message" => &mut self.message,
            "request_id" => &mut self.request_id,
            "severity" => return,
            name => return self.add(name, value),
        };
        value.clone_into(target);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "trace_id" => self.trace_id = format!("{value:?}"),
            "fields" => self.fields = serde_json::from_str(&format!("{value:?}")).unwrap_or_default(),
            "message" => self.message = format!("{value:?}"),
            name => self.add(name, format!("{value:?}")),
        }
    }
}

impl LogRecord {
    fn add(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    fn new(batch: &SignalBatch<'_>, line: &LogLine) -> Self {
        Self {
            at_ms: batch.at_ms,
            source: line.source.to_owned(),
            message: line.message.clone(),
            request_id: batch.context.run().to_string(),
            trace_id: batch.context.trace().to_string(),
            fields: json_fields(line),
        }
    }

    fn into_text(self, level: Level) -> String {
        let mut text =
            format!("{} {level:5} {} {}", timestamp_text(self.at_ms), self.source, without_control(&self.message));
        for (name, value) in &self.fields {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let is_plain = !value.is_empty()
                && value.chars().all(|c| !(c.is_whitespace() || c.is_control() || is_hidden(c) || c == '"'));
            let value = if is_plain { value } else { format!("{value:?}") };
            // Writing to a string cannot fail.
            let _ = write!(text, " {name}={value}");
        }
        text.push('\n');
        text
    }

    fn into_json(self, level: Level) -> String {
        let mut object = Map::new();
        for (name, value) in [
            ("timestamp", timestamp_text(self.at_ms)),
            ("level", level.as_str().to_ascii_lowercase()),
            ("component", self.source),
            ("message", self.message),
            ("request_id", self.request_id),
            ("trace_id", self.trace_id),
        ] {
            object.insert(name.to_owned(), value.into());
        }
        object.extend(self.fields);
        format!("{}\n", json_without_hidden(&Value::Object(object).to_string()))
    }
}

/// Replaces control characters, which could break the line or move the cursor of a terminal.
fn without_control(message: &str) -> String {
    message.chars().map(|c| if c.is_control() || is_hidden(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use reknit_protocol::RunId;
    use reknit_telemetry::TraceContext;

    use super::*;

    const SETTINGS: LogSettings = LogSettings { level: LevelFilter::DEBUG, form: Form::Json };

    /// A buffer, and a function that appends to it.
    fn buffer() -> (Arc<Mutex<String>>, impl Fn(&str) + Send + Sync + 'static) {
        let lines = Arc::new(Mutex::new(String::new()));
        let buffer = Arc::clone(&lines);
        (lines, move |line: &str| buffer.lock().unwrap().push_str(line))
    }

    /// Passes on a batch with a warning and a detail.
    fn with_batch(run: &str, action: impl FnOnce(&SignalBatch<'_>)) {
        let line = |severity, message: &str| {
            let fields = vec![
                ("step_id", AttributeValue::from("s")),
                ("error", AttributeValue::from("no \"such\"\nplace")),
                ("reason", AttributeValue::from("")),
                ("attempt", AttributeValue::Count(2)),
                ("will_retry", AttributeValue::Flag(true)),
            ];
            let (source, message) = ("framework/orchestration", message.to_owned());
            Signal::Log(LogLine { severity, source, name: "", message, fields })
        };
        let signals = [line(Severity::Warning, "Step\x1b[2J failed"), line(Severity::Verbose, "Turn ended")];
        let context = TraceContext::new(&RunId::new(run), None);
        action(&SignalBatch { at_ms: 1_763_000_000_123, context: &context, signals: &signals });
    }

    fn written(settings: LogSettings, run: &str) -> String {
        let (lines, write) = buffer();
        with_batch(run, |batch| Log::new(settings, write).take(batch));
        lines.lock().unwrap().clone()
    }

    #[test]
    fn a_line_is_one_line_of_text_or_one_object() {
        let text = written(LogSettings { level: LevelFilter::INFO, form: Form::Text }, "run-1");
        insta::assert_snapshot!(text, @r#"2025-11-13T02:13:20.123Z WARN  framework/orchestration Step [2J failed step_id=s error="no \"such\"\nplace" reason="" attempt=2 will_retry=true"#);
        let json = written(LogSettings { level: LevelFilter::WARN, form: Form::Json }, "run-1");
        insta::assert_snapshot!(json, @r#"{"timestamp":"2025-11-13T02:13:20.123Z","level":"warn","component":"framework/orchestration","message":"Step\u001b[2J failed","request_id":"run-1","trace_id":"7c8bbf791238ac6eca7549ab06b31086","step_id":"s","error":"no \"such\"\nplace","reason":"","attempt":2,"will_retry":true}"#);
    }

    #[test]
    fn hidden_characters_are_escaped_and_keep_their_meaning() {
        let hidden = "a\u{9b}2Jb\u{202e}c\u{2066}d\u{7f}e\u{2028}f\u{feff}g";
        for form in [Form::Json, Form::Text] {
            let fields = vec![("error", AttributeValue::from(hidden))];
            let (source, message) = ("framework", hidden.to_owned());
            let line = LogLine { severity: Severity::Warning, source, name: "", message, fields };
            let (lines, write) = buffer();
            let context = TraceContext::new(&RunId::new("r"), None);
            let batch = SignalBatch { at_ms: 0, context: &context, signals: &[Signal::Log(line)] };
            Log::new(LogSettings { form, ..SETTINGS }, write).take(&batch);
            let text = lines.lock().unwrap().clone();
            assert!(!text.trim_end_matches('\n').chars().any(|c| c.is_control() || is_hidden(c)), "{text:?}");
            if form == Form::Json {
                let read: Value = serde_json::from_str(&text).unwrap();
                assert_eq!((read["message"].as_str(), read["error"].as_str()), (Some(hidden), Some(hidden)));
            }
        }
    }

    #[test]
    fn lines_beyond_the_level_are_not_written() {
        for (level, expected) in
            [(LevelFilter::OFF, 0), (LevelFilter::ERROR, 0), (LevelFilter::INFO, 1), (LevelFilter::DEBUG, 2)]
        {
            assert_eq!(written(LogSettings { level, ..SETTINGS }, "run-1").lines().count(), expected, "{level:?}");
        }
    }

    #[test]
    fn the_subscriber_of_a_program_writes_the_same_lines_and_ignores_other_events() {
        let (lines, write) = buffer();
        tracing::subscriber::set_global_default(Log::new(SETTINGS, write)).unwrap();
        // Another test may have reached an event before the subscriber was installed.
        tracing::callsite::rebuild_interest_cache();
        tracing::error!(target: "hyper", request_id = "observed", "an event of another library");
        with_batch("observed", emit);
        tracing::warn!(target: "reknit::audit", caller = "ann", status = 403_u64, "refused: {}", "no scope");
        let lines = lines.lock().unwrap();
        // Runs of other tests use the same subscriber.
        let observed: Vec<&str> = lines.lines().filter(|line| line.contains("observed")).collect();
        assert_eq!(observed, written(SETTINGS, "observed").lines().collect::<Vec<_>>());
        let audit = lines.lines().find(|line| line.contains("audit")).unwrap();
        let expected = r#""component":"audit","message":"refused: no scope","request_id":"","trace_id":"","caller":"ann","status":403}"#;
        assert!(audit.ends_with(expected), "{audit}");
    }
}
