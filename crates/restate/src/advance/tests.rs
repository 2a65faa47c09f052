use super::*;
use crate::test_runs::{answered, chain_of, due_call, started};

#[tokio::test]
async fn a_run_performs_its_call_and_is_woken_at_its_deadline() {
    let (machine, Consequences { outputs, due }) = begin(&started(&chain_of(1)).await).unwrap();
    let call = due_call(&machine.pending()).clone();
    assert!(outputs.iter().any(|output| matches!(output, RunOutput::Perform(effect) if effect.id() == Some(&call.id))));
    assert!(outputs.iter().any(|output| matches!(output, RunOutput::WakeAt(wake) if wake.until_ms > 1_000)));
    assert!(due.iter().any(|(effect, _)| *effect == call.id.to_string()), "{due:?}");
}

#[tokio::test]
async fn an_outcome_counts_once_and_only_while_its_effect_is_due() {
    let (mut machine, _) = begin(&started(&chain_of(2)).await).unwrap();
    let call = due_call(&machine.pending()).clone();
    let input = RunInput::Outcome { effect: call.id.clone(), event: answered(&call, 2_000) };
    let event = event_of(&machine, input.clone()).unwrap();
    let outputs = advance(&mut machine, &event).unwrap().outputs;
    assert!(matches!(&outputs[..], [RunOutput::Perform(Effect::CallTool(next))] if next.id != call.id), "{outputs:?}");
    // The same message arrives again.
    assert_eq!(event_of(&machine, input), None);
}

#[tokio::test]
async fn the_time_of_a_run_does_not_go_back_if_a_worker_has_an_earlier_clock() {
    let (machine, _) = begin(&started(&chain_of(1)).await).unwrap();
    let call = due_call(&machine.pending()).clone();
    let input = RunInput::Outcome { effect: call.id.clone(), event: answered(&call, 5) };
    assert_eq!(event_of(&machine, input).unwrap().at_ms, 1_000);
}

#[tokio::test]
async fn a_wake_up_counts_only_for_a_wait_that_ends_by_then() {
    let (machine, Consequences { outputs, .. }) = begin(&started(&chain_of(1)).await).unwrap();
    let wake = outputs.iter().find_map(|output| match output {
        RunOutput::WakeAt(wake) => Some(wake.clone()),
        _ => None,
    });
    let WakeRun { effect, until_ms } = wake.unwrap();
    let at = |until_ms, now_ms| event_of(&machine, RunInput::Woke { wake: effect.clone(), until_ms, now_ms });
    assert_eq!(at(until_ms - 1, until_ms - 1), None, "the wait was made longer since this was sent");
    assert_eq!(at(until_ms, until_ms + 9).unwrap().at_ms, until_ms + 9);
    assert_eq!(at(until_ms, until_ms - 9).unwrap().at_ms, until_ms, "the clock of the worker is behind");
}

#[tokio::test]
async fn a_run_that_has_ended_takes_only_what_continues_it() {
    let (mut machine, _) = begin(&started(&chain_of(1)).await).unwrap();
    let call = due_call(&machine.pending()).clone();
    let cancelled = Event { at_ms: 3_000, kind: EventKind::Cancelled };
    advance(&mut machine, &answered(&call, 2_000)).unwrap();
    assert!(machine.ending().is_some());
    assert_eq!(event_of(&machine, RunInput::Signal(cancelled)), None);
    let retried = Event { at_ms: 3_000, kind: EventKind::Retried };
    assert_eq!(event_of(&machine, RunInput::Signal(retried.clone())), Some(retried));
}
