//! The signals that a collector receives, and the log.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use reknit_engine::{Metadata, Synthesis};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::{Plan, SideEffect, Step};
use reknit_runtime::telemetry::otlp::Otlp;
use reknit_runtime::{DriveOutcome, Runtime};
use tokio_util::task::AbortOnDropHandle;

use crate::exit_status::shopping;
use crate::world::{World, assert_bad_config, assert_ended, assert_refused, plan, text};

/// A collector that keeps all signals.
struct Collector {
    url: String,
    received: Arc<Mutex<Received>>,
    _server: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Received {
    /// How many more deliveries of traces are rejected.
    rejections: usize,
    traces: Vec<ExportTraceServiceRequest>,
    metrics: Vec<ExportMetricsServiceRequest>,
    keys: Vec<String>,
}

impl Collector {
    async fn start() -> Self {
        Self::rejecting(0).await
    }

    /// A collector that rejects the first deliveries of traces.
    async fn rejecting(rejections: usize) -> Self {
        let received = Arc::new(Mutex::new(Received { rejections, ..Received::default() }));
        let (traces, metrics) = (Arc::clone(&received), Arc::clone(&received));
        let key = |headers: &HeaderMap| {
            headers.get("x-key").map(|key| key.to_str().expect("the header is text").to_owned()).unwrap_or_default()
        };
        let app = Router::new()
            .route(
                "/v1/traces",
                post(move |headers: HeaderMap, body: Bytes| async move {
                    let mut received = traces.lock().expect("the lock is not poisoned");
                    if received.rejections > 0 {
                        received.rejections -= 1;
                        return StatusCode::SERVICE_UNAVAILABLE;
                    }
                    received.traces.push(ExportTraceServiceRequest::decode(body).expect("the body contains traces"));
                    received.keys.push(key(&headers));
                    StatusCode::OK
                }),
            )
            .route(
                "/v1/metrics",
                post(move |body: Bytes| async move {
                    let request = ExportMetricsServiceRequest::decode(body).expect("the body contains metrics");
                    metrics.lock().expect("the lock is not poisoned").metrics.push(request);
                }),
            );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let server =
            tokio::spawn(async move { axum::serve(listener, app).await.expect("the server runs until it is dropped") });
        Self { url, received, _server: AbortOnDropHandle::new(server) }
    }

