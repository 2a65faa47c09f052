//! `reknit serve` and `reknit tokens`, as processes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command};
use std::time::{Duration, Instant};

use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_protocol::SideEffect;

use crate::interrupt::interrupt;
use crate::world::{World, assert_contains, assert_refused, plan, text};

pub(crate) struct Serving {
    child: Child,
    address: String,
    stderr: BufReader<ChildStderr>,
}

impl Serving {
    pub(crate) fn start(world: &World, arguments: &[&str]) -> Self {
        Self::of(world.command(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat()))
    }

    /// A server that may open only so many files.
    fn with_files(world: &World, files: u32) -> Self {
        let limited = format!("ulimit -n {files}; exec {} serve --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_reknit"));
        Self::of(world.around(Command::new("sh"), &["-c", &limited]))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the command can be run");
        let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let address = stderr.by_ref().lines().find_map(|line| {
            let line = line.expect("readable");
            line.strip_prefix("serving the API at http://")?.split_whitespace().next().map(str::to_owned)
        });
        Self { child, address: address.expect("the server says where it listens"), stderr }
    }

    /// Sends a request and returns the whole response.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("the server is there");
        let (host, length) = (&self.address, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it is sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
    }

    /// Stops the server, and returns what it logged.
    pub(crate) fn stop(mut self) -> String {
        interrupt(&self.child);
        let status = self.child.wait().expect("it ends");
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).expect("readable");
        assert!(status.success(), "{status}: {rest}");
        rest
    }
}

/// A test that fails leaves no server behind.
impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A shop whose payments take until the barrier is released.
async fn slow_shop(barrier: &CallBarrier) -> RunningTool {
    let reply = Reply::data("paid").wait_at(barrier);
    let tool = ScriptedTool::new("shop").capability("pay", SideEffect::Keyed).on("pay", CallMatcher::any(), reply);
    tool.start().await.expect("the tool starts")
}

