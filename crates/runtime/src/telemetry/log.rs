//! Lines for the log, as text for people or as JSON for programs.

use std::fmt::{self, Write as _};

use reknit_engine::telemetry::{Datum, LogLine, Severity, Signal};
use serde_json::{Map, Value};

use super::{Sink, Told};

/// How much is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Nothing.
    #[default]
    Off,
    /// What went wrong for good.
    Error,
    /// And what was wrong, and was dealt with.
    Warn,
    /// And what somebody may want to know.
    Info,
    /// And everything else.
    Debug,
}

impl Level {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }

    const fn of(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warn,
            Severity::Final | Severity::Info => Self::Info,
            Severity::Verbose => Self::Debug,
        }
    }
}

/// What a line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Words, then `name=value`.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// What is written, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogSettings {
    /// How much.
    pub level: Level,
    /// What a line looks like.
    pub form: Form,
}

/// Writes lines.
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
    /// A log whose lines, each with its end, are handed to `write`.
    pub fn new(settings: LogSettings, write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { settings, write: Box::new(write) }
    }
}

impl Sink for Log {
    fn take(&self, told: &Told<'_>) {
        for signal in told.signals {
            if let Signal::Log(line) = signal
                && Level::of(line.severity) <= self.settings.level
            {
                let text = match self.settings.form {
                    Form::Text => text(told, line),
                    Form::Json => json(told, line),
                };
                (self.write)(&text);
            }
        }
    }
}

/// A moment as everybody writes it.
fn moment(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms).map_or_else(|_| at_ms.to_string(), |at| format!("{at:.3}"))
}

fn text(told: &Told<'_>, line: &LogLine) -> String {
    let level = Level::of(line.severity).as_str().to_uppercase();
    let mut text = format!("{} {level:5} {} {}", moment(told.at_ms), line.source, flat(&line.message));
    for (name, value) in &line.fields {
        let value = value.to_string();
        let is_plain = !value.is_empty() && value.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != '"');
        let value = if is_plain { value } else { format!("{value:?}") };
        // Writing to a string cannot fail.
        let _ = write!(text, " {name}={value}");
    }
    text.push('\n');
    text
}

/// In one line, and without what could move the cursor of a terminal.
fn flat(message: &str) -> String {
    message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn json(told: &Told<'_>, line: &LogLine) -> String {
    let mut object = Map::new();
    let level = Level::of(line.severity).as_str();
    let trace = told.context.trace().to_string();
    for (name, value) in [
        ("timestamp", moment(told.at_ms)),
        ("level", level.to_owned()),
        ("component", line.source.to_owned()),
        ("message", line.message.clone()),
        ("request_id", told.context.run().to_string()),
        ("trace_id", trace),
    ] {
        object.insert(name.to_owned(), value.into());
    }
    for (name, value) in &line.fields {
        let value = match value {
            Datum::Text(text) => Value::from(text.as_str()),
            Datum::Count(count) => Value::from(*count),
            Datum::Number(number) => Value::from(*number),
            Datum::Flag(flag) => Value::from(*flag),
        };
        object.insert((*name).to_owned(), value);
    }
    format!("{}\n", Value::Object(object))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use reknit_engine::telemetry::TraceContext;
    use reknit_protocol::RunId;

    use super::*;

    fn written(level: Level, form: Form) -> String {
        let lines = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&lines);
        let log = Log::new(LogSettings { level, form }, move |line| kept.lock().unwrap().push_str(line));
        let line = |severity, message: &str| {
            let fields = vec![
                ("step_id", Datum::from("s")),
                ("error", Datum::from("no \"such\"\nplace")),
                ("reason", Datum::from("")),
                ("attempt", Datum::Count(2)),
            ];
            Signal::Log(LogLine {
                severity,
                source: "framework/orchestration",
                name: "",
                message: message.to_owned(),
                fields,
            })
        };
        let signals = [line(Severity::Warning, "Step\x1b[2J failed"), line(Severity::Verbose, "all is well")];
        let context = TraceContext::new(&RunId::new("run-1"), None);
        log.take(&Told { at_ms: 1_763_000_000_123, context: &context, signals: &signals });
        lines.lock().unwrap().clone()
    }

    #[test]
    fn a_line_is_one_line_of_text_or_one_object() {
        insta::assert_snapshot!(written(Level::Info, Form::Text), @r#"2025-11-13T02:13:20.123Z WARN  framework/orchestration Step [2J failed step_id=s error="no \"such\"\nplace" reason="" attempt=2"#);
        insta::assert_snapshot!(written(Level::Warn, Form::Json), @r#"{"timestamp":"2025-11-13T02:13:20.123Z","level":"warn","component":"framework/orchestration","message":"Step\u001b[2J failed","request_id":"run-1","trace_id":"7c8bbf791238ac6eca7549ab06b31086","step_id":"s","error":"no \"such\"\nplace","reason":"","attempt":2}"#);
    }

    #[test]
    fn only_what_is_bad_enough_is_written() {
        assert_eq!(written(Level::Off, Form::Json), "");
        assert_eq!(written(Level::Error, Form::Text), "");
        assert_eq!(written(Level::Debug, Form::Text).lines().count(), 2);
    }
}
