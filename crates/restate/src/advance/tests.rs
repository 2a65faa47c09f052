use super::*;
use crate::test_runs::{answered, begun, chain_of, due_call, started};

#[tokio::test]
async fn a_run_performs_its_call_and_is_woken_at_its_deadline() {
    let (machine, Consequences { outputs, due }) = begin(&started(&chain_of(1)).await).unwrap();
    let call = due_call(&machine);
    assert!(outputs.iter().any(|output| matches!(output, RunOutput::Perform(effect) if effect.id() == Some(&call.id))));
    assert!(outputs.iter().any(|output| matches!(output, RunOutput::WakeAt(wake) if wake.until_ms > 1_000)));
    assert!(due.iter().any(|(effect, _)| *effect == call.id.to_string()), "{due:?}");
}

#[tokio::test]
async fn an_outcome_counts_once_and_only_while_its_effect_is_due() {
    let (mut machine, call) = begun(2).await;
    let input = RunInput::Outcome { effect: call.id.clone(), event: answered(&call, 2_000) };
    let event = event_of(&machine, input.clone()).unwrap();
    let outputs = advance(&mut machine, &event).unwrap().outputs;
    assert!(matches!(&outputs[..], [RunOutput::Perform(Effect::CallTool(next))] if next.id != call.id), "{outputs:?}");
    // The same message arrives again.
    assert_eq!(event_of(&machine, input), None);
}

#[tokio::test]
async fn the_time_of_a_run_does_not_go_back_if_a_worker_has_an_earlier_clock() {
    let (machine, call) = begun(1).await;
    let input = RunInput::Outcome { effect: call.id.clone(), event: answered(&call, 5) };
    assert_eq!(event_of(&machine, input).unwrap().at_ms, 1_000);
}

#[tokio::test]
async fn a_wake_up_counts_only_for_a_wait_that_ends_by_then() {
    let (machine, Consequences { outputs, .. }) = begin(&started(&chain_of(1)).await).unwrap();
    let wake = |output| if let RunOutput::WakeAt(wake) = output { Some(wake) } else { None };
    let WakeRun { effect, until_ms } = outputs.into_iter().find_map(wake).unwrap();
    let at = |until_ms, now_ms| event_of(&machine, RunInput::Woke { wake: effect.clone(), until_ms, now_ms });
    assert_eq!(at(until_ms - 1, until_ms - 1), None, "the wait was made longer since this was sent");
    assert_eq!(at(until_ms, until_ms + 9).unwrap().at_ms, until_ms + 9);
    assert_eq!(at(until_ms, until_ms - 9).unwrap().at_ms, until_ms, "the clock of the worker is behind");
}

#[tokio::test]
async fn a_run_that_has_ended_takes_only_what_continues_it() {
    let (mut machine, call) = begun(1).await;
    let cancelled = Event { at_ms: 3_000, kind: EventKind::Cancelled };
    advance(&mut machine, &answered(&call, 2_000)).unwrap();
    assert!(machine.ending().is_some());
    assert_eq!(event_of(&machine, RunInput::Signal(cancelled)), None);
    let retried = Event { at_ms: 3_000, kind: EventKind::Retried };
    assert_eq!(event_of(&machine, RunInput::Signal(retried.clone())), Some(retried));
}

#[tokio::test]
async fn only_a_worker_says_what_became_of_a_call() {
    let (machine, call) = begun(1).await;
    let answered = answered(&call, 2_000).kind;
    assert_eq!(
        check_signal(&machine, &answered, false).unwrap_err().to_string(),
        "`tool_answered` is not what a run is told from outside"
    );
    // A tool that got a URL for it may call back before it answers.
    check_signal(&machine, &answered, true).unwrap();
    let interrupted = EventKind::Interrupted { effect: call.id.clone() };
    for kind in [interrupted, started(&chain_of(1)).await.kind, EventKind::Woke { effect: call.id.clone() }] {
        check_signal(&machine, &kind, true).unwrap_err();
    }
    for kind in [EventKind::Cancelled, EventKind::Stopped, EventKind::Retried] {
        check_signal(&machine, &kind, false).unwrap();
    }
}

#[tokio::test]
async fn a_decision_after_the_time_for_it_does_not_count_also_if_the_wake_up_is_delayed() {
    let plan = "steps: [{id: s0, approve: true, tool: shop/place, with: {number: 1}}]";
    let (machine, _) = begin(&started(plan).await).unwrap();
    let ask = |effect| if let Effect::AskPerson(ask) = effect { Some(ask) } else { None };
    let ask = machine.pending().into_iter().find_map(ask).unwrap();
    let decided = |at_ms| {
        let (decision, by) = (reknit_engine::Decision::Approve, reknit_engine::DecidedBy::Person);
        let kind = EventKind::PersonDecided { effect: ask.id.clone(), hash: ask.hash.clone(), decision, by };
        event_of(&machine, RunInput::Signal(Event { at_ms, kind })).unwrap().kind
    };
    assert!(matches!(decided(ask.expires_ms - 1), EventKind::PersonDecided { .. }));
    assert_eq!(decided(ask.expires_ms), late_decision());
}

#[tokio::test]
async fn a_call_is_made_where_its_run_is_only_if_nothing_else_is_to_be_performed() {
    let (machine, Consequences { mut outputs, .. }) = begin(&started(&chain_of(2)).await).unwrap();
    let call = take_lone_call(&machine, &mut outputs).unwrap();
    assert_eq!(call.id, due_call(&machine).id);
    assert!(outputs.iter().all(|output| matches!(output, RunOutput::WakeAt(_))), "{outputs:?}");
    let two = "steps: [{id: a, tool: shop/place, with: {number: 1}}, {id: b, tool: shop/place, with: {number: 2}}]";
    let (machine, Consequences { mut outputs, .. }) = begin(&started(two).await).unwrap();
    let before = outputs.clone();
    assert_eq!(take_lone_call(&machine, &mut outputs), None);
    assert_eq!(outputs, before);
}
