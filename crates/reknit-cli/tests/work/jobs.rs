//! Long jobs: a tool answers 202 with a status URL, and its result comes later, also to another process.

use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Reply, ScriptedModel};
use tokio::sync::watch;

use crate::interrupt::interrupt;
use crate::world::{World, assert_contains, plan, text};

/// A shop whose `pay` starts a job. The job ends when the test says so.
#[derive(Clone)]
struct Shop {
    base: String,
    posts: Arc<AtomicUsize>,
    asked: watch::Sender<usize>,
    result: Arc<Mutex<Option<&'static str>>>,
}

impl Shop {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let shop = Self { base, posts: Arc::default(), asked: watch::channel(0).0, result: Arc::default() };
        let capabilities = r#"[{"name": "pay", "effect": "unsafe"}]"#;
        let router = Router::new()
            .route("/api/capabilities", get(move || async move { capabilities }))
            .route("/api/capabilities/pay", post(pay))
            .route("/jobs/7", get(job))
            .with_state(shop.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        shop
    }

    /// A folder with a plan that pays, and a configuration with the shop and this text.
    fn world(&self, text: &str) -> World {
        let config = format!("[[tools]]\nname = \"shop\"\nurl = \"{}\"\n{text}", self.base);
        World::new().file("reknit.toml", &config).file("plan.json", &plan(&[("pay", "{}")]))
    }

    /// Waits until the status URL was asked this often.
    async fn wait_until_asked(&self, times: usize) {
        self.asked.subscribe().wait_for(|asked| *asked >= times).await.expect("the shop is there");
    }

    fn end_job(&self, state: &'static str) {
        *self.result.lock().expect("no panic") = Some(state);
    }

    fn posts(&self) -> usize {
        self.posts.load(Ordering::SeqCst)
    }
}

async fn pay(State(shop): State<Shop>) -> Response {
    shop.posts.fetch_add(1, Ordering::SeqCst);
    (StatusCode::ACCEPTED, [("location", "/jobs/7"), ("retry-after", "0")], r#"{"status": "queued"}"#).into_response()
}

async fn job(State(shop): State<Shop>) -> Response {
    let result = *shop.result.lock().expect("no panic");
    shop.asked.send_modify(|asked| *asked += 1);
    result.unwrap_or(r#"{"status": "running"}"#).into_response()
}

const RUN: [&str; 4] = ["run", "--answer", "template", "plan.json"];

/// A run whose process waits for the job.
async fn waiting() -> (Shop, World, Child) {
    let shop = Shop::start().await;
    let world = shop.world("");
    let child = world.spawn(&RUN);
    shop.wait_until_asked(1).await;
    // The answer is in the journal.
    while !world.reknit(&["runs", "show", "last"]).contains("asked once") {
        tokio::task::yield_now().await;
    }
    (shop, world, child)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_awaited_and_its_result_is_that_of_the_call() {
    let (shop, _world, child) = waiting().await;
    shop.end_job(r#"{"status": "succeeded", "result": {"receipt": 9}}"#);
    let output = child.wait_with_output().expect("it ends");
    let shown = text(&output.stdout);
    assert!(shown.contains(r#"- pay (pay): {"receipt":9}"#), "{shown}");
    let progress = text(&output.stderr);
    assert!(progress.contains("~ pay  pay  waiting for a job since "), "{progress}");
    assert_eq!((output.status.code(), shop.posts()), (Some(0), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_killed_while_it_waits_for_a_job_is_resumed_without_another_call() {
    let (shop, world, mut child) = waiting().await;
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let shown = world.reknit(&["runs", "show", "last"]);
    assert!(shown.contains("waiting for a job since ") && shown.contains("runs resume"), "{shown}");
    shop.end_job(r#"{"receipt": 9}"#);
    let resumed = world.reknit(&["runs", "resume", "last"]);
    assert!(resumed.starts_with("exit status 0") && resumed.contains(r#"- pay (pay): {"receipt":9}"#), "{resumed}");
    assert!(resumed.contains("1 tool call"), "{resumed}");
    assert_eq!(shop.posts(), 1, "the call is not made again");
    assert_contains(&world.reknit(&["runs", "show", "last"]), "job        waited for its end, asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_leaves_a_run_that_waits_for_a_job_to_be_resumed_or_cancelled() {
    let (shop, world, child) = waiting().await;
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    let shown = text(&output.stderr);
    assert!(shown.contains("the run waits for a job and is saved: continue with `reknit runs resume "), "{shown}");
    assert_eq!(output.status.code(), Some(130));
    let cancelled = world.reknit(&["runs", "cancel", "last"]);
    assert!(cancelled.contains("the call may have taken effect"), "{cancelled}");
    assert!(cancelled.contains("the job may still finish"), "{cancelled}");
    assert_eq!(shop.posts(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_failed_is_a_failed_call_that_a_person_decides_about() {
    let (shop, world, child) = waiting().await;
    shop.end_job(r#"{"status": "failed", "error": {"code": "NO_FUNDS", "message": "the account is empty"}}"#);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), world.output(&["runs", "resume", "last"]).status.code(), "it waits for approval");
    let shown = world.reknit(&["runs", "show", "last"]);
    assert!(shown.contains("waiting for approval") && shown.contains("the account is empty"), "{shown}");
    assert_eq!(shop.posts(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_waits_for_the_job_of_its_call_also_in_another_process() {
    for is_killed in [false, true] {
        let shop = Shop::start().await;
        let script = Script::new()
            .once(RequestMatcher::any(), Reply::tool_call("shop__pay", "{}"))
            .on(RequestMatcher::any(), Reply::tool_call("agent__final_report", r#"{"report_content": "It is paid."}"#));
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
        let world = shop.world(&models).file("clerk.md", "---\ntools: [shop]\n---\nYou pay.\n");
        let mut child = world.spawn(&["agent", "clerk.md", "Pay for order 7."]);
        shop.wait_until_asked(1).await;
        assert_eq!(model.requests().len(), 1, "the model is not asked while the job is worked on");
        if is_killed {
            child.kill().expect("it can be killed");
        }
        shop.end_job(r#"{"status": "succeeded", "result": {"receipt": 9}}"#);
        let output = child.wait_with_output().expect("it ends");
        let output = if is_killed { world.output(&["runs", "resume", "last"]) } else { output };
        let ended = world.show(&output);
        assert!(ended.starts_with("exit status 0") && ended.contains("It is paid."), "{ended}");
        assert_eq!(shop.posts(), 1, "the call is not made again");
        let last = model.requests().pop().expect("the model was asked");
        assert!(last.text().contains(r#"{"receipt":9}"#), "{}", last.text());
    }
}
