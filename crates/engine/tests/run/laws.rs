//! What holds for every plan, every world and every order of events.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use reknit_dialogue::{ErrorClass, Policy as Rotating};
use reknit_engine::{Decision, Effect, EffectId, Policy, Run, Sent, Synthesis, TransportFailure, TransportKind, What};
use reknit_protocol::Step;

use crate::world::{Play, id_of, model_answer, model_failure, plan, policy, reply, started, step};

/// A world in which everything can go wrong, decided by a sequence of numbers.
#[derive(Debug, Clone)]
struct Chaos {
    steps: Vec<(usize, Vec<bool>)>,
    choices: Vec<u8>,
    policy: Policy,
}

fn chaos() -> impl Strategy<Value = Chaos> {
    let steps = prop::collection::vec((0usize..6, prop::collection::vec(any::<bool>(), 6)), 1..6);
    let limits = (1u32..12, 1u32..12, any::<bool>());
    (steps, prop::collection::vec(any::<u8>(), 400), limits).prop_map(
        |(steps, choices, (tools, models, model_answers))| {
            let mut policy = policy();
            policy.limits.tool_calls = tools;
            policy.limits.model_calls = models;
            policy.rotation.policy = if tools % 2 == 0 { Rotating::PreferPrimary } else { Rotating::Advance };
            policy.synthesis = if model_answers { Synthesis::Model } else { Synthesis::Template };
            Chaos { steps, choices, policy }
        },
    )
}

fn plan_of(chaos: &Chaos) -> Vec<Step> {
    let classes = ["read", "idempotent", "keyed", "undeclared", "unsafe", "convert"];
    chaos
        .steps
        .iter()
        .enumerate()
        .map(|(index, (class, needs))| {
            let earlier = (0..index).filter(|other| needs.get(*other).copied().unwrap_or(false));
            let parameters = match classes[*class] {
                "convert" => r#"{"amount": 1}"#,
                _ => r#"{"x": 1}"#,
            };
            earlier.fold(step(&format!("s{index}"), classes[*class], parameters), |step, other| {
                step.after(format!("s{other}").as_str())
            })
        })
        .collect()
}

