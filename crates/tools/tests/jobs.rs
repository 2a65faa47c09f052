//! Jobs of services over real loopback HTTP.
#![cfg(test)]

mod support;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Response, Uri};
use reknit_protocol::{
    CallTool, HttpMethod, JobRequest, SideEffect, ToolJob, ToolReply, TransportFailure, TransportKind, Value,
};
use reknit_tools::{
    Address, BodyFormat, Client, Credential, DefinedCapability, Discovery, HttpOptions, HttpService,
    PlainHttpCapability, PlainHttpOptions, PlainHttpService, ToolService, ToolSource, discover,
};

use support::new_call;

const MAX_BODY: usize = 10_000;

/// One answer of the service: status, headers and body.
type Answer = (u16, Vec<(&'static str, String)>, &'static str);

fn answer(status: u16, headers: &[(&'static str, &str)], body: &'static str) -> Answer {
    (status, headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(), body)
}

/// One request to the service: method, URI and credentials.
type Asked = (Method, String, Option<String>);

/// A service that gives its answers one after the other, and keeps the requests.
#[derive(Clone, Default)]
struct Service {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    requests: Arc<Mutex<Vec<Asked>>>,
}

impl Service {
    async fn start(&self) -> String {
        let service = self.clone();
        let router = Router::new().fallback(move |method: Method, uri: Uri, headers: HeaderMap, _: Bytes| {
            let service = service.clone();
            async move { service.respond(method, &uri, &headers) }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    fn respond(&self, method: Method, uri: &Uri, headers: &HeaderMap) -> Response<Body> {
        if uri.path().ends_with("/api/capabilities") {
            return Response::new(Body::from(r#"[{"name": "print"}]"#));
        }
        if uri.path().ends_with("/schema") {
            return Response::builder().status(404).body(Body::empty()).expect("a response");
        }
        let key = headers.get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
        self.requests.lock().expect("no panic").push((method, uri.to_string(), key));
        let next = self.answers.lock().expect("no panic").pop_front();
        let (status, headers, body) = next.unwrap_or_else(|| answer(500, &[], "no answer is left"));
        let mut response = Response::builder().status(status).header("content-type", "application/json");
        for (name, value) in headers {
            response = response.header(name, value);
        }
        response.body(Body::from(body)).expect("a response")
    }

    fn will(&self, answers: Vec<Answer>) {
        self.answers.lock().expect("no panic").extend(answers);
    }

    fn requests(&self) -> Vec<Asked> {
        self.requests.lock().expect("no panic").clone()
    }
}

fn call(job: Option<JobRequest>) -> CallTool {
    CallTool { job, ..new_call("t", "print", SideEffect::Unsafe) }
}

/// A service with one capability, `print`, that is called with a bearer token.
struct Scene {
    service: Service,
    base: String,
    discovery: Discovery,
}

impl Scene {
    async fn new() -> Self {
        Self::at("").await
    }

    async fn at(path: &str) -> Self {
        let service = Service::default();
        let base = service.start().await;
        let credentials = vec![Credential::Bearer("token-1".into())];
        let options = HttpOptions { credentials, max_body: MAX_BODY, ..HttpOptions::default() };
        let address = Address::parse("t", &format!("{base}{path}")).expect("an address");
        let client = Client::new().expect("a client");
        let http = HttpService::new(address, client, options).expect("a service");
        let sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(ToolService::new(http))];
        let discovery = discover(&sources).await;
        Self { service, base, discovery }
    }

    async fn call(&self) -> ToolReply {
        self.discovery.tools.call(&call(None)).await.expect("an answer")
    }

    async fn ask(&self, handle: &str) -> Result<ToolReply, TransportFailure> {
        self.discovery.tools.call(&call(Some(JobRequest::Ask(handle.to_owned())))).await
    }
}

fn asks(handle: String) -> ToolJob {
    ToolJob::Ask { handle }
}

#[tokio::test]
async fn a_202_with_a_status_url_is_a_job_wherever_the_url_is() {
    let scene = Scene::new().await;
    for (headers, body) in [
        (vec![("location", "/jobs/7?full=1")], "{}"),
        (vec![("operation-location", "/jobs/7?full=1"), ("location", "/things/9")], "{}"),
        (vec![("content-location", "/jobs/7?full=1")], ""),
        (vec![], r#"{"status_url": "/jobs/7?full=1", "status": "queued"}"#),
        (vec![], r#"{"statusUrl": "/jobs/7?full=1#top"}"#),
        (vec![], r#"{"links": {"status": "/jobs/7?full=1"}}"#),
        (vec![], r#"{"_links": {"status": {"href": "/jobs/7?full=1"}}}"#),
    ] {
        let headers: Vec<(&str, &str)> = headers.into_iter().chain([("retry-after", "7")]).collect();
        scene.service.will(vec![answer(202, &headers, body)]);
        let reply = scene.call().await;
        assert_eq!(reply.job, Some(asks(format!("{}/jobs/7?full=1", scene.base))), "{body}");
        assert_eq!((reply.status, reply.retry_after_ms), (202, Some(7_000)));
    }
}

#[tokio::test]
async fn a_202_without_a_status_url_is_a_result_and_so_is_a_201_with_a_location() {
    let scene = Scene::new().await;
    scene.service.will(vec![answer(202, &[], r#"{"id": 9}"#), answer(201, &[("location", "/things/9")], "{}")]);
    let reply = scene.call().await;
    assert_eq!((reply.job, reply.body.to_value().to_string()), (None, r#"{"id":9}"#.to_owned()));
    assert_eq!(scene.call().await.job, None);
}

#[tokio::test]
async fn a_status_url_at_another_host_is_not_followed() {
    let (scene, other) = (Scene::new().await, Service::default());
    let elsewhere = other.start().await;
    scene.service.will(vec![answer(202, &[("location", &format!("{elsewhere}/jobs/7"))], "{}")]);
    let Some(ToolJob::NotFollowed { reason }) = scene.call().await.job else { panic!("it is not followed") };
    assert_eq!(
        reason,
        format!("its status URL is at another host ({elsewhere}) than the service, and is not followed")
    );
    // Nor is a handle that was stored before the address of the service changed.
    let failure = scene.ask(&format!("{elsewhere}/jobs/7")).await.expect_err("it is not asked");
    assert_eq!(failure.kind, TransportKind::NotCallable);
    scene.service.will(vec![answer(303, &[("location", &format!("{elsewhere}/things/9"))], "")]);
    let reply = scene.ask(&format!("{}/jobs/7", scene.base)).await.expect("an answer");
    assert!(matches!(reply.job, Some(ToolJob::NotFollowed { .. })), "{:?}", reply.job);
    assert_eq!(other.requests(), []);
}

#[tokio::test]
async fn a_status_url_is_asked_with_the_credentials_of_the_service_which_are_not_part_of_the_handle() {
    let scene = Scene::at("/v1?key=hunter222").await;
    scene.service.will(vec![
        answer(202, &[("location", "/jobs/7?key=hunter222&token=token-1&full=1")], "{}"),
        answer(200, &[], r#"{"status": "running"}"#),
    ]);
    let handle = format!("{}/jobs/7?full=1", scene.base);
    assert_eq!(scene.call().await.job, Some(asks(handle.clone())));
    scene.ask(&handle).await.expect("an answer");
    let requests = scene.service.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(
        requests[1],
        (Method::GET, "/jobs/7?key=hunter222&full=1".to_owned(), Some("Bearer token-1".to_owned()))
    );
}

#[tokio::test]
async fn a_status_url_with_a_credential_in_its_path_is_not_followed() {
    let scene = Scene::new().await;
    scene.service.will(vec![answer(202, &[("location", "/jobs/token-1/7")], "{}")]);
    let reason = "its status URL contains a credential, and is not followed".to_owned();
    assert_eq!(scene.call().await.job, Some(ToolJob::NotFollowed { reason }));
}

#[tokio::test]
async fn a_job_whose_result_is_too_large_is_not_asked_about_again() {
    let scene = Scene::new().await;
    scene.service.will(vec![answer(200, &[], " ".repeat(MAX_BODY + 1).leak())]);
    let job = scene.ask(&format!("{}/jobs/7", scene.base)).await.expect("an answer").job;
    let Some(ToolJob::NotFollowed { reason }) = job else { panic!("it is not followed: {job:?}") };
    assert!(reason.ends_with("the body is larger than 10000 bytes"), "{reason}");
}

#[tokio::test]
async fn the_answers_of_a_status_url_tell_the_state_of_the_job() {
    let scene = Scene::new().await;
    let handle = format!("{}/jobs/7", scene.base);
    let running = || Some(asks(handle.clone()));
    for (answers, status, job, body) in [
        (vec![answer(202, &[], "{}")], 202, running(), "{}"),
        (vec![answer(202, &[("location", "/jobs/8")], "")], 202, Some(asks(format!("{}/jobs/8", scene.base))), "null"),
        (vec![answer(200, &[], r#"{"status": "running"}"#)], 200, running(), r#"{"status":"running"}"#),
        (vec![answer(200, &[], r#"{"status": "succeeded", "result": {"id": 9}}"#)], 200, None, r#"{"id":9}"#),
        (vec![answer(200, &[], r#"{"id": 9}"#)], 200, None, r#"{"id":9}"#),
        (
            vec![answer(303, &[("location", "/things/9")], ""), answer(200, &[], r#"{"id": 9}"#)],
            200,
            None,
            r#"{"id":9}"#,
        ),
        (
            vec![answer(200, &[], r#"{"status": "failed", "error": {"status": 422, "message": "no"}}"#)],
            422,
            None,
            r#"{"status":"failed","error":{"status":422,"message":"no"}}"#,
        ),
        (vec![answer(503, &[], "")], 503, running(), "null"),
        (vec![answer(401, &[], "")], 401, running(), "null"),
    ] {
        scene.service.will(answers);
        let reply = scene.ask(&handle).await.expect("an answer");
        assert_eq!((reply.status, reply.job, reply.body.to_value().to_string()), (status, job, body.to_owned()));
    }
    for status in [404, 410] {
        scene.service.will(vec![answer(status, &[], "")]);
        let job = scene.ask(&handle).await.expect("an answer").job;
        assert!(matches!(job, Some(ToolJob::Lost { .. })), "{status}: {job:?}");
    }
    scene.service.will(vec![answer(422, &[], "")]);
    let job = scene.ask(&handle).await.expect("an answer").job;
    assert!(matches!(job, Some(ToolJob::NotFollowed { .. })), "{job:?}");
    assert!(scene.service.requests().iter().all(|(method, ..)| method == Method::GET), "the call is not made again");
}

#[tokio::test]
async fn a_job_over_http_cannot_be_cancelled_and_nothing_is_sent() {
    let scene = Scene::new().await;
    let cancel = call(Some(JobRequest::Cancel(format!("{}/jobs/7", scene.base))));
    let failure = scene.discovery.tools.call(&cancel).await.expect_err("it cannot be cancelled");
    assert!(failure.message.contains("cannot be cancelled"), "{failure}");
    assert_eq!(scene.service.requests(), []);
}

#[tokio::test]
async fn the_result_of_a_job_is_where_the_definition_of_a_plain_service_says() {
    let service = Service::default();
    let base = service.start().await;
    let options = PlainHttpOptions {
        capability: DefinedCapability {
            tool: "t".into(),
            name: "print".into(),
            description: String::new(),
            effect: SideEffect::Unsafe,
            schema: Value::parse(r#"{"type": "object"}"#).expect("a schema"),
        },
        address: Address::parse("t", &base).expect("an address"),
        method: HttpMethod::Post,
        path: "/print".to_owned(),
        query: Vec::new(),
        headers: Vec::new(),
        body: None,
        body_format: BodyFormat::Json,
        result: Some("data.id".to_owned()),
        looks_for_errors: true,
        http: HttpOptions::default(),
    };
    let capability = PlainHttpCapability::new(options).expect("a capability");
    let source = PlainHttpService::new(capability, Client::new().expect("a client")).expect("a service");
    let discovery = discover(&[Arc::new(source) as Arc<dyn ToolSource>]).await;
    service.will(vec![
        answer(202, &[("location", "/jobs/7")], ""),
        answer(200, &[], r#"{"status": "done", "result": {"data": {"id": 9}}}"#),
        answer(200, &[], r#"{"status": "done", "result": {}}"#),
    ]);
    let handle = format!("{base}/jobs/7");
    assert_eq!(discovery.tools.call(&call(None)).await.expect("an answer").job, Some(asks(handle.clone())));
    let ask = call(Some(JobRequest::Ask(handle)));
    assert_eq!(discovery.tools.call(&ask).await.expect("an answer").body.to_value(), Value::from(9));
    let job = discovery.tools.call(&ask).await.expect("an answer").job;
    let Some(ToolJob::NotFollowed { reason }) = job else { panic!("it has no result: {job:?}") };
    assert!(reason.contains("has no `data.id`"), "{reason}");
}
