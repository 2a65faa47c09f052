//! Questions to a person are sent to a webhook, which may decide.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::{Sha256, SideEffect, Value, hex};

use crate::world::{World, assert_ended, plan, text};

const SECRET: &str = "a webhook key";
pub(crate) const VARIABLES: [(&str, &str); 1] = [("HOOK_KEY", SECRET)];

/// How the webhook answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    /// It only notes the question.
    Note,
    /// It fails this often, then notes the question.
    FailFirst(usize),
    /// It refuses the question.
    Refuse,
    /// It fails at first, then decides, with a good signature.
    DecideLate(&'static str),
    /// It decides, with a good signature.
    Decide(&'static str),
    /// It decides with a signature of another key, about another question, or long ago.
    Forge,
    OtherQuestion,
    Old,
    /// It decides with a good signature, but in an answer that is too large, or says that the question was only accepted.
    Large,
    Accepted,
}

#[derive(Clone)]
pub(crate) struct Webhook {
    url: String,
    answer: Answer,
    received: Arc<Mutex<Vec<(HeaderMap, String)>>>,
}

impl Webhook {
    pub(crate) async fn start(answer: Answer) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let webhook = Self { url, answer, received: Arc::default() };
        let router = Router::new().fallback(handle).with_state(webhook.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        webhook
    }

    /// A configuration whose section of approvals sends questions here.
    pub(crate) fn config(&self, approvals: &str) -> String {
        format!("{approvals}webhook = \"{}?key=url-secret\"\nwebhook-secret-env = \"HOOK_KEY\"\n", self.url)
    }

    pub(crate) fn received(&self) -> Vec<(HeaderMap, String)> {
        self.received.lock().expect("no test has panicked").clone()
    }
}

async fn handle(State(webhook): State<Webhook>, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8(body.to_vec()).expect("it is text");
    let count = {
        let mut received = webhook.received.lock().expect("no test has panicked");
        received.push((headers, body.clone()));
        received.len()
    };
    let question = Value::parse(&body).expect("it is JSON");
    let hash = question.get("hash").and_then(Value::as_str).expect("a hash").to_owned();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time").as_secs();
    let approve = |hash: &str| format!(r#"{{"hash":"{hash}","decision":"approve"}}"#);
    match webhook.answer {
        Answer::Note => StatusCode::ACCEPTED.into_response(),
        Answer::DecideLate(_) if count <= 2 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Answer::FailFirst(times) if count <= times => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Answer::FailFirst(_) => StatusCode::NO_CONTENT.into_response(),
        Answer::Refuse => StatusCode::FORBIDDEN.into_response(),
        Answer::Decide(decision) | Answer::DecideLate(decision) => {
            signed(&format!(r#"{{"hash":"{hash}",{decision}}}"#), SECRET, now)
        }
        Answer::Forge => signed(&approve(&hash), "another key", now),
        Answer::OtherQuestion => signed(&approve("another"), SECRET, now),
        Answer::Old => signed(&approve(&hash), SECRET, now - 1_000),
        Answer::Large => signed(&format!("{}{}", approve(&hash), " ".repeat(64 << 10)), SECRET, now),
        Answer::Accepted => {
            let mut answer = signed(&approve(&hash), SECRET, now);
            *answer.status_mut() = StatusCode::ACCEPTED;
            answer
        }
    }
}

fn signed(body: &str, key: &str, now: u64) -> Response {
    let signature = signature(key, &now.to_string(), body);
    let headers = [("x-reknit-timestamp", now.to_string()), ("x-reknit-signature", signature)];
    (headers, body.to_owned()).into_response()
}

/// HMAC-SHA256 (RFC 2104) over time, dot and body.
fn signature(key: &str, timestamp: &str, body: &str) -> String {
    let mut block = [0_u8; 64];
    block[..key.len()].copy_from_slice(key.as_bytes());
    let text = format!("{timestamp}.{body}");
    let inner = Sha256::digest([&block.map(|byte| byte ^ 0x36)[..], text.as_bytes()].concat());
    let outer = Sha256::digest([&block.map(|byte| byte ^ 0x5c)[..], &inner].concat());
    format!("v1={}", hex(&outer))
}

async fn shop() -> RunningTool {
    let shop = ScriptedTool::new("shop").capability("pay", SideEffect::Unsafe).capability("look", SideEffect::Read);
    let shop =
        shop.on("pay", CallMatcher::any(), Reply::data("paid")).on("look", CallMatcher::any(), Reply::data("seen"));
    shop.start().await.expect("the tool starts")
}

/// A folder with a plan that pays, which needs approval.
fn world(shop: &RunningTool, webhook: &Webhook) -> World {
    let config = webhook.config("[[approve]]\nclass = \"unsafe\"\n[approvals]\n");
    let steps = [("pay", r#"{"amount": 150, "password": "hunter22"}"#)];
    World::new().configured(&[shop], &config).file("plan.json", &plan(&steps))
}

const RUN: [&str; 6] = ["run", "--answer", "template", "plan.json", "--config", "reknit.toml"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_sent_signed_with_all_that_a_person_needs_and_without_secrets() {
    let (shop, webhook) = (shop().await, Webhook::start(Answer::Note).await);
    let world = world(&shop, &webhook);
    let shown = world.reknit_with(&VARIABLES, &RUN);
    assert!(shown.starts_with("exit status 6") && !shown.contains("warning"), "{shown}");
    assert_eq!(shop.call_count(), 0);
    let received = webhook.received();
    let [(headers, body)] = received.as_slice() else { panic!("one request: {received:?}") };
    let timestamp = headers["x-reknit-timestamp"].to_str().expect("it is text");
    assert_eq!(headers["x-reknit-signature"], signature(SECRET, timestamp, body).as_str());
    assert_eq!(headers["content-type"], "application/json");
    assert!(!body.contains("hunter22") && !body.contains(SECRET) && !body.contains("url-secret"), "{body}");
    let question = Value::parse(body).expect("it is JSON");
    let at = |path: &str| path.split('/').try_fold(&question, |value, key| value.get(key)).map(ToString::to_string);
    assert_eq!(at("kind").as_deref(), Some(r#""send_call""#));
    assert_eq!(at("step").as_deref(), Some(r#""pay""#));
    assert_eq!(at("call/agent").as_deref(), Some(r#""shop""#));
    assert_eq!(at("call/class").as_deref(), Some(r#""unsafe""#));
    assert_eq!(at("call/parameters").as_deref(), Some(r#"{"amount":150,"password":"[redacted]"}"#));
    assert!(at("values/amount").is_some() && at("expires_ms").is_some() && at("run").is_some(), "{body}");
    assert!(at("reason").is_some_and(|reason| reason.contains("unsafe")), "{body}");
    world.reknit_with(&VARIABLES, &["runs", "approve", "last", "--config", "reknit.toml"]);
    let resumed = ["runs", "resume", "last", "--answer", "template", "--config", "reknit.toml"];
    assert_ended(&world.reknit_with(&VARIABLES, &resumed), 0, "");
    assert_eq!((shop.call_count(), webhook.received().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_sent_once_while_its_run_goes_on() {
    let (shop, webhook) = (shop().await, Webhook::start(Answer::Note).await);
    let world = world(&shop, &webhook).file("plan.json", &plan(&[("pay", "{}"), ("look", "{}")]));
    assert_ended(&world.reknit_with(&VARIABLES, &RUN), 6, "");
    assert_eq!((shop.call_count(), webhook.received().len()), (1, 1), "the other step ends after the question");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signed_decision_of_the_webhook_counts_and_is_recorded_as_such() {
    for (decision, status, calls) in [
        (r#""decision":"approve""#, "exit status 0", 1),
        (r#""decision":"deny","reason":"pay 50 at most""#, "exit status 1", 0),
    ] {
        let (shop, webhook) = (shop().await, Webhook::start(Answer::Decide(decision)).await);
        let world = world(&shop, &webhook);
        let shown = world.reknit_with(&VARIABLES, &RUN);
        assert!(shown.starts_with(status), "{shown}");
        assert_eq!((shop.call_count(), webhook.received().len()), (calls, 1));
        let saved = text(&world.output(&["runs", "show", "last", "--json"]).stdout);
        if calls == 1 {
            assert!(saved.contains(r#""by":"webhook""#), "{saved}");
        } else {
            assert!(shown.contains("pay 50 at most"), "{shown}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_of_the_webhook_after_that_of_a_person_is_refused() {
    let (shop, webhook) = (shop().await, Webhook::start(Answer::DecideLate(r#""decision":"approve""#)).await);
    let world = world(&shop, &webhook);
    let child = world.command(&RUN).envs(VARIABLES).spawn().expect("the command can be run");
    while webhook.received().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_ended(&world.reknit_with(&VARIABLES, &["runs", "deny", "last", "--config", "reknit.toml"]), 0, "denied");
    let waited = text(&child.wait_with_output().expect("it ends").stderr);
    assert!(waited.contains("its decision is not used: the question `pay/approval/1` of run"), "{waited}");
    assert!(waited.contains("is decided already: denied"), "{waited}");
    let resumed = ["runs", "resume", "last", "--answer", "template", "--config", "reknit.toml"];
    world.reknit_with(&VARIABLES, &resumed);
    assert_eq!(shop.call_count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_is_not_signed_for_this_question_now_is_not_used() {
    for (answer, problem) in [
        (Answer::Forge, "its decision is not used: its signature is wrong"),
        (Answer::OtherQuestion, "its decision is not used: it is about another question"),
        (Answer::Old, "its decision is not used: its time is too far from ours"),
        (Answer::Decide(r#""decision":"perhaps""#), "its decision is not used: `perhaps` is neither"),
        (Answer::Large, "its answer is larger than 65536 bytes"),
        (Answer::Accepted, "waiting for approval"),
    ] {
        let (shop, webhook) = (shop().await, Webhook::start(answer).await);
        let shown = world(&shop, &webhook).reknit_with(&VARIABLES, &RUN);
        assert!(shown.starts_with("exit status 6") && shown.contains(problem), "{answer:?}: {shown}");
        assert_eq!(shop.call_count(), 0, "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_that_fails_is_tried_again_and_its_failure_does_not_stop_the_run() {
    let (shop, webhook) = (shop().await, Webhook::start(Answer::FailFirst(2)).await);
    let shown = world(&shop, &webhook).reknit_with(&VARIABLES, &RUN);
    assert!(shown.starts_with("exit status 6") && !shown.contains("warning"), "{shown}");
    assert_eq!(webhook.received().len(), 3);

    let webhook = Webhook::start(Answer::Refuse).await;
    let shown = world(&shop, &webhook).reknit_with(&VARIABLES, &RUN);
    assert!(shown.starts_with("exit status 6"), "{shown}");
    let warning = "warning: the approval webhook at http://127.0.0.1:PORT/hook?";
    assert!(shown.contains(warning) && shown.contains("about step `pay`: it answered with status 403"), "{shown}");
    assert!(!shown.contains("url-secret"), "{shown}");
    assert_eq!(webhook.received().len(), 1, "a refusal is final");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_needs_its_key_and_a_found_file_must_be_trusted() {
    let (shop, webhook) = (shop().await, Webhook::start(Answer::Note).await);
    let world = world(&shop, &webhook);
    assert_ended(&world.reknit_with(&VARIABLES, &["run", "plan.json"]), 2, "each question to a person is sent to");
    let unset = world.reknit(&RUN);
    assert!(
        unset.contains("the key of the approval webhook should be in the variable `HOOK_KEY`, which is not set"),
        "{unset}"
    );
    let config = format!("[approvals]\nwebhook = \"{}?key=url-secret\"\n", webhook.url);
    let world = World::new().configured(&[&shop], &config).file("plan.json", &plan(&[("pay", "{}")]));
    let unsigned = world.reknit(&RUN);
    let missing = "should be in the variable that `approvals.webhook-secret-env` names; write that setting";
    assert!(unsigned.contains(missing) && !unsigned.contains("url-secret"), "{unsigned}");
    let shown = world.reknit(&["config", "show"]);
    assert!(shown.contains("approvals") && !shown.contains("url-secret"), "{shown}");
    let world = World::new().file("reknit.toml", "[approvals]\nwebhook = \"ftp://a.example/url-secret\"\n");
    let other = world.reknit(&["config", "show"]);
    assert!(other.contains("write an http or https address") && !other.contains("url-secret"), "{other}");
    assert_eq!(webhook.received().len(), 0);
}
