//! The contract with dashboards and alerts beyond the names: attributes, counts and the length of texts.

use reknit_engine::{Event, Policy, Synthesis};
use reknit_model_api::ErrorClass;
use reknit_telemetry::{AttributeValue, Signal, table};

use crate::paths::{BAD_AMOUNT, OTHER_PLAN, a_second_plan, path, paths};
use crate::run_world::{Play, plan, policy, started, step};
use crate::signals::{lines, metrics, shown, signals_of, spans};

/// The names that existing dashboards and alerts use, and the attributes that each must have. It may have more.
pub(crate) const CONTRACT: &[(&str, &[&str])] = &[
    ("llm.plan_generation.request", &["request_id", "prompt", "prompt_length", "temperature", "max_tokens", "attempt"]),
    (
        "llm.plan_generation.response",
        &[
            "request_id",
            "response",
            "response_length",
            "prompt_tokens",
            "completion_tokens",
            "total_tokens",
            "duration_ms",
            "attempt",
        ],
    ),
    ("llm.plan_generation.parse_error", &["request_id", "error", "attempt", "will_retry"]),
    ("llm.plan_generation.error", &["request_id", "error", "duration_ms", "attempt"]),
    ("type_coercion_applied", &["coercions_count", "capability", "step_id"]),
    ("validation_feedback_started", &["orchestration.type_error"]),
    ("error_analyzer.llm_call_start", &["capability", "http_status"]),
    ("error_analyzer.analysis_complete", &["should_retry", "reason", "suggested_changes_count", "total_duration_ms"]),
    ("llm_error_analysis_no_retry", &["step_id", "reason"]),
    (
        "contextual_re_resolution.start",
        &["step_id", "capability", "retry_count", "http_status", "source_data_keys", "independent_step"],
    ),
    ("contextual_re_resolution.error", &["error", "duration_ms"]),
    ("contextual_re_resolution.parse_error", &["error", "response"]),
    ("contextual_re_resolution.complete", &["should_retry", "analysis", "corrected_params_count", "duration_ms"]),
    ("semantic_retry_applied", &["step_id", "capability", "analysis", "corrected_params"]),
    ("orchestration.type_coercion.applied", &["capability", "module"]),
    ("orchestration.validation_feedback.attempts", &["agent"]),
    ("orchestration.validation_feedback.success", &["capability", "module"]),
    ("orchestration.validation_feedback.failed", &["reason"]),
    ("orchestration.error_analysis.no_retry", &["capability", "http_status", "module"]),
    ("orchestration.semantic_retry.llm_latency_ms", &["capability", "module"]),
    ("orchestration.semantic_retry.attempts", &["capability", "module"]),
    ("orchestration.semantic_retry.success", &["capability", "module"]),
    ("orchestration.semantic_retry.cannot_fix", &["capability", "module"]),
    ("orchestration.semantic_retry.llm_errors", &["capability", "module"]),
    ("orchestration.semantic_retry.applied", &["capability", "module"]),
    ("orchestration.semantic_retry.independent_step", &["capability", "module"]),
    ("ai.request.duration_ms", &["module", "provider", "purpose", "status"]),
    ("ai.request.total", &["module", "provider", "purpose", "status"]),
    ("ai.tokens.used", &["module", "provider", "purpose", "type"]),
    ("plan_generation.duration_ms", &["module", "status"]),
    ("plan_generation.total", &["module", "status"]),
    ("plan_generation.parse_errors", &["module", "will_retry"]),
    ("plan_generation.retries", &["module"]),
    ("Parameter types coerced to match schema", &["operation", "step_id", "capability", "coercions"]),
    ("Type error detected, requesting LLM correction", &["operation", "step_id", "validation_retry", "error"]),
    ("Parameters corrected by LLM", &["operation", "step_id", "new_params"]),
    ("LLM error analysis: not retryable", &["operation", "step_id", "capability", "http_status", "reason"]),
    ("Starting contextual re-resolution", &["step_id", "capability", "http_status", "source_data_keys"]),
    ("Re-resolution LLM call failed", &["error", "duration_ms"]),
    ("Failed to parse re-resolution response", &["error", "response"]),
    (
        "Contextual re-resolution completed",
        &["step_id", "capability", "should_retry", "analysis", "corrected_params", "duration_ms"],
    ),
    (
        "SEMANTIC RETRY: Applying corrected parameters",
        &["operation", "step_id", "capability", "analysis", "corrected_parameters", "semantic_retry_count"],
    ),
    ("Semantic retry failed", &["operation", "step_id", "error"]),
    ("Retry attempt", &["tool", "attempt", "reason"]),
    ("orchestration.process_request", &[]),
    ("orchestration.step_execution", &[]),
    ("http.client.request", &[]),
    ("validation_feedback_success", &[]),
    ("validation_feedback_failed", &[]),
    ("llm.synthesis.response", &[]),
    ("ai_agent_final_report_total", &[]),
    ("ai_agent_final_report_attempts_total", &[]),
    ("ai_agent_final_report_turns", &[]),
    ("ai_agent_retry_collapse_total", &[]),
    ("Call refused, requesting LLM correction", &[]),
    ("Parameter correction failed", &[]),
];

