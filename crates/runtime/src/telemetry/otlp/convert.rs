//! Spans of the machine as the exporter wants them.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    Event, SpanContext, SpanId, SpanKind as OtherKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use reknit_engine::telemetry::{Datum, Span, SpanEvent, SpanKind, SpanStatus};

/// Who tells.
pub(super) fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("reknit").with_version(env!("CARGO_PKG_VERSION")).build()
}

pub(super) fn span(span: &Span) -> SpanData {
    let id = |id: reknit_engine::telemetry::SpanId| SpanId::from_bytes(id.0);
    let trace = TraceId::from_bytes(span.trace.0);
    let context = SpanContext::new(trace, id(span.id), TraceFlags::SAMPLED, false, TraceState::default());
    let mut events = SpanEvents::default();
    events.events = span.events.iter().map(event).collect();
    SpanData {
        span_context: context,
        parent_span_id: span.parent.map_or(SpanId::INVALID, id),
        parent_span_is_remote: span.parent_is_remote,
        span_kind: match span.kind {
            SpanKind::Internal => OtherKind::Internal,
            SpanKind::Client => OtherKind::Client,
        },
        name: span.name.into(),
        start_time: moment(span.start_ms),
        end_time: moment(span.end_ms),
        attributes: attributes(&span.attributes),
        dropped_attributes_count: 0,
        events,
        links: SpanLinks::default(),
        status: match &span.status {
            // That nothing went wrong is for whoever looks at it to say.
            SpanStatus::Ok => Status::Unset,
            SpanStatus::Error(words) => Status::error(words.clone()),
        },
        instrumentation_scope: scope(),
    }
}

fn event(event: &SpanEvent) -> Event {
    Event::new(event.name, moment(event.at_ms), attributes(&event.attributes), 0)
}

fn attributes(given: &[(&'static str, Datum)]) -> Vec<KeyValue> {
    given.iter().map(|(name, value)| KeyValue::new(*name, converted(name, value))).collect()
}

fn converted(name: &str, value: &Datum) -> Value {
    match value {
        // By the conventions for models it is a list.
        Datum::Text(text) if name == "gen_ai.response.finish_reasons" => {
            Value::Array(Array::String(vec![StringValue::from(text.clone())]))
        }
        Datum::Text(text) => Value::String(text.clone().into()),
        Datum::Count(count) => Value::I64(*count),
        Datum::Number(number) => Value::F64(*number),
        Datum::Flag(flag) => Value::Bool(*flag),
    }
}

fn moment(at_ms: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(at_ms).unwrap_or(0))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn any_span() -> SpanData {
        span(&Span {
            trace: reknit_engine::telemetry::TraceId([1; 16]),
            id: reknit_engine::telemetry::SpanId([1; 8]),
            parent: None,
            parent_is_remote: false,
            name: "chat",
            kind: SpanKind::Client,
            start_ms: 0,
            end_ms: 1,
            attributes: Vec::new(),
            events: Vec::new(),
            status: SpanStatus::Ok,
        })
    }
}
