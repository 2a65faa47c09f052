//! A process takes a run over: nothing is told twice, and nothing is missing.

use reknit_engine::telemetry::{Signal, TraceContext};
use reknit_engine::{Event, Machine, What};

use crate::paths::{context_that_helps, paths};
use crate::sessions::session_paths;
use crate::told::{spans, told, told_from};

#[test]
fn two_processes_tell_together_what_one_would_have_told() {
    let all = paths()
        .into_iter()
        .map(|(_, events, _)| events)
        .chain(session_paths().into_iter().map(|(_, events, _)| events));
    for events in all {
        let whole = told(&events);
        for at in 0..=events.len() {
            let before: Vec<Signal> = told_from(&events[..at.max(1)], 0);
            let before = if at == 0 { Vec::new() } else { before };
            let together: Vec<Signal> = before.into_iter().chain(told_from(&events, at)).collect();
            assert_eq!(together, whole, "taken over after {at} of {} events", events.len());
        }
    }
}

#[test]
fn whose_part_a_run_is_stands_in_its_first_event_and_events_without_it_are_read() {
    for events in [context_that_helps(), session_paths().remove(0).1] {
        let mut first = events[0].clone();
        let text = serde_json::to_string(&first).expect("it can be written");
        assert!(!text.contains("trace_parent"), "a run of its own looks as it always did");
        assert_eq!(serde_json::from_str::<Event>(&text).expect("it can be read"), first);
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().ok();
        match &mut first.what {
            What::Started(started) => started.trace_parent = parent,
            What::SessionStarted(started) => started.trace_parent = parent,
            other => panic!("{other:?} is no beginning"),
        }
        let read: Event =
            serde_json::from_str(&serde_json::to_string(&first).expect("it can be written")).expect("it can be read");
        let machine = Machine::begin(&read).expect("it begins");
        assert_eq!(machine.trace_parent(), parent);
        let again = Machine::restore(&machine.snapshot().expect("it can be written")).expect("it can be read");
        assert_eq!(TraceContext::of(&again), TraceContext::new(machine.id(), parent));
    }
}

#[test]
fn a_call_that_was_under_way_when_its_process_died_begins_anew() {
    let mut events = context_that_helps();
    let last = events.pop().expect("the answer of the tool");
    let taken_over_ms = last.at_ms + 60_000;
    events.push(Event { at_ms: taken_over_ms, what: What::Resumed });
    events.push(Event { at_ms: taken_over_ms + 5, what: last.what });
    let signals = told_from(&events, events.len() - 2);
    let spans = spans(&signals);
    let shown: Vec<(&str, i64)> = spans.iter().map(|span| (span.name, span.end_ms - span.start_ms)).collect();
    let from_the_beginning = taken_over_ms + 5 - 1_000;
    assert_eq!(
        shown,
        [
            ("http.client.request", 5),
            ("orchestration.step_execution", from_the_beginning),
            ("orchestration.process_request", from_the_beginning),
        ]
    );
    let step = spans[1].events.iter().map(|event| event.name);
    assert!(step.clone().any(|name| name == "semantic_retry_applied"), "what happened before is not lost");
}
