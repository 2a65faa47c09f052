//! Converts spans to the types of the exporter.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    Event, SpanContext, SpanId, SpanKind as OtelSpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use reknit_telemetry::{AttributeValue, Span, SpanEvent, SpanKind, SpanStatus};

/// The instrumentation scope of all signals.
pub(super) fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("reknit").with_version(env!("CARGO_PKG_VERSION")).build()
}

pub(super) fn span(span: &Span) -> SpanData {
    let id = |id: reknit_engine::SpanId| SpanId::from_bytes(id.0);
    let trace = TraceId::from_bytes(span.trace.0);
    let context = SpanContext::new(trace, id(span.id), TraceFlags::SAMPLED, false, TraceState::default());
    let mut events = SpanEvents::default();
    events.events = span.events.iter().map(event).collect();
    SpanData {
        span_context: context,
        parent_span_id: span.parent.map_or(SpanId::INVALID, id),
        parent_span_is_remote: span.parent_is_remote,
        span_kind: match span.kind {
            SpanKind::Internal => OtelSpanKind::Internal,
            SpanKind::Client => OtelSpanKind::Client,
        },
        name: span.name.into(),
        start_time: time(span.start_ms),
        end_time: time(span.end_ms),
        attributes: [attributes(&span.attributes), metadata(span)].concat(),
        dropped_attributes_count: 0,
        events,
        links: SpanLinks::default(),
        status: match &span.status {
            // By convention, instrumentation leaves `Ok` to the application.
            SpanStatus::Ok => Status::Unset,
            SpanStatus::Error(message) => Status::error(message.clone()),
        },
        instrumentation_scope: scope(),
    }
}

fn event(event: &SpanEvent) -> Event {
    Event::new(event.name, time(event.at_ms), attributes(&event.attributes), 0)
}

fn attributes(attributes: &[(&'static str, AttributeValue)]) -> Vec<KeyValue> {
    attributes.iter().map(|(name, value)| KeyValue::new(*name, attribute_value(name, value))).collect()
}

fn metadata(span: &Span) -> Vec<KeyValue> {
    span.metadata.iter().map(|(name, value)| KeyValue::new(name.clone(), attribute_value(name, value))).collect()
}

fn attribute_value(name: &str, value: &AttributeValue) -> Value {
    match value {
        // The semantic conventions define this attribute as a list.
        AttributeValue::Text(text) if name == "gen_ai.response.finish_reasons" => {
            Value::Array(Array::String(vec![StringValue::from(text.clone())]))
        }
        AttributeValue::Text(text) => Value::String(text.clone().into()),
        AttributeValue::Count(count) => Value::I64(*count),
        AttributeValue::Number(number) => Value::F64(*number),
        AttributeValue::Flag(flag) => Value::Bool(*flag),
    }
}

fn time(at_ms: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(at_ms).unwrap_or(0))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn any_span() -> SpanData {
        span(&Span {
            trace: reknit_engine::TraceId([1; 16]),
            id: reknit_engine::SpanId([1; 8]),
            parent: None,
            parent_is_remote: false,
            name: "chat",
            kind: SpanKind::Client,
            start_ms: 0,
            end_ms: 1,
            attributes: Vec::new(),
            metadata: Vec::new(),
            events: Vec::new(),
            status: SpanStatus::Ok,
        })
    }
}