#[test]
fn each_name_has_its_contract_attributes() {
    let table = table();
    for (name, keys) in CONTRACT {
        let entry = table.iter().find(|entry| entry.name == *name).unwrap_or_else(|| panic!("there is no {name}"));
        let missing: Vec<&&str> = keys.iter().filter(|key| !entry.keys.contains(key)).collect();
        assert!(missing.is_empty(), "{name} has no {missing:?}");
    }
    for (case, events, _) in paths() {
        for signal in signals_of(&events) {
            for (name, found) in names_with_keys(&signal) {
                let entry = table.iter().find(|entry| entry.name == name).expect("it is in the table");
                let optional = name == "chat" || name == "http.client.request";
                assert!(optional || found == entry.keys, "case: {case}: {name} has {found:?}");
            }
        }
    }
}

/// The names in a signal, each with its keys.
fn names_with_keys(signal: &Signal) -> Vec<(&'static str, Vec<&'static str>)> {
    fn keys<T>(pairs: &[(&'static str, T)]) -> Vec<&'static str> {
        pairs.iter().map(|(key, _)| *key).collect()
    }
    match signal {
        Signal::Span(span) => std::iter::once((span.name, keys(&span.attributes)))
            .chain(span.events.iter().map(|event| (event.name, keys(&event.attributes))))
            .collect(),
        Signal::Metric(metric) => vec![(metric.name, keys(&metric.labels))],
        Signal::Log(line) => vec![(line.name, keys(&line.fields))],
    }
}

/// The metrics whose names begin with `prefix`.
fn counted(events: &[Event], prefix: &str) -> Vec<String> {
    metrics(&signals_of(events)).into_iter().filter(|metric| metric.name.starts_with(prefix)).map(shown).collect()
}

#[test]
fn planning_is_counted_once_and_each_unreadable_plan_each_time() {
    for (case, expected) in [
        ("a generated plan", vec!["plan_generation.total{module=\"orchestration\",status=\"success\"} 1"]),
        (
            "a plan on the second attempt",
            // Its first plan can be read, so it is no parse error.
            vec![
                "plan_generation.retries{module=\"orchestration\"} 1",
                "plan_generation.total{module=\"orchestration\",status=\"success\"} 1",
            ],
        ),
        (
            "no valid plan",
            vec![
                "plan_generation.parse_errors{module=\"orchestration\",will_retry=\"true\"} 1",
                "plan_generation.retries{module=\"orchestration\"} 1",
                "plan_generation.parse_errors{module=\"orchestration\",will_retry=\"true\"} 1",
                "plan_generation.retries{module=\"orchestration\"} 1",
                "plan_generation.parse_errors{module=\"orchestration\",will_retry=\"false\"} 1",
                "plan_generation.total{module=\"orchestration\",status=\"error\"} 1",
            ],
        ),
        ("a failing planner", vec!["plan_generation.total{module=\"orchestration\",status=\"success\"} 1"]),
    ] {
        let events = path(case);
        let mut found = counted(&events, "plan_generation.");
        let times = found.iter().filter(|line| line.starts_with("plan_generation.duration_ms")).count();
        assert_eq!(times, 1, "case: {case}: the duration is measured once");
        found.retain(|line| !line.starts_with("plan_generation.duration_ms"));
        assert_eq!(found, expected, "case: {case}");
    }
}

#[test]
fn each_question_is_counted_with_its_purpose_and_outcome() {
    for (case, expected) in [
        ("a generated plan", vec![("plan_generation", "success")]),
        ("a failing planner", vec![("plan_generation", "error"), ("plan_generation", "success")]),
        ("many tools", vec![("tiered_selection", "success"), ("plan_generation", "success")]),
        ("a resolved parameter", vec![("micro_resolution", "success")]),
        ("successful feedback", vec![("error_analysis", "success")]),
        ("successful context", vec![("error_analysis", "success"), ("semantic_retry", "success")]),
        ("a generated answer", vec![("synthesis", "success")]),
    ] {
        let found = counted(&path(case), "ai.request.total");
        let expected: Vec<String> = expected
            .iter()
            .map(|(purpose, status)| {
                let purpose = format!("provider=\"{purpose}\",purpose=\"{purpose}\"");
                format!("ai.request.total{{module=\"orchestration\",{purpose},status=\"{status}\"}} 1")
            })
            .collect();
        assert_eq!(found, expected, "case: {case}");
    }
}

/// The model advises to send the call again, but the policy allows no resends.
fn feedback_without_a_resend() -> Vec<Event> {
    let mut policy = policy();
    policy.resend.times = 0;
    policy.mending.context = 0;
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy));
    play.answer_tool("s/call/1", 400, BAD_AMOUNT);
    play.answer_model("s/feedback/1", r#"{"should_retry": false, "is_transient_error": true, "reason": "busy"}"#);
    assert!(play.run.answer().is_some(), "{:?}", play.due());
    play.events
}

#[test]
fn failed_feedback_is_counted_with_its_reason() {
    for (case, events, reasons) in [
        ("the answer cannot be parsed", path("unparsable feedback"), vec!["parse_error"]),
        ("the correction is rejected", path("rejected feedback"), vec!["refused"]),
        ("every request fails", path("failed feedback requests"), vec!["llm_error"]),
        ("no correction is left", path("exhausted feedback"), vec!["max_retries_exceeded"]),
        ("the run is cancelled", path("cancelled during feedback"), vec!["stopped"]),
        ("no resend is allowed", feedback_without_a_resend(), vec!["resends_spent"]),
        ("the correction is applied", path("successful feedback"), vec![]),
        ("the model advises to wait", path("feedback that advises to wait"), vec![]),
        ("the model advises against a retry", path("successful context"), vec![]),
    ] {
        let failed: Vec<String> = counted(&events, "orchestration.validation_feedback.failed");
        let found: Vec<&str> =
            failed.iter().filter_map(|line| line.split_once("reason=\"")?.1.split('"').next()).collect();
        assert_eq!(found, reasons, "case: {case}");
    }
}

#[test]
fn texts_are_truncated_to_their_contract_length() {
    let long = |length: usize| "word ".repeat(length / 5);
    let by_model = Policy { synthesis: Synthesis::Model, ..policy() };
    let mut play = Play::begin(started(None, by_model));
    play.answer_model("plan/ask/1", &format!("no plan: {}", long(9_000)));
    play.answer_model(
        "plan/ask/2",
        &format!(
            r#"{{"steps": [{{"step_id": "s", "agent_name": "t", "instruction": "{}", "metadata": {{"capability": "read"}}}}]}}"#,
            long(9_000)
        ),
    );
    play.answer_tool("s/call/1", 400, &format!(r#"{{"message": "{}"}}"#, long(9_000)));
    play.answer_model("s/feedback/1", &format!(r#"{{"should_retry": false, "reason": "{}"}}"#, long(9_000)));
    play.answer_model("s/context/1", &format!("I think: {}", long(9_000)));
    play.answer_model(
        "s/context/2",
        &format!(r#"{{"should_retry": true, "analysis": "{}", "corrected_parameters": {{"x": 1}}}}"#, long(9_000)),
    );
    play.answer_tool("s/call/2", 200, "{}");
    play.answer_model("answer/ask/1", &long(9_000));
    let signals = signals_of(&play.events);
    let spans = spans(&signals);
    let length = |name: &str, key: &str| {
        let event = spans.iter().flat_map(|span| &span.events).find(|event| event.name == name);
        let event = event.unwrap_or_else(|| panic!("{name} did not happen"));
        match event.attributes.iter().find(|(known, _)| *known == key) {
            Some((_, AttributeValue::Text(text))) => text.strip_suffix('…').map(str::len),
            other => panic!("{name} has {other:?} for {key}"),
        }
    };
    for (name, key, most) in [
        ("llm.plan_generation.response", "response", 2_000),
        ("error_analyzer.analysis_complete", "reason", 200),
        ("contextual_re_resolution.parse_error", "response", 200),
        ("contextual_re_resolution.complete", "analysis", 200),
        ("semantic_retry_applied", "analysis", 2_000),
        ("validation_feedback_started", "error", 500),
        ("llm.synthesis.response", "response", 2_000),
    ] {
        assert_eq!(length(name, key), Some(most), "{name}: {key}");
    }
}

#[test]
fn a_failed_question_is_logged_with_its_error_class() {
    let mut play = Play::begin(started(None, policy()));
    play.fail_model("plan/ask/1", ErrorClass::RateLimit);
    let signals = signals_of(&play.events);
    let line = lines(&signals).into_iter().find(|line| line.name == "LLM call failed").expect("the failure is logged");
    let class = line.fields.iter().find(|(name, _)| *name == "error_type").map(|(_, value)| value.to_string());
    assert_eq!(class.as_deref(), Some("rate_limit"));
}

#[test]
fn a_retry_is_logged_with_the_code_of_the_error_or_else_its_status() {
    let reasons = |events: &[Event]| {
        let signals = signals_of(events);
        let retries: Vec<String> = lines(&signals)
            .iter()
            .filter(|line| line.name == "Retry attempt")
            .flat_map(|line| line.fields.iter().filter(|(name, _)| *name == "reason"))
            .map(|(_, value)| value.to_string())
            .collect();
        retries
    };
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    let coded = r#"{"success": false, "error": {"code": "BUSY", "message": "later", "category": "SERVICE_ERROR"}}"#;
    play.answer_tool("s/call/1", 500, coded);
    assert_eq!(reasons(&play.events), ["BUSY"]);
    assert_eq!(reasons(&path("a busy service")), ["503", "transport"]);
}

#[test]
fn the_excerpt_of_a_prompt_for_a_plan_shows_the_request_and_the_last_problems() {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model("plan/ask/1", r#"{"steps": [{"step_id": "s", "agent_name": "nobody"}]}"#);
    play.answer_model(
        "plan/ask/2",
        r#"{"steps": [{"step_id": "s", "agent_name": "t", "metadata": {"capability": "read"}}]}"#,
    );
    play.answer_tool("s/call/1", 200, "{}");
    let signals = signals_of(&play.events);
    let prompts: Vec<String> = spans(&signals)
        .iter()
        .flat_map(|span| &span.events)
        .filter(|event| event.name == "llm.plan_generation.request")
        .flat_map(|event| event.attributes.iter().filter(|(name, _)| *name == "prompt"))
        .map(|(_, value)| value.to_string())
        .collect();
    let [first, second] = prompts.as_slice() else { panic!("two plans were asked for: {prompts:?}") };
    for prompt in [first, second] {
        assert!(prompt.contains("sell 100 shares") && prompt.replace('…', "").len() <= 2_000, "{prompt}");
    }
    assert!(second.contains("there is no tool `nobody`") && first != second, "{second}");
}

#[test]
fn second_plans_are_counted_by_their_outcome_and_first_ones_are_not() {
    let success = r#"orchestration.replanning.total{module="orchestration",status="success"} 1"#;
    let error = success.replace("success", "error");
    let accepted = a_second_plan(OTHER_PLAN);
    assert_eq!(accepted.due().first().map(String::as_str), Some("other/call/1"));
    let given_up = a_second_plan(r#"{"plan_id": "p", "steps": []}"#);
    assert!(given_up.run.answer().is_some(), "{:?}", given_up.due());
    for (case, events, expected) in [
        ("accepted", accepted.events, vec![success.to_owned()]),
        ("given up", given_up.events, vec![error]),
        ("no second plan", path("a generated plan"), Vec::new()),
    ] {
        assert_eq!(counted(&events, "orchestration.replanning"), expected, "case: {case}");
    }
}
