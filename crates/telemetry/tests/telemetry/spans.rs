//! The content of spans, span events, metrics and log lines of a run.

use std::sync::Arc;

use reknit_engine::{Machine, Metadata, Started};
use reknit_telemetry::{AttributeValue, ModelIdentity, Signal, SpanStatus, TraceContext, Tracer};

use crate::paths::{paths, successful_context};
use crate::run_world::{Play, plan, policy, started, step};
use crate::signals::{attributes, lines, metrics, shown, signals_of, spans};

#[test]
fn the_spans_and_events_of_a_mended_call_show_each_rung() {
    let signals = signals_of(&successful_context());
    let spans = spans(&signals);
    let name = |id| spans.iter().find(|span| Some(span.id) == id).map_or("no parent", |span| span.name);
    let mut shown = Vec::new();
    for span in &spans {
        shown.push(format!("{} in {}, {} ms", span.name, name(span.parent), span.end_ms - span.start_ms));
        shown.extend(span.events.iter().map(|event| format!("  {} at {}", event.name, event.at_ms - 1_000)));
    }
    insta::assert_snapshot!(shown.join("\n"), @"
    http.client.request in orchestration.step_execution, 0 ms
    orchestration.step_execution in orchestration.process_request, 0 ms
    http.client.request in orchestration.step_execution, 20 ms
    chat in orchestration.step_execution, 342 ms
    chat in orchestration.step_execution, 1247 ms
    http.client.request in orchestration.step_execution, 30 ms
    orchestration.step_execution in orchestration.process_request, 1639 ms
      validation_feedback_started at 20
      error_analyzer.llm_call_start at 20
      error_analyzer.analysis_complete at 362
      llm_error_analysis_no_retry at 362
      contextual_re_resolution.start at 362
      contextual_re_resolution.complete at 1609
      semantic_retry_applied at 1609
    orchestration.process_request in no parent, 1639 ms
    ");
}

#[test]
fn the_spans_of_a_mended_call_have_all_attributes() {
    let signals = signals_of(&successful_context());
    let spans = spans(&signals);
    let shown: Vec<String> = spans
        .iter()
        .skip(2)
        .filter(|span| span.name != "chat")
        .map(|span| format!("== {} {:?}\n{}", span.name, span.status, attributes(&span.attributes)))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    == http.client.request Error("400 INVALID_FORMAT: amount must be greater than 0")
    request_id: run-1
    step_id: convert
    agent: t
    capability: convert
    attempt: 1
    http.request.method: POST
    http.response.status_code: 400
    error.type: 400
    == http.client.request Ok
    request_id: run-1
    step_id: convert
    agent: t
    capability: convert
    attempt: 2
    http.request.method: POST
    http.response.status_code: 200
    == orchestration.step_execution Ok
    request_id: run-1
    step_id: convert
    agent: t
    capability: convert
    instruction: do convert
    status: done
    reason:
    calls: 2
    mends: 2
    == orchestration.process_request Ok
    request_id: run-1
    request: sell 100 shares
    mode: plan
    status: complete
    reason:
    steps: 2
    tool_calls: 3
    model_calls: 2
    input_tokens: 20
    output_tokens: 10
    "#);
}

#[test]
fn the_span_events_of_a_mended_call_have_all_attributes() {
    let signals = signals_of(&successful_context());
    let spans = spans(&signals);
    let events = spans.iter().flat_map(|span| &span.events);
    let shown: Vec<String> =
        events.map(|event| format!("-- {}\n{}", event.name, attributes(&event.attributes))).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    -- validation_feedback_started
    step_id: convert
    capability: convert
    agent: t
    attempt: 1
    error: 400 INVALID_FORMAT: amount must be greater than 0
    orchestration.type_error: false
    -- error_analyzer.llm_call_start
    step_id: convert
    capability: convert
    http_status: 400
    -- error_analyzer.analysis_complete
    step_id: convert
    capability: convert
    should_retry: false
    reason: the amount is not known here
    suggested_changes_count: 0
    total_duration_ms: 342
    -- llm_error_analysis_no_retry
    step_id: convert
    reason: the amount is not known here
    -- contextual_re_resolution.start
    step_id: convert
    capability: convert
    retry_count: 0
    http_status: 400
    source_data_keys: 1
    source_data_names: quote.current_price
    independent_step: false
    -- contextual_re_resolution.complete
    should_retry: true
    analysis: 100 shares at that price
    corrected_params_count: 1
    duration_ms: 1247
    -- semantic_retry_applied
    step_id: convert
    capability: convert
    analysis: 100 shares at that price
    corrected_params: {"amount":46828.5,"to":"KRW"}
    "#);
}

#[test]
fn a_chat_span_has_the_standard_gen_ai_attributes() {
    let signals = signals_of(&successful_context());
    let spans = spans(&signals);
    let chat = spans.iter().find(|span| span.name == "chat").expect("a model was asked");
    insta::assert_snapshot!(attributes(&chat.attributes), @"
    request_id: run-1
    purpose: error_analysis
    reknit.target: a
    attempt: 1
    status: success
    gen_ai.operation.name: chat
    gen_ai.provider.name: a
    gen_ai.request.model: a
    gen_ai.request.max_tokens: 500
    gen_ai.request.temperature: 0
    gen_ai.response.model: m
    gen_ai.response.id:
    gen_ai.response.finish_reasons: complete
    gen_ai.usage.input_tokens: 10
    gen_ai.usage.output_tokens: 5
    ");
}

#[test]
fn a_chat_span_names_the_provider_and_the_model_of_its_target() {
    let events = successful_context();
    let (machine, decided) = Machine::replay(&events).expect("the events are replayed").expect("there are events");
    let identity = ModelIdentity { provider: "openai".to_owned(), model: "gpt-5".to_owned() };
    let models = Arc::new([("a".into(), identity)].into());
    let mut tracer = Tracer::new(TraceContext::new(machine.id(), None)).with_models(models);
    let signals: Vec<Signal> =
        events.iter().zip(&decided).flat_map(|(event, records)| tracer.observe(event.at_ms, records)).collect();
    let chat = spans(&signals).into_iter().find(|span| span.name == "chat").expect("a model was asked");
    let value = |key: &str| chat.attributes.iter().find(|(name, _)| *name == key).map(|(_, value)| value.to_string());
    let values = ["gen_ai.provider.name", "gen_ai.request.model", "reknit.target"].map(|key| value(key).unwrap());
    assert_eq!(values, ["openai", "gpt-5", "a"]);
}

#[test]
fn the_span_of_a_rejected_call_has_the_message_of_the_tool_also_inside_a_2xx_status() {
    for (status, error_type) in [(404, "404"), (200, "tool_error")] {
        let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
        let body =
            r#"{"success": false, "error": {"code": "GONE", "message": "no such town", "category": "AUTH_ERROR"}}"#;
        play.answer_tool("s/call/1", status, body);
        let signals = signals_of(&play.events);
        let call = spans(&signals).into_iter().find(|span| span.name == "http.client.request").expect("a call");
        let SpanStatus::Error(message) = &call.status else { panic!("{status}: the span is {:?}", call.status) };
        assert!(message.contains("no such town"), "{status}: {message}");
        let found = call.attributes.iter().find(|(name, _)| *name == "error.type").map(|(_, value)| value.to_string());
        assert_eq!(found.as_deref(), Some(error_type));
        let counted = metrics(&signals).into_iter().find(|metric| metric.name == "tool.call.total").map(shown);
        assert!(counted.as_ref().is_some_and(|counted| counted.contains("status=\"error\"")), "{status}: {counted:?}");
    }
}

#[test]
fn a_call_that_succeeds_after_a_correction_is_logged_with_its_rung() {
    let signals = signals_of(&successful_context());
    let line = lines(&signals).into_iter().find(|line| line.name == "Call succeeded after correction");
    let fields = attributes(&line.expect("a line").fields);
    assert!(fields.contains("step_id: convert") && fields.contains("rung: context"), "{fields}");
}

#[test]
fn the_metrics_of_a_mended_call_have_closed_labels() {
    let signals = signals_of(&successful_context());
    let shown: Vec<String> = metrics(&signals).into_iter().map(shown).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    tool.call.total{capability="read",agent="t",module="orchestration",status="success"} 1
    tool.call.duration_ms{capability="read",agent="t",module="orchestration",status="success"} 0
    orchestration.steps.total{capability="read",agent="t",module="orchestration",status="done"} 1
    tool.call.total{capability="convert",agent="t",module="orchestration",status="error"} 1
    tool.call.duration_ms{capability="convert",agent="t",module="orchestration",status="error"} 20
    orchestration.validation_feedback.attempts{capability="convert",agent="t",module="orchestration"} 1
    ai.request.total{module="orchestration",provider="error_analysis",purpose="error_analysis",status="success"} 1
    ai.request.duration_ms{module="orchestration",provider="error_analysis",purpose="error_analysis",status="success"} 342
    ai.tokens.used{module="orchestration",provider="error_analysis",purpose="error_analysis",type="input"} 10
    ai.tokens.used{module="orchestration",provider="error_analysis",purpose="error_analysis",type="output"} 5
    orchestration.error_analysis.no_retry{capability="convert",http_status="400",module="orchestration"} 1
    orchestration.semantic_retry.attempts{capability="convert",module="orchestration"} 1
    ai.request.total{module="orchestration",provider="semantic_retry",purpose="semantic_retry",status="success"} 1
    ai.request.duration_ms{module="orchestration",provider="semantic_retry",purpose="semantic_retry",status="success"} 1247
    ai.tokens.used{module="orchestration",provider="semantic_retry",purpose="semantic_retry",type="input"} 10
    ai.tokens.used{module="orchestration",provider="semantic_retry",purpose="semantic_retry",type="output"} 5
    orchestration.semantic_retry.llm_latency_ms{capability="convert",module="orchestration"} 1247
    orchestration.semantic_retry.success{capability="convert",module="orchestration"} 1
    orchestration.semantic_retry.applied{capability="convert",module="orchestration"} 1
    tool.call.total{capability="convert",agent="t",module="orchestration",status="success"} 1
    tool.call.duration_ms{capability="convert",agent="t",module="orchestration",status="success"} 30
    orchestration.steps.total{capability="convert",agent="t",module="orchestration",status="done"} 1
    orchestration.requests.total{module="orchestration",status="complete"} 1
    orchestration.requests.duration_ms{module="orchestration",status="complete"} 1639
    "#);
}

#[test]
fn the_log_lines_of_a_mended_call_have_their_contract_messages() {
    let signals = signals_of(&successful_context());
    let shown: Vec<String> = lines(&signals)
        .iter()
        .map(|line| {
            let fields: Vec<String> = line.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{} {} {} [{}]", line.severity.as_str(), line.source, line.message, fields.join(" "))
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    INF framework/orchestration Request started [operation=process_request request_id=run-1 request=sell 100 shares]
    INF framework/orchestration Call refused, requesting LLM correction [operation=validation_feedback step_id=convert validation_retry=1 error=400 INVALID_FORMAT: amount must be greater than 0]
    INF framework/orchestration LLM error analysis: not retryable [operation=error_analysis_no_retry step_id=convert capability=convert http_status=400 reason=the amount is not known here]
    INF framework/orchestration Starting contextual re-resolution [step_id=convert capability=convert http_status=400 source_data_keys=1 source_data_names=quote.current_price]
    INF framework/orchestration Contextual re-resolution completed [step_id=convert capability=convert should_retry=true analysis=100 shares at that price corrected_params={"amount":"{{100 * quote.current_price}}"} duration_ms=1247]
    INF framework/orchestration SEMANTIC RETRY: Applying corrected parameters [operation=semantic_retry_applied step_id=convert capability=convert analysis=100 shares at that price corrected_parameters={"amount":46828.5,"to":"KRW"} semantic_retry_count=1]
    INF framework/orchestration Call succeeded after correction [operation=step_execution step_id=convert capability=convert rung=context attempt=2]
    FIN framework/orchestration Request ended [operation=process_request request_id=run-1 status=complete reason= duration_ms=1639]
    "#);
}

#[test]
fn texts_are_truncated_and_secrets_redacted() {
    let parameters = format!(r#"{{"amount": 0, "to": "{}"}}"#, "x".repeat(9_000));
    let given = Started {
        request: format!("use api_key=hunter2 {}", "y".repeat(9_000)),
        ..started(Some(plan(vec![step("s", "convert", &parameters)])), policy())
    };
    let mut play = Play::begin(given);
    play.answer_tool("s/call/1", 400, r#"{"error": {"message": "Authorization: Bearer abcdefgh12345678 is wrong"}}"#);
    play.answer_model("s/feedback/1", r#"{"should_retry": true, "suggested_changes": {"amount": 1}}"#);
    play.answer_tool("s/call/2", 200, "{}");
    let signals = signals_of(&play.events);
    let attributes = spans(&signals)
        .into_iter()
        .flat_map(|span| span.attributes.iter().chain(span.events.iter().flat_map(|event| event.attributes.iter())));
    let fields = lines(&signals).into_iter().flat_map(|line| line.fields.iter());
    let mut seen = 0;
    for (name, value) in attributes.chain(fields) {
        if let AttributeValue::Text(text) = value {
            assert!(text.len() <= 2_003, "{name} has {} bytes", text.len());
            assert!(!text.contains("hunter2") && !text.contains("abcdefgh12345678"), "{name}: {text}");
            seen += usize::from(text.contains("[redacted]"));
        }
    }
    assert!(seen >= 3, "a redacted text contains a marker");
}

#[test]
fn the_span_of_a_run_has_the_metadata_of_the_request_redacted() {
    let pairs = [("tenant", "acme"), ("user.token", "hunter2"), ("note", "Authorization: Bearer abcdefgh12345678")];
    let metadata = Metadata::from_pairs(pairs).expect("the metadata is valid");
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy()).with_metadata(metadata));
    play.answer_tool("s/call/1", 200, "{}");
    let signals = signals_of(&play.events);
    for span in spans(&signals) {
        let shown: Vec<String> = span.metadata.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let expected: &[&str] = match span.name {
            "orchestration.process_request" => &[
                "reknit.meta.note=Authorization: [redacted]",
                "reknit.meta.tenant=acme",
                "reknit.meta.user.token=[redacted]",
            ],
            _ => &[],
        };
        assert_eq!(shown, expected, "{}", span.name);
    }
}

#[test]
fn every_span_of_a_run_lies_within_its_parent() {
    for (case, events, _) in paths() {
        let signals = signals_of(&events);
        let spans = spans(&signals);
        let roots: Vec<_> = spans.iter().filter(|span| span.parent.is_none()).collect();
        assert_eq!(roots.len(), 1, "case: {case}");
        for span in &spans {
            assert!(span.end_ms >= span.start_ms, "case: {case}: {span:?}");
            let Some(parent) = span.parent else { continue };
            let parent = spans.iter().find(|other| other.id == parent);
            let parent = parent.unwrap_or_else(|| panic!("case: {case}: {} has an unknown parent", span.name));
            assert!(parent.start_ms <= span.start_ms && parent.end_ms >= span.end_ms, "case: {case}: {span:?}");
        }
        let mut ids: Vec<String> = spans.iter().map(|span| span.id.to_string()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), spans.len(), "case: {case}: two spans have the same id");
    }
}

#[test]
fn a_run_with_a_remote_parent_belongs_to_the_trace_of_that_parent() {
    let events = crate::paths::a_plan_that_works();
    let (mut machine, records) = Machine::begin(&events[0]).expect("the run starts");
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().expect("the header is valid");
    let context = TraceContext::new(machine.id(), Some(parent));
    let call = context.span("s/call/1");
    let mut tracer = Tracer::new(context);
    let mut signals = tracer.observe(events[0].at_ms, &records);
    let records = machine.apply(&events[1]).expect("the event is applied");
    signals.extend(tracer.observe(events[1].at_ms, &records));
    let spans = spans(&signals);
    assert!(spans.iter().all(|span| span.trace.to_string() == "0af7651916cd43dd8448eb211c80319c"));
    let root = spans.last().expect("the run");
    assert_eq!(
        (root.parent.map(|id| id.to_string()).as_deref(), root.parent_is_remote),
        (Some("b7ad6b7169203331"), true)
    );
    assert_eq!(spans[0].id, call, "the tool received the id of the span that calls it");
}

#[test]
fn the_span_of_a_failed_step_has_an_error_status() {
    let mut play = Play::of_steps(vec![step("s", "read", "{}"), step("next", "read", "{}").after("s")]);
    play.answer_tool("s/call/1", 401, r#"{"error": "who are you?"}"#);
    let signals = signals_of(&play.events);
    let names: Vec<(&str, bool)> =
        spans(&signals).iter().map(|span| (span.name, span.status == SpanStatus::Ok)).collect();
    assert_eq!(
        names,
        [
            ("http.client.request", false),
            ("orchestration.step_execution", false),
            ("orchestration.process_request", false)
        ],
        "a skipped step has no span"
    );
    let failed = signals.iter().filter(|signal| matches!(signal, Signal::Log(line) if line.message == "Step failed"));
    assert_eq!(failed.count(), 1);
}
