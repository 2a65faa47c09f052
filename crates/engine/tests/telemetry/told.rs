//! What a list of events makes a tracer tell.

use reknit_engine::telemetry::{LogLine, Metric, Signal, Span, TraceContext, Tracer};
use reknit_engine::{Event, Machine};

/// What is told about the events, in order.
pub(crate) fn told(events: &[Event]) -> Vec<Signal> {
    told_from(events, 0)
}

/// What is told by a process that takes the run over after so many events.
pub(crate) fn told_from(events: &[Event], taken_over: usize) -> Vec<Signal> {
    let mut machine = Machine::begin(&events[0]).expect("it begins");
    let mut tracer = Tracer::new(TraceContext::new(machine.id(), None));
    let mut told = Vec::new();
    for (index, event) in events.iter().enumerate() {
        if index > 0 {
            machine.apply(event).expect("the event is taken in");
        }
        let signals = tracer.observe(&machine, &machine.pending(), event);
        if index >= taken_over {
            told.extend(signals);
        }
    }
    told
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

/// A metric as Prometheus shows it.
pub(crate) fn shown(metric: &Metric) -> String {
    let labels: Vec<String> = metric.labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
    format!("{}{{{}}} {}", metric.name, labels.join(","), metric.value)
}

/// The attributes of a span or of an event, one to a line.
pub(crate) fn attributes(attributes: &[(&'static str, reknit_engine::telemetry::Datum)]) -> String {
    let line = |(name, value): &(&str, _)| format!("{name}: {value}").trim_end().to_owned();
    attributes.iter().map(line).collect::<Vec<_>>().join("\n")
}
