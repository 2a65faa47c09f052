//! Signed callback URLs: a tool calls back when its job has ended.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::watch;

use crate::world::{World, assert_contains, plan, text};

const SECRET: (&str, &str) = ("REKNIT_CALLBACK_SECRET", "a secret that is long enough");
/// The credential of the shop, where a test configures it.
const TOKEN: (&str, &str) = ("SHOP_TOKEN", "hunter2-secret");

/// A shop whose `pay` starts a job and promises to call back. The callback URLs of its calls are kept.
#[derive(Clone)]
struct Shop {
    base: String,
    urls: watch::Sender<Vec<String>>,
    status_url: Arc<Mutex<Option<&'static str>>>,
}

impl Shop {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let shop = Self { base, urls: watch::channel(Vec::new()).0, status_url: Arc::default() };
        let capabilities = r#"[{"name": "pay", "effect": "unsafe"}]"#;
        let router = Router::new()
            .route("/api/capabilities", get(move || async move { capabilities }))
            .route("/api/capabilities/pay", post(pay))
            .route("/jobs/7", get(|| async { (StatusCode::ACCEPTED, [("retry-after", "3600")]) }))
            .with_state(shop.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        shop
    }

    fn world(&self) -> World {
        self.world_with("")
    }

    /// The same with more keys of the shop's entry.
    fn world_with(&self, keys: &str) -> World {
        let config = format!(
            "[[tools]]\nname = \"shop\"\nurl = \"{}\"\n{keys}[callbacks]\nurl = \"https://me.example/hooks\"\n",
            self.base
        );
        World::new().file("reknit.toml", &config).file("plan.json", &plan(&[("pay", "{}")]))
    }

    /// The path of the callback URL of the first call.
    async fn path(&self) -> String {
        let mut urls = self.urls.subscribe();
        let urls = urls.wait_for(|urls| !urls.is_empty()).await.expect("the shop is there");
        urls[0].strip_prefix("https://me.example").expect("it is below the configured URL").to_owned()
    }

    fn posts(&self) -> usize {
        self.urls.borrow().len()
    }
}

async fn pay(State(shop): State<Shop>, headers: HeaderMap) -> Response {
    let url = headers.get("x-reknit-callback").and_then(|url| url.to_str().ok()).unwrap_or_default().to_owned();
    shop.urls.send_modify(|urls| urls.push(url));
    match *shop.status_url.lock().expect("no panic") {
        Some(url) => (StatusCode::ACCEPTED, [("location", url)]).into_response(),
        None => (StatusCode::ACCEPTED, [("x-reknit-callback", "accepted")]).into_response(),
    }
}

/// A listener that ends with the test.
struct Listener {
    child: Child,
    address: String,
    stderr: BufReader<ChildStderr>,
}