/// What becomes of an effect, for a number.
fn outcome(effect: &Effect, choice: u8, now_ms: i64) -> Option<What> {
    let id = id_of(effect);
    Some(match effect {
        Effect::CallTool(_) => match choice % 13 {
            0..=4 => What::ToolAnswered { effect: id, reply: reply(200, r#"{"v": 1}"#) },
            5 => What::ToolAnswered { effect: id, reply: reply(400, "{}") },
            6 => What::ToolAnswered { effect: id, reply: reply(401, "{}") },
            7 => What::ToolAnswered { effect: id, reply: reply(429, "{}") },
            8 => What::ToolAnswered { effect: id, reply: reply(503, "{}") },
            9 => What::Interrupted { effect: id },
            10 => What::ToolFailed { effect: id, failure: failure(TransportKind::TimedOut, Sent::Maybe) },
            11 => What::GateClosed { effect: id, until_ms: now_ms + i64::from(choice) },
            _ => What::ToolFailed { effect: id, failure: failure(TransportKind::Refused, Sent::No) },
        },
        Effect::AskModel(_) => match choice % 8 {
            0 => What::ModelAnswered { effect: id, answer: model_answer(r#"{"should_retry": false}"#) },
            1 => What::ModelAnswered { effect: id, answer: model_answer("nonsense") },
            2 => What::ModelFailed { effect: id, failure: model_failure(ErrorClass::RateLimit) },
            3 => What::ModelFailed { effect: id, failure: model_failure(ErrorClass::AuthError) },
            7 => What::GateClosed { effect: id, until_ms: now_ms + i64::from(choice) },
            4 => What::ModelAnswered {
                effect: id,
                answer: model_answer(r#"{"should_retry": true, "is_transient_error": true}"#),
            },
            _ => {
                let text = format!(r#"{{"should_retry": true, "suggested_changes": {{"x": {choice}}}}}"#);
                What::ModelAnswered { effect: id, answer: model_answer(&text) }
            }
        },
        Effect::AskPerson(ask) => {
            let decision = if choice.is_multiple_of(2) { Decision::Approve } else { Decision::Deny };
            What::PersonDecided { effect: id, hash: ask.hash.clone(), decision }
        }
        Effect::Sleep { .. } => What::Woke { effect: id },
        Effect::Abort { .. } | Effect::Finish(_) | Effect::Report(_) => return None,
    })
}

fn failure(kind: TransportKind, sent: Sent) -> TransportFailure {
    TransportFailure { kind, sent, message: "it broke".to_owned() }
}

/// Drives a run to its end in an order chosen by the numbers, looking at it after each event.
fn drive(chaos: &Chaos, mut look: impl FnMut(&Play)) -> Play {
    let mut play = Play::begin(started(Some(plan(plan_of(chaos))), chaos.policy.clone()));
    look(&play);
    let mut choices = chaos.choices.iter().copied().cycle();
    for _ in 0..2_000 {
        if play.run.answer().is_some() {
            return play;
        }
        let effects: Vec<Effect> = play.run.pending();
        let open: Vec<&Effect> = effects.iter().filter(|effect| !is_last_resort(effect)).collect();
        let pool = if open.is_empty() { effects.iter().collect() } else { open };
        let choice = choices.next().unwrap_or(0);
        let Some(effect) = pool.get(usize::from(choice) % pool.len().max(1)) else {
            panic!("nothing is due: {play:?}")
        };
        if let Effect::Sleep { until_ms, .. } = effect {
            play.now_ms = play.now_ms.max(*until_ms);
        }
        let choice = choices.next().unwrap_or(0);
        if choice == 255 {
            play.happen(What::Resumed);
        } else if let Some(what) = outcome(effect, choice, play.now_ms) {
            play.happen(what);
        }
        look(&play);
    }
    panic!("the run does not end: {:?}", play.due());
}

/// The deadline and the expiry of a question come last, or nothing else would be seen.
fn is_last_resort(effect: &Effect) -> bool {
    matches!(effect, Effect::Sleep { id, .. } if id.as_str().starts_with("run/") || id.as_str().ends_with("/expiry"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn every_run_ends_within_its_budgets(chaos in chaos()) {
        let play = drive(&chaos, |_| ());
        let spent = play.run.spent();
        prop_assert!(spent.tool_calls <= chaos.policy.limits.tool_calls);
        prop_assert!(spent.model_calls <= chaos.policy.limits.model_calls);
    }

    #[test]
    fn a_step_never_starts_before_its_inputs_nor_again_after_its_success(chaos in chaos()) {
        let needs: HashMap<String, Vec<String>> = plan_of(&chaos)
            .iter()
            .map(|step| (step.step_id.to_string(), step.depends_on.iter().map(ToString::to_string).collect()))
            .collect();
        let mut done: HashSet<String> = HashSet::new();
        drive(&chaos, |play| {
            for effect in play.run.pending() {
                if let Effect::CallTool(call) = effect {
                    let step = call.step.to_string();
                    assert!(!done.contains(&step), "{} is called again after its success", call.id);
                    assert!(needs[&step].iter().all(|need| play.run.result(need).is_some()), "{} is too early", call.id);
                }
            }
            for step in needs.keys() {
                if play.run.result(step).is_some() {
                    done.insert(step.clone());
                }
            }
        });
    }

    #[test]
    fn a_run_stored_and_restored_anywhere_is_the_run_that_never_was(chaos in chaos()) {
        drive(&chaos, |play| {
            let snapshot = play.run.snapshot().expect("it can be written");
            let restored = Run::restore(&snapshot).expect("it can be read");
            assert_eq!(restored.snapshot().expect("it can be written"), snapshot);
            assert_eq!(restored.pending(), play.run.pending());
            let (first, rest) = play.events.split_first().expect("there is a first event");
            let mut replayed = Run::begin(first).expect("it begins");
            for event in rest {
                replayed.apply(event).expect("the event is taken in");
            }
            assert_eq!(replayed.snapshot().expect("it can be written"), snapshot);
        });
    }

    #[test]
    fn an_outcome_delivered_twice_changes_nothing(chaos in chaos()) {
        let mut seen = 0;
        drive(&chaos, |play| {
            let Some(last) = play.events.last().filter(|_| play.events.len() > seen && play.events.len() > 1) else { return };
            seen = play.events.len();
            if matches!(last.what, What::Resumed) {
                return;
            }
            let mut again = play.run.clone();
            again.apply(last).expect("the event is taken in");
            assert_eq!(again.pending(), play.run.pending());
        });
    }

    #[test]
    fn a_refusal_to_let_us_in_never_causes_a_question(chaos in chaos()) {
        let mut play = Play::begin(started(Some(plan(plan_of(&chaos))), Policy { synthesis: Synthesis::Template, ..chaos.policy.clone() }));
        let mut choices = chaos.choices.iter();
        while play.run.answer().is_none() {
            let effect = play.run.pending().into_iter().find(|effect| matches!(effect, Effect::CallTool(_))).expect("a call is due");
            let status = if choices.next().is_some_and(|choice| choice % 2 == 0) { 401 } else { 403 };
            let id: EffectId = id_of(&effect);
            play.happen(What::ToolAnswered { effect: id, reply: reply(status, r#"{"message": "amount must be positive"}"#) });
        }
        prop_assert_eq!(play.run.spent().model_calls, 0);
    }

    #[test]
    fn an_event_survives_being_written_down(chaos in chaos()) {
        let play = drive(&chaos, |_| ());
        for event in &play.events {
            let text = serde_json::to_string(event).expect("it can be written");
            let back: reknit_engine::Event = serde_json::from_str(&text).expect("it can be read");
            prop_assert_eq!(&back, event);
        }
    }
}
