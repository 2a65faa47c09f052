//! The list of questions to models with their answers.

use reknit_engine::{LlmDebug, Policy, Synthesis};
use reknit_model_api::{ErrorClass, Purpose};
use reknit_telemetry::interactions;

use crate::run_world::{Play, json, policy, started};

/// Two questions for a plan: the first fails, and the answer to the second contains a secret.
fn asked(llm_debug: LlmDebug) -> (Play, String) {
    let mut play = Play::begin(started(None, Policy { llm_debug, ..policy() }));
    let prompt = play.prompt("plan/ask/1");
    play.fail_model("plan/ask/1", ErrorClass::NetworkError);
    play.now_ms += 250;
    play.answer_model("plan/ask/2", "I cannot, for api_key=abc123456 is refused.");
    (play, prompt)
}

#[test]
fn a_run_with_llm_debug_lists_each_question_with_its_outcome() {
    let (play, prompt) = asked(LlmDebug::On);
    let found = interactions(&play.events).expect("the events are valid").expect("the questions are visible");
    let purposes: Vec<_> = found.iter().map(|one| (one.purpose, one.attempt, one.target.as_str())).collect();
    assert_eq!(purposes, [(Purpose::PlanGeneration, 1, "a"), (Purpose::PlanGeneration, 2, "b")]);
    let [failed, answered] = found.as_slice() else { panic!("there are two") };
    assert_eq!(format!("{}\n=====\n{}", failed.system_prompt(), failed.prompt()), prompt);
    assert!(failed.error().is_some_and(|error| error.contains("it failed")));
    assert_eq!(answered.response(), "I cannot, for api_key=[redacted] is refused.");
    assert_eq!((answered.duration_ms, answered.error()), (250, None));
}

#[test]
fn an_interaction_serializes_with_all_fields() {
    let (play, _) = asked(LlmDebug::On);
    let found = interactions(&play.events).expect("the events are valid").expect("the questions are visible");
    let mut value = found[1].to_value();
    for long in ["system_prompt", "prompt"] {
        *value.get_mut(long).expect("it is there") = json("\"...\"");
    }
    insta::assert_snapshot!(value.to_pretty(), @r#"
    {
      "type": "plan_generation",
      "step_id": null,
      "attempt": 2,
      "timestamp": 1000,
      "duration_ms": 250,
      "provider": "b",
      "model": "m",
      "temperature": 0.3,
      "max_tokens": 2000,
      "system_prompt": "...",
      "prompt": "...",
      "response": "I cannot, for api_key=[redacted] is refused.",
      "prompt_tokens": 10,
      "completion_tokens": 5,
      "total_tokens": 15,
      "success": true,
      "error": null
    }
    "#);
}

#[test]
fn a_run_without_llm_debug_lists_no_questions() {
    assert_eq!(interactions(&asked(LlmDebug::Off).0.events).expect("the events are valid"), None);
    assert_eq!(policy().llm_debug, LlmDebug::Off, "off is the default");
}

#[test]
fn questions_of_every_purpose_are_listed() {
    let mut debug = Policy { llm_debug: LlmDebug::On, synthesis: Synthesis::Model, ..policy() };
    debug.planning.choose_from = 2;
    let mut play = Play::begin(started(None, debug));
    let two_steps = r#"{"steps": [{"step_id": "q", "agent_name": "t", "metadata": {"capability": "read"}},
        {"step_id": "c", "agent_name": "t", "depends_on": ["q"], "metadata": {"capability": "convert"}}]}"#;
    let answers = [
        ("tiered_selection", "plan/select/1", r#"["t/read", "t/convert"]"#),
        ("plan_generation", "plan/ask/1", two_steps),
        ("micro_resolution", "c/resolution/1", r#"{"amount": "{{q.price}}"}"#),
        ("error_analysis", "c/feedback/1", r#"{"should_retry": false, "reason": "not known"}"#),
        ("semantic_retry", "c/context/1", r#"{"should_retry": true, "corrected_parameters": {"amount": 6}}"#),
        ("synthesis", "answer/ask/1", "Done."),
    ];
    for (_, effect, text) in answers {
        for (call, status) in [("q/call/1", 200), ("c/call/1", 422), ("c/call/2", 200)] {
            if play.due() == [call] {
                play.answer_tool(call, status, r#"{"price": 5}"#);
            }
        }
        play.answer_model(effect, text);
    }
    let found = interactions(&play.events).expect("the events are valid").expect("the questions are visible");
    let listed: Vec<(&str, String)> = found.iter().map(|one| (one.purpose.as_str(), one.response())).collect();
    assert_eq!(listed, answers.map(|(purpose, _, text)| (purpose, text.to_owned())));
    assert!(found.iter().all(|one| !one.prompt().is_empty() && !one.system_prompt().is_empty()));
}