impl Listener {
    fn start(world: &World) -> Self {
        let arguments = ["callbacks", "serve", "--listen", "127.0.0.1:0", "--config", "reknit.toml"];
        let mut child = world.command(&arguments).envs([SECRET, TOKEN]).spawn().expect("it starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("it says where it listens");
        let address = line.trim().strip_prefix("receiving callbacks at http://").expect("an address").to_owned();
        Self { child, address, stderr }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("a line");
        line
    }

    /// Sends a callback. Returns the status and the body of the answer.
    async fn deliver(&self, path: &str, body: &str) -> (u16, String) {
        let mut stream = tokio::net::TcpStream::connect(&self.address).await.expect("it listens");
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it answers");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer.split("\r\n\r\n").nth(1).unwrap_or_default().trim().to_owned())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start_run(world: &World) -> Child {
    let arguments = ["run", "--answer", "template", "--config", "reknit.toml", "plan.json"];
    world.command(&arguments).envs([SECRET, TOKEN]).spawn().expect("it starts")
}

async fn wait_for_job(world: &World) {
    while !world.reknit(&["runs", "show", "last"]).contains("waiting for a job since") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_ends_the_wait_of_a_run_in_progress_and_a_second_one_changes_nothing() {
    for status_url in [None, Some("/jobs/7")] {
        let shop = Shop::start().await;
        *shop.status_url.lock().expect("no panic") = status_url;
        let world = shop.world();
        let mut listener = Listener::start(&world);
        let child = start_run(&world);
        let path = shop.path().await;
        wait_for_job(&world).await;
        let goes_on = listener.deliver(&path, r#"{"status": "running"}"#).await;
        assert_eq!(goes_on, (200, "the job goes on; nothing is stored".to_owned()));
        assert_eq!(listener.deliver(&path, r#"{"receipt": 9}"#).await, (200, "received".to_owned()));
        let output = child.wait_with_output().expect("it ends");
        assert!(text(&output.stdout).contains(r#"- pay (pay): {"receipt":9}"#), "{}", text(&output.stdout));
        assert_eq!(listener.deliver(&path, r#"{"receipt": 10}"#).await, (200, "already received".to_owned()));
        assert!(listener.line().contains("the job of pay/call/1 has ended"));
        assert_eq!(shop.posts(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_that_comes_while_no_process_drives_the_run_is_kept_until_it_is_resumed() {
    let shop = Shop::start().await;
    let world = shop.world();
    let mut child = start_run(&world);
    let path = shop.path().await;
    wait_for_job(&world).await;
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let mut listener = Listener::start(&world);
    let failed = r#"{"status": "failed", "error": {"status": 422, "message": "no such card", "retryable": false, "code": "CARD"}}"#;
    assert_eq!(listener.deliver(&path, failed).await, (200, "received".to_owned()));
    assert_eq!(listener.deliver(&path, r#"{"receipt": 9}"#).await, (200, "already received".to_owned()));
    let line = listener.line();
    assert!(line.contains("continue it with `reknit runs resume "), "{line}");
    assert_contains(
        &world.reknit_with(&[SECRET], &["runs", "resume", "last", "--config", "reknit.toml"]),
        "no such card",
    );
    assert_eq!(shop.posts(), 1, "the call is not made again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_that_a_callback_sends_back_is_not_stored() {
    let shop = Shop::start().await;
    let world = shop.world_with("key-env = \"SHOP_TOKEN\"\n");
    let listener = Listener::start(&world);
    let child = start_run(&world);
    let path = shop.path().await;
    wait_for_job(&world).await;
    let body = r#"{"receipt": 9, "asked_with": "Bearer hunter2-secret", "escaped": "hunter2\u002dsecret"}"#;
    assert_eq!(listener.deliver(&path, body).await.1, "received");
    let shown = text(&child.wait_with_output().expect("it ends").stdout);
    assert!(shown.contains(r#""asked_with":"Bearer [redacted]","escaped":"[redacted]""#), "{shown}");
    let saved = world.reknit(&["runs", "show", "last", "--json"]);
    assert!(saved.contains("[redacted]") && !saved.contains("hunter2"), "{saved}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_token_is_refused_and_nothing_is_stored() {
    let shop = Shop::start().await;
    let world = shop.world();
    let mut child = start_run(&world);
    let path = shop.path().await;
    wait_for_job(&world).await;
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let listener = Listener::start(&world);
    let (start, signature) = path.rsplit_once('.').expect("a signature");
    let mut other: Vec<char> = signature.chars().collect();
    other[0] = if other[0] == 'A' { 'B' } else { 'A' };
    let forged = format!("{start}.{}", other.into_iter().collect::<String>());
    for path in [forged.as_str(), "/hooks/nonsense", "/x"] {
        assert_eq!(listener.deliver(path, r#"{"receipt": 9}"#).await, (401, "the token is not valid".to_owned()));
    }
    let large = listener.deliver(&path, &"x".repeat((4 << 20) + 1)).await;
    assert_eq!(large.0, 413);
    assert_contains(&world.reknit(&["runs", "show", "last"]), "waiting for a job since");
    assert_eq!(listener.deliver(&path, r#"{"receipt": 9}"#).await.1, "received", "nothing was stored before");
}

#[test]
fn callbacks_without_a_url_or_a_good_secret_are_refused() {
    let world = World::new();
    assert!(world.reknit(&["callbacks", "serve"]).contains("no callback URL is configured"));
    let world = world.file("reknit.toml", "callbacks.url = \"https://me.example/hooks\"\n");
    let serve = ["callbacks", "serve", "--config", "reknit.toml"];
    assert_contains(&world.reknit(&serve), "variable `REKNIT_CALLBACK_SECRET`, which is not set");
    assert_contains(&world.reknit_with(&[("REKNIT_CALLBACK_SECRET", "short")], &serve), "fewer than 16 characters");
    let file = "callbacks.url = \"https://me.example/hooks\"\ncallbacks.secret-env = \"MINE\"\n";
    let world = world.file("reknit.toml", file);
    assert!(world.reknit(&serve).contains("variable `MINE`, which is not set"));
    let file = "callbacks.url = \"https://me.example/hooks\"\ncallbacks.secret-file = \"none.txt\"\n";
    let world = world.file("reknit.toml", file);
    assert!(world.reknit(&serve).contains("file `none.txt`"));
    // A file that is only found may not send results to another host.
    let shown = world.file("plan.json", &plan(&[])).reknit(&["run", "plan.json"]);
    assert!(shown.contains("callbacks: tools may send results to https://me.example/hooks"), "{shown}");
}
