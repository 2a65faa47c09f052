//! A refund with a business key is made once, however many processes, runs and sessions ask for it.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{CallBarrier, Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{SideEffect, Value};
use tempfile::TempDir;

use crate::world::{kill, stderr, stdout};

const FIRST: &str = r#"{"refund":1}"#;

/// A shop that makes refunds, of which the first has the number 1 and all others the number 2.
struct Shop {
    tool: RunningTool,
    barrier: CallBarrier,
    folder: TempDir,
}

impl Shop {
    async fn new() -> Self {
        let shop = Self::held().await;
        shop.barrier.release_all();
        shop
    }

    /// Every refund waits at the barrier before it is answered.
    async fn held() -> Self {
        let barrier = CallBarrier::new();
        let schema = r#"{"type": "object", "required": ["order_id", "amount"], "additionalProperties": false,
            "properties": {"order_id": {"type": "integer"}, "amount": {"type": "number"}, "note": {"type": "string"}}}"#;
        let receipt = |text: &str| Reply::data(Value::parse(text).expect("JSON")).wait_at(&barrier);
        let tool = ScriptedTool::new("shop")
            .capability("refund", SideEffect::Unsafe)
            .schema(Value::parse(schema).expect("JSON"))
            .once("refund", CallMatcher::any(), receipt(FIRST))
            .on("refund", CallMatcher::any(), receipt(r#"{"refund":2}"#))
            .start()
            .await
            .expect("the tool starts");
        let shop = Self { tool, barrier, folder: tempfile::tempdir().expect("a folder") };
        shop.configure("window = \"1h\"", "");
        shop
    }

    fn configure(&self, window: &str, more: &str) {
        let config = format!(
            "[[tools]]\nname = \"shop\"\nurl = \"{}\"\n\n[[keys]]\ncapability = \"shop/refund\"\n\
             fields = [\"order_id\", \"amount\"]\n{window}\n\n{more}",
            self.tool.base_url()
        );
        fs::write(self.path("reknit.toml"), config).expect("the configuration can be written");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reknit"));
        command.env("REKNIT_FIND_MODEL", "false").env("XDG_STATE_HOME", self.path("state"));
        command.args(arguments).stdin(Stdio::null());
        command.arg("--journal").arg(self.path("journal.db")).arg("--config").arg(self.path("reknit.toml"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command can be run")
    }

    fn finish(&self, arguments: &[&str]) -> Output {
        self.spawn(arguments).wait_with_output().expect("it ends")
    }

    /// Starts a run whose plan has one refund of order 7.
    fn refund(&self, amount: &str) -> Child {
        let plan = format!(
            "request: refund order 7\nsteps:\n  - {{id: refund, tool: shop/refund, with: {{order_id: 7, amount: {amount}}}}}\n"
        );
        let path = self.path(&format!("{}.yaml", amount.replace('"', "text")));
        // Another process may be reading it.
        if !path.exists() {
            fs::write(&path, plan).expect("the plan can be written");
        }
        self.spawn(&["run", "--answer", "raw", &path.to_string_lossy()])
    }

    fn refunds(&self) -> usize {
        self.tool.call_count()
    }

    /// The lines of a command that prints JSON.
    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.finish(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).lines().map(|line| Value::parse(line).expect("JSON")).collect()
    }

    fn key(&self) -> Value {
        let [key] = self.json(&["keys", "list", "--json"]).try_into().expect("one key");
        key
    }
}

/// The receipt that a run returned.
fn receipt(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(output), stderr(output));
    let text = stdout(output);
    let found = Value::parse(&text).ok().and_then(|value| value.get("refund").cloned());
    found.unwrap_or_else(|| panic!("{text}")).to_string()
}

fn ended(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("no {name}: {value}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_run_returns_the_receipt_of_the_first_and_says_so() {
    let shop = Shop::new().await;
    assert_eq!(receipt(&ended(shop.refund("10"))), FIRST);
    let key = shop.key();
    assert_eq!((text(&key, "state"), text(&key, "capability")), ("done", "shop/refund"));
    // The same deed in other words: another spelling of the amount, and a text that is mended.
    for amount in ["10", "10.0", "\"10\""] {
        assert_eq!(receipt(&ended(shop.refund(amount))), FIRST, "{amount}");
    }
    let call =
        shop.finish(&["tools", "call", "shop/refund", "order_id=7", "amount=10", "note=again", "--answer", "template"]);
    assert_eq!(shop.refunds(), 1);
    let said = format!("the receipt of an equal call was used: step `refund` of run `{}` at ", text(&key, "run"));
    assert!(stdout(&call).contains(&said), "{}", stdout(&call));
    let shown = shop.finish(&["runs", "show", "last"]);
    assert!(stdout(&shown).contains(&said), "{}", stdout(&shown));
    let history = shop.finish(&["runs", "show", "last", "--step", "call"]);
    assert!(stdout(&history).contains(&said), "{}", stdout(&history));
    assert_eq!(receipt(&ended(shop.refund("11"))), r#"{"refund":2}"#);
    assert_eq!(shop.refunds(), 2, "another amount is another deed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_processes_at_once_make_one_refund() {
    let shop = Shop::held().await;
    let children: Vec<Child> = (0..20).map(|_| shop.refund("10")).collect();
    shop.tool.wait_for_calls(1).await;
    shop.barrier.release_all();
    for child in children {
        assert_eq!(receipt(&ended(child)), FIRST);
    }
    assert_eq!(shop.refunds(), 1);
}

/// A run that was killed during its refund, and another that waits for it.
async fn killed_and_waiting() -> (Shop, Child, String) {
    let shop = Shop::held().await;
    let first = shop.refund("10");
    shop.tool.wait_for_calls(1).await;
    kill(first);
    let key = shop.key();
    assert_eq!(text(&key, "state"), "pending");
    let run = text(&key, "run").to_owned();
    let second = shop.refund("10");
    let began = std::time::Instant::now();
    loop {
        let shown = stdout(&shop.finish(&["runs", "show", "last"]));
        if shown.contains(&format!("waiting for the same call of run {run}")) {
            break;
        }
        assert!(began.elapsed() < crate::world::TIMEOUT, "{shown}");
    }
    shop.barrier.release_all();
    let resumed = shop.finish(&["runs", "resume", &run]);
    assert_eq!(resumed.status.code(), Some(6), "a person decides: {}", stderr(&resumed));
    assert_eq!(shop.refunds(), 1);
    (shop, second, run)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_outcome_makes_the_second_wait_until_a_person_says_that_it_happened() {
    let (shop, second, run) = killed_and_waiting().await;
    let settled = shop.finish(&["runs", "settle", &run, "--happened", "--result", FIRST]);
    assert!(settled.status.success(), "{}", stderr(&settled));
    let resumed = shop.finish(&["runs", "resume", &run]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    assert_eq!(receipt(&ended(second)), FIRST);
    assert_eq!(shop.refunds(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_outcome_makes_the_second_wait_until_a_person_says_that_it_did_not_happen() {
    let (shop, second, run) = killed_and_waiting().await;
    let settled = shop.finish(&["runs", "settle", &run, "--did-not-happen"]);
    assert!(settled.status.success(), "{}", stderr(&settled));
    let first = shop.finish(&["runs", "resume", &run, "--answer", "raw"]);
    assert_eq!(receipt(&first), r#"{"refund":2}"#);
    assert_eq!(receipt(&ended(second)), r#"{"refund":2}"#);
    assert_eq!(shop.refunds(), 2, "one for the run that was killed, and one for both");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_may_not_wait_longer_says_whom_it_waited_for_and_the_key_can_be_forgotten() {
    let shop = Shop::held().await;
    let window = "window = \"1h\"";
    shop.configure(window, "");
    let first = shop.refund("10");
    shop.tool.wait_for_calls(1).await;
    kill(first);
    shop.barrier.release_all();
    let key = shop.key();
    // Only the run that waits in vain is short of time.
    shop.configure(window, "[limits]\nstep-time = \"2s\"\n");
    let second = ended(shop.refund("10"));
    shop.configure(window, "");
    assert_eq!(second.status.code(), Some(1), "{}", stderr(&second));
    let (run, name) = (text(&key, "run"), text(&key, "key"));
    let said = format!("{}{}", stdout(&second), stderr(&second));
    for part in [format!("step `refund` of run `{run}`"), format!("`reknit keys forget {name}`")] {
        assert!(said.contains(&part), "{said}");
    }
    assert_eq!(shop.refunds(), 1);
    let forgotten = shop.finish(&["keys", "forget", &name[..6]]);
    assert!(forgotten.status.success(), "{}", stderr(&forgotten));
    assert_eq!(receipt(&ended(shop.refund("10"))), r#"{"refund":2}"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_and_a_plan_share_the_key() {
    let shop = Shop::new().await;
    let script = Script::new()
        .on(
            RequestMatcher::any().lacks("refund\":1"),
            Reply::tool_call("shop__refund", r#"{"order_id": 7, "amount": "10"}"#),
        )
        .on(RequestMatcher::any(), Reply::tool_call("agent__final_report", r#"{"report_content": "Refunded."}"#));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let models = format!("[[models]]\nname = \"m\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    shop.configure("", &models);
    fs::write(shop.path("clerk.md"), "---\ntools: [shop]\nmaxTurns: 4\n---\nYou refund.\n").expect("the agent");
    let agent = shop.path("clerk.md").to_string_lossy().into_owned();
    let session = |shop: &Shop| {
        let ended = shop.finish(&["agent", &agent, "Refund order 7.", "--json"]);
        assert_eq!(ended.status.code(), Some(0), "{}{}", stdout(&ended), stderr(&ended));
        stdout(&ended)
    };
    session(&shop);
    let key = shop.key();
    assert_eq!((text(&key, "state"), text(&key, "step")), ("done", "turn-1/call-1"));
    assert_eq!(receipt(&ended(shop.refund("10"))), FIRST);
    let second = session(&shop);
    assert!(second.contains("the receipt of an equal call was used: step `turn-1/call-1` of run"), "{second}");
    assert_eq!(shop.refunds(), 1);
}
