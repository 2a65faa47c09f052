//! The tool that both sides call: a process of its own, so that nobody's time or memory has its in it.
//!
//! ```text
//! wait  {ms, after}  answers after so many milliseconds
//! echo  {after}      answers at once
//! hold  {}           answers when the gate is open; `close` and `open` move the gate, `held` says how many wait at it
//! ```
//!
//! `wait` and `echo` are reads; `wait_keyed` and `echo_keyed` do the same and say that they change something.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use reknit_protocol::{Capability, Effect};
use serde::{Deserialize, Serialize};
use tokio::net::TcpSocket;
use tokio::sync::watch;

use crate::Result;
use crate::child::Lines;

/// What plans call it.
pub const NAME: &str = "bench";

/// As long a queue of new connections as the system allows: thousands come at once.
const BACKLOG: u32 = 16_384;

/// The server as a child of the bench.
pub struct Server {
    url: String,
    _process: Lines,
}

impl Server {
    pub fn start() -> Result<Self> {
        let mut process = Lines::start("the tool server", Command::new(std::env::current_exe()?).arg("serve"))?;
        Ok(Self { url: process.hear()?, _process: process })
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

const ANSWER: Json<Token> = Json(Token { token: "0123456789abcdef" });

#[derive(PartialEq)]
enum Gate {
    Closed,
    Open,
}

struct Holding {
    held: AtomicUsize,
    gate: watch::Sender<Gate>,
}

/// Is the tool until it is killed; says where on the first line.
pub async fn serve() -> Result<()> {
    crate::waiting::allow_many_files()?;
    let socket = TcpSocket::new_v4()?;
    socket.bind("127.0.0.1:0".parse()?)?;
    let listener = socket.listen(BACKLOG)?;
    println!("http://{}", listener.local_addr()?);
    let holding = Arc::new(Holding { held: AtomicUsize::new(0), gate: watch::channel(Gate::Closed).0 });
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
        .with_state(holding);
    Ok(axum::serve(listener, router).await?)
}

async fn capabilities() -> String {
    let read = ["wait", "echo", "hold", "held", "open", "close"].map(|name| (name, Effect::Read));
    let keyed = ["wait_keyed", "echo_keyed"].map(|name| (name, Effect::Keyed));
    let list = read.into_iter().chain(keyed).map(|(name, effect)| {
        let mut capability = Capability::new(name);
        capability.effect = effect;
        capability.to_value().to_string()
    });
    format!("[{}]", list.collect::<Vec<_>>().join(","))
}

/// In a thread that sleeps: the timers of the runtime count whole milliseconds.
async fn wait(Json(Wait { ms }): Json<Wait>) -> Json<Token> {
    let until = Instant::now() + Duration::from_millis(ms);
    let slept = tokio::task::spawn_blocking(move || {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
    });
    // A sleep has nothing to say.
    let _ = slept.await;
    ANSWER
}

async fn echo() -> Json<Token> {
    ANSWER
}

async fn hold(State(holding): State<Arc<Holding>>) -> Json<Token> {
    let mut gate = holding.gate.subscribe();
    holding.held.fetch_add(1, Ordering::Relaxed);
    // It fails only when nobody can open the gate any more, and then nobody waits either.
    let _ = gate.wait_for(|gate| *gate == Gate::Open).await;
    holding.held.fetch_sub(1, Ordering::Relaxed);
    ANSWER
}

async fn held(State(holding): State<Arc<Holding>>) -> Json<Held> {
    Json(Held { held: holding.held.load(Ordering::Relaxed) })
}

async fn open(State(holding): State<Arc<Holding>>) -> Json<Token> {
    holding.gate.send_replace(Gate::Open);
    ANSWER
}

async fn close(State(holding): State<Arc<Holding>>) -> Json<Token> {
    holding.gate.send_replace(Gate::Closed);
    ANSWER
}
