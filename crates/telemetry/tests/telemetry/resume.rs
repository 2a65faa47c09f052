//! A process resumes a run: no signal is produced twice, and none is missing.

use std::collections::HashSet;

use reknit_engine::{Event, EventKind, Machine};
use reknit_telemetry::{Signal, TraceContext};

use crate::paths::{path, paths, successful_context};
use crate::sessions::session_paths;
use crate::signals::{signals_after, signals_of, spans};

#[test]
fn two_processes_together_produce_the_signals_of_one() {
    let all = paths()
        .into_iter()
        .map(|(_, events, _)| events)
        .chain(session_paths().into_iter().map(|(_, events, _)| events));
    for events in all {
        let whole = signals_of(&events);
        for at in 0..=events.len() {
            let before: Vec<Signal> = signals_after(&events[..at.max(1)], 0);
            let before = if at == 0 { Vec::new() } else { before };
            let together: Vec<Signal> = before.into_iter().chain(signals_after(&events, at)).collect();
            assert_eq!(together, whole, "resumed after {at} of {} events", events.len());
        }
    }
}

#[test]
fn the_first_event_stores_the_trace_parent_and_may_omit_it() {
    for events in [successful_context(), session_paths().remove(0).1] {
        let mut first = events[0].clone();
        let text = serde_json::to_string(&first).expect("it serializes");
        assert!(!text.contains("trace_parent"), "without a parent the field is omitted");
        assert_eq!(serde_json::from_str::<Event>(&text).expect("it deserializes"), first);
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().ok();
        match &mut first.kind {
            EventKind::Started(started) => started.trace_parent = parent,
            EventKind::SessionStarted(started) => started.trace_parent = parent,
            other => panic!("{other:?} is not a first event"),
        }
        let read: Event =
            serde_json::from_str(&serde_json::to_string(&first).expect("it serializes")).expect("it deserializes");
        let (machine, _) = Machine::begin(&read).expect("the machine starts");
        assert_eq!(machine.trace_parent(), parent);
        let again = Machine::restore(&machine.snapshot().expect("it serializes")).expect("it deserializes");
        assert_eq!(TraceContext::of(&again), TraceContext::new(machine.id(), parent));
    }
}

#[test]
fn the_span_of_a_call_restarts_when_its_process_died() {
    let mut events = successful_context();
    let last = events.pop().expect("the answer of the tool");
    let resumed_ms = last.at_ms + 60_000;
    events.push(Event { at_ms: resumed_ms, kind: EventKind::Resumed });
    events.push(Event { at_ms: resumed_ms + 5, kind: last.kind });
    let signals = signals_after(&events, events.len() - 2);
    let spans = spans(&signals);
    let shown: Vec<(&str, i64)> = spans.iter().map(|span| (span.name, span.end_ms - span.start_ms)).collect();
    let since_the_start = resumed_ms + 5 - 1_000;
    assert_eq!(
        shown,
        [
            ("http.client.request", 5),
            ("orchestration.step_execution", since_the_start),
            ("orchestration.process_request", since_the_start),
        ]
    );
    let step = spans[1].events.iter().map(|event| event.name);
    assert!(step.clone().any(|name| name == "semantic_retry_applied"), "events before the resumption are kept");
}

#[test]
fn a_retried_run_has_spans_of_its_own_within_the_first_span_of_the_run() {
    let (mut events, retried_ms) = (path("an unauthorized call"), 90_000);
    let refused = events.last().expect("the answer of the tool").kind.clone();
    events.push(Event { at_ms: retried_ms, kind: EventKind::Retried });
    // Refused once more, as the second call.
    let EventKind::ToolAnswered { effect, reply } = refused else { panic!("{refused:?} is not an answer") };
    let again = effect.to_string().replace("/call/1", "/call/2").parse().expect("an effect");
    events.push(Event { at_ms: retried_ms + 5, kind: EventKind::ToolAnswered { effect: again, reply } });
    let signals = signals_of(&events);
    let spans = spans(&signals);
    let ids: HashSet<_> = spans.iter().map(|span| span.id).collect();
    assert_eq!(ids.len(), spans.len(), "no two spans have the same id: {spans:#?}");
    let roots: Vec<_> = spans.iter().filter(|span| span.name == "orchestration.process_request").collect();
    assert_eq!(roots.len(), 2);
    assert_eq!((roots[0].parent, roots[1].parent), (None, Some(roots[0].id)));
    let last_step = spans.iter().rfind(|span| span.name == "orchestration.step_execution").expect("a step");
    assert_eq!(last_step.parent, Some(roots[1].id));
}
