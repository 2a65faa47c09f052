//! The tool that both sides call. It is its own process, so that its time and memory are not measured.
//!
//! ```text
//! wait  {ms, after}  responds after this many milliseconds
//! echo  {after}      responds at once
//! hold  {}           responds once calls are released; `close` holds calls, `open` releases them, `held` counts held calls
//! ```
//!
//! `wait` and `echo` are declared as reads; `wait_keyed` and `echo_keyed` do the same and are declared as keyed writes.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use reknit_protocol::{Capability, SideEffect};
use serde::{Deserialize, Serialize};
use tokio::net::TcpSocket;
use tokio::sync::watch;

use crate::Result;
use crate::line_process::LineProcess;

/// The name of the tool in plans.
pub const NAME: &str = "bench";

/// The length of the queue of new connections. Thousands arrive at once; the system may reduce it.
const BACKLOG: u32 = 16_384;

/// The server as a child process of the benchmark.
pub struct Server {
    url: String,
    _process: LineProcess,
}

impl Server {
    pub fn start() -> Result<Self> {
        let mut process = LineProcess::start("the tool server", Command::new(std::env::current_exe()?).arg("serve"))?;
        Ok(Self { url: process.read_line()?, _process: process })
    }

    pub fn url(&self) -> &str {
        &self.url
    }
}

#[derive(Deserialize)]
struct Wait {
    ms: u64,
}

#[derive(Serialize)]
struct Token {
    token: &'static str,
}

#[derive(Serialize)]
struct Held {
    held: usize,
}

const RESPONSE: Json<Token> = Json(Token { token: "0123456789abcdef" });

#[derive(PartialEq)]
enum HoldMode {
    Hold,
    Release,
}

/// The state of `hold`.
struct HoldState {
    held: AtomicUsize,
    mode: watch::Sender<HoldMode>,
}

/// Serves the tool until the process is killed. Prints the URL as its first line.
pub async fn serve() -> Result<()> {
    crate::waiting::raise_file_limit()?;
    let socket = TcpSocket::new_v4()?;
    socket.bind("127.0.0.1:0".parse()?)?;
    let listener = socket.listen(BACKLOG)?;
    println!("http://{}", listener.local_addr()?);
    let state = Arc::new(HoldState { held: AtomicUsize::new(0), mode: watch::channel(HoldMode::Hold).0 });
    let path = |name: &str| Capability::new(name).call_path();
    let router = Router::new()
        .route("/api/capabilities", get(capabilities))
        .route(&path("wait"), post(wait))
        .route(&path("wait_keyed"), post(wait))
        .route(&path("echo"), post(echo))
        .route(&path("echo_keyed"), post(echo))
        .route(&path("hold"), post(hold))
        .route(&path("held"), post(held))
        .route(&path("open"), post(open))
        .route(&path("close"), post(close))
        .with_state(state);
    Ok(axum::serve(listener, router).await?)
}

async fn capabilities() -> String {
    let read = ["wait", "echo", "hold", "held", "open", "close"].map(|name| (name, SideEffect::Read));
    let keyed = ["wait_keyed", "echo_keyed"].map(|name| (name, SideEffect::Keyed));
    let list = read.into_iter().chain(keyed).map(|(name, effect)| {
        let mut capability = Capability::new(name);
        capability.effect = effect;
        capability.to_value().to_string()
    });
    format!("[{}]", list.collect::<Vec<_>>().join(","))
}

/// Sleeps on a thread, because the timers of the runtime have a resolution of one millisecond.
async fn wait(Json(Wait { ms }): Json<Wait>) -> Json<Token> {
    let until = Instant::now() + Duration::from_millis(ms);
    let slept = tokio::task::spawn_blocking(move || {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
    });
    // Sleeping cannot fail.
    let _ = slept.await;
    RESPONSE
}

async fn echo() -> Json<Token> {
    RESPONSE
}

async fn hold(State(state): State<Arc<HoldState>>) -> Json<Token> {
    let mut mode = state.mode.subscribe();
    state.held.fetch_add(1, Ordering::Relaxed);
    // This fails only if the state is dropped, and then the server has ended.
    let _ = mode.wait_for(|mode| *mode == HoldMode::Release).await;
    state.held.fetch_sub(1, Ordering::Relaxed);
    RESPONSE
}

async fn held(State(state): State<Arc<HoldState>>) -> Json<Held> {
    Json(Held { held: state.held.load(Ordering::Relaxed) })
}

async fn open(State(state): State<Arc<HoldState>>) -> Json<Token> {
    state.mode.send_replace(HoldMode::Release);
    RESPONSE
}

async fn close(State(state): State<Arc<HoldState>>) -> Json<Token> {
    state.mode.send_replace(HoldMode::Hold);
    RESPONSE
}