/// A start request with the plan of one payment.
fn payment(mode: &str) -> String {
    format!(r#"{{"run_id": "pay-7", "mode": "{mode}", "plan": {}}}"#, plan(&[("pay", "{}")]))
}

#[tokio::test(flavor = "multi_thread")]
async fn half_open_connections_stop_neither_health_checks_nor_runs() {
    let shop = ScriptedTool::new("shop").capability("price", SideEffect::Read);
    let shop = shop.on("price", CallMatcher::any(), Reply::data(12)).start().await.expect("the tool starts");
    let world = World::new().configured(&[&shop], "[catalogue]\nrefresh = \"1s\"\n");
    let server = Serving::with_files(&world, 128);
    let mut half_open = Vec::new();
    for round in 0..4 {
        for _ in 0..100 {
            let mut stream = TcpStream::connect(&server.address).expect("the server is there");
            let _ = stream.write_all(b"GET /v1/tools HTTP/1.1\r\nhost: x\r\nx-slow: ");
            half_open.push(stream);
        }
        let started = Instant::now();
        let health = server.request("GET", "/health", "", "");
        assert!(health.starts_with("HTTP/1.1 200"), "{health}");
        assert!(started.elapsed() < Duration::from_secs(1), "round {round}: {:?}", started.elapsed());
        // The catalogue is refreshed meanwhile.
        std::thread::sleep(Duration::from_millis(600));
        let body = format!(r#"{{"plan": {}}}"#, plan(&[("price", "{}")]));
        let run = server.request("POST", "/v1/runs", "", &body);
        assert!(run.starts_with("HTTP/1.1 200") && run.contains("\"status\":\"complete\""), "round {round}: {run}");
    }
    drop(half_open);
    server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_killed_is_followed_by_one_that_finishes_its_runs() {
    let barrier = CallBarrier::new();
    let tool = slow_shop(&barrier).await;
    let world = World::with_tools(&[&tool]);
    let mut first = Serving::start(&world, &[]);
    let started = first.request("POST", "/v1/runs", "", &payment("start"));
    assert!(started.starts_with("HTTP/1.1 202"), "{started}");
    while barrier.waiting() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    first.child.kill().expect("it is killed");
    first.child.wait().expect("it ends");
    barrier.release_all();
    let second = Serving::start(&world, &[]);
    let events = second.request("GET", "/v1/runs/pay-7/events", "", "");
    assert!(events.contains("event: ended"), "{events}");
    let again = second.request("POST", "/v1/runs", "", &payment("wait"));
    assert!(again.contains(r#""status":"complete""#), "{again}");
    let calls = tool.calls();
    let keys: Vec<_> = calls.iter().map(|call| call.idempotency_key.clone()).collect();
    assert!(keys.iter().all(|key| key.is_some() && *key == keys[0]), "one payment: {keys:?}");
    second.stop();
    assert!(world.reknit(&["runs", "list"]).contains("complete"));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_servers_with_one_journal_one_finishes_the_runs_of_the_other_that_was_killed() {
    let barrier = CallBarrier::new();
    let tool = slow_shop(&barrier).await;
    let world = World::with_tools(&[&tool]);
    let (mut first, second) = (Serving::start(&world, &[]), Serving::start(&world, &[]));
    first.request("POST", "/v1/runs", "", &payment("start"));
    while barrier.waiting() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    first.child.kill().expect("it is killed");
    first.child.wait().expect("it ends");
    barrier.release_all();
    let mut shown = String::new();
    for _ in 0..3_000 {
        shown = second.request("GET", "/v1/runs/pay-7", "", "");
        if shown.contains(r#""status":"complete""#) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(shown.contains(r#""status":"complete""#), "{shown}");
    let keys: Vec<_> = tool.calls().iter().map(|call| call.idempotency_key.clone()).collect();
    assert!(keys.iter().all(|key| key.is_some() && *key == keys[0]), "one payment: {keys:?}");
    second.stop();
}

#[test]
fn a_token_is_shown_once_and_is_needed_then() {
    let world = World::new();
    let made = world.output(&["tokens", "new", "ann", "--scopes", "read", "--file", "tokens.toml"]);
    let token = text(&made.stdout).trim().to_owned();
    assert!(token.starts_with("rk-"), "{token}");
    let file = std::fs::read_to_string(world.path().join("tokens.toml")).expect("the file is there");
    assert!(!file.contains(&token), "{file}");
    insta::assert_snapshot!(world.reknit(&["tokens", "list", "--file", "tokens.toml"]), @r"
    exit status 0 --- stdout
    ann  read
    ");
    assert_refused(
        &world.reknit(&["tokens", "new", "ann", "--scopes", "run", "--file", "tokens.toml"]),
        "there is already a token for `ann`",
        "remove it first: `reknit tokens remove ann --file tokens.toml`",
    );
    let server = Serving::start(&world, &["--tokens", "tokens.toml"]);
    assert!(server.request("GET", "/v1/runs", "", "").starts_with("HTTP/1.1 401"));
    let header = format!("authorization: Bearer {token}\r\n");
    assert!(server.request("GET", "/v1/runs", &header, "").starts_with("HTTP/1.1 200"));
    let log = server.stop();
    let has = |words: &[&str]| log.lines().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(has(&["WARN", "audit refused", "path=/v1/runs"]), "{log}");
    assert!(has(&["INFO", "server request", "status=200", "request="]), "{log}");
    insta::assert_snapshot!(world.reknit(&["tokens", "remove", "ann", "--file", "tokens.toml"]), @r"
    exit status 0 --- stderr
    removed the token of `ann`; start the server again to refuse it
    ");
    assert_refused(
        &world.reknit(&["tokens", "remove", "ann", "--file", "tokens.toml"]),
        "there is no token for `ann`",
        "list them: `reknit tokens list --file tokens.toml`",
    );
}

#[test]
fn a_token_can_have_limits_and_a_budget_needs_prices() {
    let world = World::new();
    let new = ["tokens", "new", "bot", "--scopes", "read,run", "--file", "tokens.toml"];
    let limits =
        ["--tools", "shop,bank/refund", "--monthly-budget", "2.50", "--requests-per-minute", "60", "--all-runs"];
    assert!(world.output(&[&new[..], &limits[..]].concat()).status.success());
    insta::assert_snapshot!(world.reknit(&["tokens", "list", "--file", "tokens.toml"]), @r"
    exit status 0 --- stdout
    bot  read,run  60 requests per minute  tools shop,bank/refund  2.5 per month  sees all runs
    ");
    insta::assert_snapshot!(world.reknit(&["tokens", "new", "x", "--scopes", "run", "--monthly-budget", "much", "--file", "t"]), @r"
    exit status 2 --- stderr
    error: invalid value 'much' for '--monthly-budget <AMOUNT>': `much` is not a number

    For more information, try '--help'.
    ");
    let once = std::fs::read_to_string(world.path().join("tokens.toml")).expect("the file is there");
    std::fs::write(world.path().join("twice.toml"), format!("{once}\n{once}")).expect("it is written");
    assert_contains(&world.reknit(&["tokens", "list", "--file", "twice.toml"]), "there are two tokens for `bot`");
    let serve = ["serve", "--tokens", "tokens.toml", "--model-url", "http://127.0.0.1:9/v1", "--model", "m"];
    assert_refused(
        &world.reknit(&serve),
        "the token `bot` has a monthly budget, but the model `model` has no price",
        "set `price-input` and `price-output` of the model; 0 if it is free",
    );
}

#[test]
fn an_address_that_others_can_reach_needs_tokens() {
    let world = World::new();
    assert_refused(
        &world.reknit(&["serve", "--listen", "0.0.0.0:0"]),
        "other machines can reach 0.0.0.0:0, so tokens are needed",
        "make one with `reknit tokens new NAME --scopes read,run --file tokens.toml`, and add `--tokens tokens.toml`",
    );
    assert_refused(
        &world.reknit(&["serve", "--tokens", "none.toml"]),
        "cannot read the tokens in `none.toml`: No such file or directory (os error 2)",
        "make a token with `reknit tokens new NAME --scopes read,run --file none.toml`",
    );
    insta::assert_snapshot!(world.reknit(&["serve", "--help"]), @r#"
    exit status 0 --- stdout
    Serve the HTTP API: start, follow and control runs, and mend calls of other programs

    Usage: reknit serve [OPTIONS]

    Options:
          --listen <ADDRESS>          The address to listen at; one that other machines can reach needs `--tokens` [default: 127.0.0.1:8320]
          --tokens <FILE>             The file with the tokens that are accepted; `reknit tokens new` makes one
          --tls-certificate <FILE>    The certificate for HTTPS, in PEM; it is read again when it changes
          --tls-key <FILE>            The private key of the certificate, in PEM
          --agent <FILE>              An agent file that clients can ask as the model `agent/NAME`, or call over MCP; repeat it for several
          --max-runs <N>              How many runs go on at the same time; more are answered with 429 [default: 1000]
          --engine <ENGINE>           What drives the runs: `restate=URL` with the ingress of a Restate server, whose workers drive them [default: this process]
          --journal <FILE>            The journal file [default: reknit/journal.db in your data folder]
          --config <FILE>             The configuration file [default: reknit.toml in the current folder]
          --tool <NAME=URL>           A tool, in addition to those in the configuration
          --model-url <URL>           The base URL of an OpenAI-compatible server, used instead of the configured models
          --model <NAME>              The name of the model on that server [default: default]
          --model-key-env <VARIABLE>  The environment variable that holds its API key
      -h, --help                      Print help

    The API starts, follows and controls runs, and mends calls and texts of other programs: docs/serve.md, and `/openapi.json` of the
    server. Runs that an earlier process left unfinished are continued. When the server is told to stop (SIGTERM, Ctrl-C), it takes no
    new requests and waits for the runs in progress.

    Examples:
      reknit serve
      curl -d '{"request": "What is the weather in Seoul?"}' http://127.0.0.1:8320/v1/runs
      reknit tokens new ann --scopes read,run --file tokens.toml
      reknit serve --listen 0.0.0.0:8320 --tokens tokens.toml

    Exit status: 0 the server was told to stop, 1 it failed, 2 not started.
    "#);
    insta::assert_snapshot!(world.reknit(&["tokens", "new", "--help"]), @r"
    exit status 0 --- stdout
    Make a token, print it once, and store its hash

    Usage: reknit tokens new [OPTIONS] --scopes <SCOPES> --file <FILE> <NAME>

    Arguments:
      <NAME>  Whose token it is; the log names it

    Options:
          --scopes <SCOPES>          What it allows: read, run, approve, admin
          --requests-per-minute <N>  How many requests it may send in a minute; more are answered with 429
          --tools <TOOLS>            The tools (`shop`) and capabilities (`shop/price`) that it may use; all without this
          --monthly-budget <AMOUNT>  What it may spend on models in a month, in the currency of their prices
          --all-runs                 Let it see the runs of all tokens, not only its own
          --file <FILE>              The file with the tokens
      -h, --help                     Print help
    ");
}

#[test]
fn an_address_that_is_taken_is_named_with_another_one() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let world = World::new();
    let output = world.output(&["serve", "--listen", &address]);
    let refused = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{refused}");
    assert!(refused.contains(&format!("another program listens at {address}")), "{refused}");
    assert!(refused.contains("reknit serve --listen 127.0.0.1:"), "{refused}");
}