    fn spans(&self) -> Vec<Span> {
        let received = self.received.lock().expect("the lock is not poisoned");
        let resources = received.traces.iter().flat_map(|request| &request.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
    }

    fn metrics(&self) -> BTreeSet<String> {
        let received = self.received.lock().expect("the lock is not poisoned");
        let resources = received.metrics.iter().flat_map(|request| &request.resource_metrics);
        let metrics = resources.flat_map(|resource| &resource.scope_metrics).flat_map(|scope| &scope.metrics);
        metrics
            .inspect(|metric| assert_eq!(metric.unit, "", "{}", metric.name))
            .map(|metric| metric.name.clone())
            .collect()
    }

    fn service(&self) -> String {
        let received = self.received.lock().expect("the lock is not poisoned");
        let resource = received.traces[0].resource_spans[0].resource.clone().expect("the resource is set");
        let name = resource
            .attributes
            .iter()
            .find(|attribute| attribute.key == "service.name")
            .expect("the service has a name");
        format!("{:?}", name.value)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

fn names(spans: &[Span]) -> BTreeSet<&str> {
    spans.iter().map(|span| span.name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_has_received_all_signals_when_the_command_ends() {
    let collector = Collector::start().await;
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()), ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=k")];
    let shown = World::new().reknit_with(&variables, &["demo"]);
    assert!(shown.starts_with("exit status 0") && !shown.contains("warning"), "{shown}");
    let spans = collector.spans();
    assert_eq!(
        Vec::from_iter(names(&spans)),
        ["chat", "http.client.request", "orchestration.process_request", "orchestration.step_execution"]
    );
    let roots: Vec<&Span> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    assert_eq!(roots.len(), 1);
    let chat = spans.iter().find(|span| span.name == "chat").expect("a model was asked");
    let provider = chat.attributes.iter().find(|attribute| attribute.key == "gen_ai.provider.name");
    let provider = format!("{:?}", provider.map(|attribute| &attribute.value));
    assert!(provider.contains("\"compatible\""), "the provider, not our name of the target: {provider}");
    for span in &spans {
        assert_eq!(span.trace_id, roots[0].trace_id);
        let has_parent = spans.iter().any(|other| other.span_id == span.parent_span_id);
        assert!(has_parent || span.parent_span_id.is_empty(), "{} has an unknown parent", span.name);
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
    }
    let events: BTreeSet<&str> = spans.iter().flat_map(|span| &span.events).map(|event| event.name.as_str()).collect();
    for event in [
        "llm.plan_generation.request",
        "llm.plan_generation.response",
        "type_coercion_applied",
        "validation_feedback_started",
        "error_analyzer.analysis_complete",
        "llm_error_analysis_no_retry",
        "contextual_re_resolution.start",
        "contextual_re_resolution.complete",
        "semantic_retry_applied",
        "resend_scheduled",
    ] {
        assert!(events.contains(event), "{event} is not in {events:?}");
    }
    let metrics = collector.metrics();
    for metric in [
        "orchestration.type_coercion.applied",
        "orchestration.semantic_retry.applied",
        "orchestration.semantic_retry.llm_latency_ms",
        "plan_generation.total",
        "ai.tokens.used",
        "tool.call.duration_ms",
    ] {
        assert!(metrics.contains(metric), "{metric} is not in {metrics:?}");
    }
    assert!(collector.service().contains("\"reknit\""), "{}", collector.service());
    assert!(collector.received.lock().expect("the lock is not poisoned").keys.iter().all(|key| key == "k"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_receives_the_span_of_its_call_in_the_trace_of_the_caller() {
    let collector = Collector::start().await;
    let tool =
        ScriptedTool::new("shop").capability("price", SideEffect::Read).on("price", CallMatcher::any(), Reply::data(7));
    let tool = tool.start().await.expect("it starts");
    let world = World::with_tools(&[&tool]).file("plan.json", &plan(&[("price", "{}")]));
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str());
    let variables = [endpoint, ("TRACEPARENT", parent.as_str()), ("OTEL_SERVICE_NAME", "till")];
    assert_ended(&world.reknit_with(&variables, &["run", "plan.json", "--answer", "template"]), 0, "");
    let spans = collector.spans();
    let call = spans.iter().find(|span| span.name == "http.client.request").expect("the call");
    let header = tool.calls().last().and_then(|call| call.traceparent.clone()).expect("the tool receives the header");
    assert_eq!(header, format!("00-{trace}-{}-01", hex(&call.span_id)));
    assert!(spans.iter().all(|span| hex(&span.trace_id) == trace));
    let root = spans.iter().find(|span| span.name == "orchestration.process_request").expect("the run");
    assert_eq!(hex(&root.parent_span_id), "b7ad6b7169203331");
    assert!(collector.service().contains("\"till\""));
}

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_never_receives_a_span_that_is_not_exported() {
    let collector = Collector::start().await;
    let metrics = format!("{}/v1/metrics", collector.url);
    let only_metrics = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", metrics.as_str());
    let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str());
    for (case, variables) in [
        ("no telemetry", vec![]),
        ("only a log", vec![("REKNIT_LOG", "info")]),
        ("only metrics", vec![only_metrics]),
        ("traces are disabled", vec![all, ("OTEL_TRACES_EXPORTER", "none")]),
        ("the SDK is disabled", vec![all, ("OTEL_SDK_DISABLED", "true")]),
    ] {
        for caller in [None, Some(CALLER)] {
            let tool = ScriptedTool::new("shop").capability("price", SideEffect::Read);
            let tool = tool.on("price", CallMatcher::any(), Reply::data(7)).start().await.expect("it starts");
            let world = World::with_tools(&[&tool]).file("plan.json", &plan(&[("price", "{}")]));
            let variables: Vec<_> = variables.iter().copied().chain(caller.map(|it| ("TRACEPARENT", it))).collect();
            let shown = world.reknit_with(&variables, &["run", "plan.json", "--answer", "template"]);
            assert!(shown.starts_with("exit status 0"), "case: {case}: {shown}");
            assert_eq!(tool.calls()[0].traceparent.as_deref(), caller, "case: {case}");
        }
    }
    assert_eq!(collector.spans(), []);
}

#[test]
fn log_lines_have_the_trace_of_the_caller_without_a_collector() {
    let variables = [("TRACEPARENT", CALLER), ("REKNIT_LOG", "info"), ("REKNIT_LOG_FORMAT", "json")];
    let world = World::new();
    let output = world.command(&["demo"]).envs(variables).output().expect("the command can be run");
    let stderr = text(&output.stderr);
    let lines: Vec<&str> = stderr.lines().filter(|line| line.starts_with('{')).collect();
    assert!(!lines.is_empty(), "{stderr}");
    for line in lines {
        let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        assert_eq!(line["trace_id"].as_str(), Some(&CALLER[3..35]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resumed_run_keeps_the_trace_and_the_metadata_with_which_it_started() {
    let collector = Collector::start().await;
    let (_shop, world) = shopping(&[("pay", r#"{"amount": 12.50}"#)]).await;
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str());
    let run = ["run", "--answer", "template", "--meta", "tenant=acme", "plan.json"];
    world.reknit_with(&[endpoint, ("TRACEPARENT", CALLER)], &run);
    world.reknit(&["runs", "approve", "last"]);
    let other = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    assert_ended(&world.reknit_with(&[endpoint, ("TRACEPARENT", other)], &["runs", "resume", "last"]), 0, "");
    let spans = collector.spans();
    assert_eq!(
        Vec::from_iter(names(&spans)),
        ["http.client.request", "orchestration.process_request", "orchestration.step_execution"]
    );
    assert!(spans.iter().all(|span| hex(&span.trace_id) == CALLER[3..35]));
    let root = spans.iter().find(|span| span.name == "orchestration.process_request").expect("the run");
    assert_eq!(hex(&root.parent_span_id), &CALLER[36..52]);
    assert!(root.attributes.iter().any(|attribute| attribute.key == "reknit.meta.tenant"), "{:?}", root.attributes);
}

#[test]
fn an_unreachable_collector_delays_the_exit_briefly_and_causes_one_warning() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let silent_url = format!("http://{}", silent.local_addr().expect("an address"));
    // A port without a listener.
    let closed = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    for (case, url) in [("connection refused", format!("http://{closed}")), ("no response", silent_url)] {
        let start = Instant::now();
        let shown = World::new().reknit_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)], &["demo"]);
        // It takes seconds; the limit is for a loaded machine.
        let took = start.elapsed();
        assert!(took < Duration::from_mins(1), "case: {case}: {took:?}");
        assert!(shown.starts_with("exit status 0"), "case: {case}: {shown}");
        assert_eq!(shown.matches("warning: telemetry was not delivered").count(), 1, "case: {case}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_that_are_lost_during_a_run_are_counted_in_a_warning_at_the_end() {
    let collector = Collector::rejecting(1).await;
    let url = collector.url.replace("http://", "http://me:s3cret@");
    // The short delay makes the exporter deliver spans during the run, and not only at its end.
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "10")];
    let shown = World::new().reknit_with(&variables, &["demo"]);
    assert!(shown.starts_with("exit status 0") && !shown.contains("s3cret"), "{shown}");
    let line = shown.lines().find(|line| line.starts_with("warning: ")).expect("there is a warning");
    let numbers: Vec<usize> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [lost, sent] = numbers[..] else { panic!("{line}") };
    let (address, why) = ("http://[redacted]@127.0.0.1:PORT", "HTTP export failed with status code: 503");
    let message = format!("telemetry was not delivered: {lost} of {sent} spans to {address}/v1/traces ({why})");
    assert_eq!(line, format!("warning: {message}"));
    assert!(lost > 0 && collector.spans().len() == sent - lost, "{line}, {} arrived", collector.spans().len());
    assert!(shown.contains("hint: check that a collector accepts OTLP over HTTP at this address"), "{shown}");
}

#[test]
fn invalid_telemetry_settings_are_errors_before_the_run_starts() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
    let world = World::new();
    assert_refused(
        &world.reknit_with(&[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], &["demo"]),
        "`OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`, but telemetry can only be sent as `http/protobuf`",
        "set it to `http/protobuf`, or unset it; collectors accept this protocol on port 4318",
    );
    assert_refused(
        &world.reknit_with(&[endpoint, ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s")], &["demo"]),
        "`OTEL_EXPORTER_OTLP_TIMEOUT` is `10s`; write a positive whole number of milliseconds",
        "`10000` is ten seconds; unset it for the default of three seconds",
    );
    assert_bad_config(
        &world.reknit_with(&[("REKNIT_LOG", "loud")], &["demo"]),
        r#"REKNIT_LOG: `log.level` is "loud"; write one of `off`, `error`, `warn`, `info`, `debug`"#,
    );
}

#[test]
fn the_log_is_written_to_standard_error_if_it_is_enabled() {
    let run = |variables: &[(&str, &str)]| {
        let world = World::new();
        let mut command = world.command(&["demo"]);
        let output = command.envs(variables.iter().copied()).output().expect("the command can be run");
        text(&output.stderr)
    };
    let quiet = run(&[]);
    assert!(!quiet.contains("framework/orchestration"), "{quiet}");
    let lines = run(&[("REKNIT_LOG", "warn"), ("REKNIT_LOG_FORMAT", "json")]);
    let lines: Vec<&str> = lines.lines().filter(|line| line.starts_with('{')).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let line: serde_json::Value = serde_json::from_str(lines[0]).expect("it is JSON");
    assert_eq!((line["level"].as_str(), line["message"].as_str()), (Some("warn"), Some("Step failed")));
    assert_eq!(
        (line["component"].as_str(), line["step_id"].as_str()),
        (Some("framework/orchestration"), Some("step-5"))
    );
    let info = run(&[("REKNIT_LOG", "info")]);
    for words in ["INFO  framework/orchestration SEMANTIC RETRY: Applying corrected parameters", "Request ended"] {
        assert!(info.contains(words), "{words} is not in {info}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_uses_the_library_exports_to_the_collector_of_its_variables() {
    let (collector, tool) = (Collector::start().await, ScriptedTool::new("shop").capability("price", SideEffect::Read));
    let tool = tool.on("price", CallMatcher::any(), Reply::data(5)).start().await.expect("the tool starts");
    let url = collector.url.clone();
    let environment = move |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| url.clone());
    let exporter = Otlp::from_environment(&environment).expect("the variables are valid").expect("a collector is set");
    let reknit =
        Runtime::from_builder(Runtime::builder().tool("shop", &tool.base_url()).answer_by(Synthesis::Template)).await;
    let parent = CALLER.parse().expect("a parent span");
    let reknit = reknit.expect("the library starts").with_collector(&exporter, Some(parent));
    let metadata = Metadata::from_pairs([("tenant", "acme"), ("api_key", "hunter2")]).expect("the metadata is valid");
    let plan = Plan::new("p", "the price", vec![Step::new("s", "shop", "price", "")]);
    let started = reknit.started("the price", Some(plan)).with_metadata(metadata);
    let outcome = reknit.driver().start(started).await.expect("the run is driven");
    assert!(matches!(outcome, DriveOutcome::Finished(_)), "{outcome:?}");
    exporter.deliver().await.expect("every signal is delivered");

    let spans = collector.spans();
    assert_eq!(
        Vec::from_iter(names(&spans)),
        ["http.client.request", "orchestration.process_request", "orchestration.step_execution"]
    );
    let root = spans.iter().find(|span| span.name == "orchestration.process_request").expect("the span of the run");
    assert_eq!((hex(&root.trace_id), hex(&root.parent_span_id)), (CALLER[3..35].to_owned(), CALLER[36..52].to_owned()));
    let attribute = |key: &str| {
        let found = root.attributes.iter().find(|attribute| attribute.key == key);
        format!("{:?}", found.and_then(|attribute| attribute.value.as_ref()?.value.as_ref()))
    };
    assert!(attribute("reknit.meta.tenant").contains("\"acme\""), "{}", attribute("reknit.meta.tenant"));
    assert!(attribute("reknit.meta.api_key").contains("[redacted]"), "{}", attribute("reknit.meta.api_key"));
    assert!(collector.metrics().contains("tool.call.total"), "{:?}", collector.metrics());
}

#[test]
fn a_program_exports_nothing_if_its_variables_name_no_collector() {
    let exporter = Otlp::from_environment(&|_| None).expect("no variable is invalid");
    assert!(exporter.is_none(), "{exporter:?}");
    let invalid = |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| "me:s3cret@a:4318".to_owned());
    let error = Otlp::from_environment(&invalid).expect_err("the address has no scheme").to_string();
    assert!(error.contains("write an http or https address") && !error.contains("s3cret"), "{error}");
}
