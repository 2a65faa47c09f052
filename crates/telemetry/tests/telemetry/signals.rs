//! The signals that a tracer maps from a list of events.

use reknit_engine::{Event, Machine};
use reknit_telemetry::{LogLine, Metric, Signal, Span, TraceContext, Tracer};

/// The signals of the events, in order.
pub(crate) fn signals_of(events: &[Event]) -> Vec<Signal> {
    signals_after(events, 0)
}

/// The signals of a process that resumes the run after `replayed` events.
pub(crate) fn signals_after(events: &[Event], replayed: usize) -> Vec<Signal> {
    let (machine, decided) = Machine::replay(events).expect("the events are replayed").expect("there are events");
    let mut tracer = Tracer::new(TraceContext::new(machine.id(), None));
    let mut produced = Vec::new();
    for (index, (event, records)) in events.iter().zip(&decided).enumerate() {
        let signals = tracer.observe(event.at_ms, records);
        if index >= replayed {
            produced.extend(signals);
        }
    }
    produced
}

pub(crate) fn spans(signals: &[Signal]) -> Vec<&Span> {
    signals.iter().filter_map(|signal| if let Signal::Span(span) = signal { Some(&**span) } else { None }).collect()
}

pub(crate) fn metrics(signals: &[Signal]) -> Vec<&Metric> {
    signals.iter().filter_map(|signal| if let Signal::Metric(metric) = signal { Some(metric) } else { None }).collect()
}

pub(crate) fn lines(signals: &[Signal]) -> Vec<&LogLine> {
    signals.iter().filter_map(|signal| if let Signal::Log(line) = signal { Some(line) } else { None }).collect()
}

/// A metric in the format of Prometheus.
pub(crate) fn shown(metric: &Metric) -> String {
    let labels: Vec<String> = metric.labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
    format!("{}{{{}}} {}", metric.name, labels.join(","), metric.value)
}

/// The attributes of a span or event, one per line.
pub(crate) fn attributes(attributes: &[(&'static str, reknit_telemetry::AttributeValue)]) -> String {
    let line = |(name, value): &(&str, _)| format!("{name}: {value}").trim_end().to_owned();
    attributes.iter().map(line).collect::<Vec<_>>().join("\n")
}
