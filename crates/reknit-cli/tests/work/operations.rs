//! The same operations on a run by every way there is: commands, the API, the pages and the library. Journals and refusals are equal.

use std::path::Path;

use reknit::journal::{Durability, Journal};
use reknit::plan::read_plan_file;
use reknit::runtime::Refusal;
use reknit::runtime::operations::{self, StartOptions};
use reknit::{AskPerson, Decision, Object, Reknit, RunError, RunHandle, RunId, Value};
use reknit_engine::{AskScope, Event, EventKind, Synthesis};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::{SideEffect, percent_encoded};

use crate::serve::Serving;
use crate::world::{World, text};

const RUN: &str = "r";
const CONFIG: &str = "[approvals]\nask = \"all\"\n";
const PLAN: &str = "request: Pay\nsteps: [{id: pay, tool: shop/pay, with: {amount: 150}}]\n";

/// What is done, one after the other.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Start,
    /// A call that was not sent cannot have happened.
    SayItHappened,
    /// With an amount that the schema does not allow.
    EditBadly,
    Retry,
    Deny,
    /// The question is decided by then.
    Approve,
    /// Lets the run go on, until it ends or waits.
    GoOn,
    Cancel,
    Edit,
}

use Operation::{Approve, Cancel, Deny, Edit, EditBadly, GoOn, Retry, SayItHappened, Start};

/// Every operation when it is right and when it is not. The second run of steps begins with the retry of a denied call.
const SCRIPT: [Operation; 15] = [
    Start,
    SayItHappened,
    EditBadly,
    Retry,
    Deny,
    Deny,
    Approve,
    GoOn,
    Cancel,
    Retry,
    EditBadly,
    Edit,
    Edit,
    GoOn,
    Retry,
];

/// A way to do them. Each returns why it was refused.
trait Face {
    async fn act(&mut self, operation: Operation) -> Result<(), String>;
}

struct Commands<'w>(&'w World);

impl Face for Commands<'_> {
    async fn act(&mut self, operation: Operation) -> Result<(), String> {
        let arguments: &[&str] = match operation {
            Start => &["run", "--run-id", RUN, "--answer", "template", "plan.yaml"],
            SayItHappened => &["runs", "settle", RUN, "--happened"],
            EditBadly => &["runs", "approve", RUN, "--set", "amount=0"],
            Edit => &["runs", "approve", RUN, "--set", "amount=5"],
            Deny => &["runs", "deny", RUN, "--reason", "too much"],
            Approve => &["runs", "approve", RUN],
            GoOn => &["runs", "resume", RUN],
            Retry => &["runs", "retry", RUN],
            Cancel => &["runs", "cancel", RUN],
        };
        let output = self.0.output(arguments);
        let (status, error) = (output.status.code().unwrap_or_default(), text(&output.stderr));
        let message = error.lines().find_map(|line| line.strip_prefix("error: ")).map(str::to_owned);
        assert_eq!(status == 2, message.is_some(), "{operation:?}: {status} {error}");
        message.map_or(Ok(()), Err)
    }
}

/// The API, and the pages, whose forms are sent to the same server.
struct Http<'s> {
    server: &'s Serving,
    has_pages: bool,
}

impl Http<'_> {
    fn get(&self, path: &str) -> Value {
        let response = self.server.request("GET", path, "", "");
        let (_, body) = response.split_once("\r\n\r\n").expect("a body");
        Value::parse(body.trim()).unwrap_or_default()
    }

    /// The path of the newest question, and its hash. Those of a question that is decided are as before.
    fn question(&self, known: &mut (String, String)) -> (String, String) {
        let run = self.get(&format!("/v1/runs/{RUN}"));
        let first = run.get("questions").and_then(|questions| questions.as_array()?.first());
        let text = |key: &str| Some(first?.get(key)?.as_str()?.to_owned());
        if let (Some(question), Some(hash)) = (text("question"), text("hash")) {
            *known = (question, hash);
        }
        known.clone()
    }

    fn decide(&self, known: &mut (String, String), decision: &str, more: &[(&str, &str)]) -> Result<(), String> {
        let (question, hash) = self.question(known);
        let path = format!("/runs/{RUN}/decisions/{}", percent_encoded(&question));
        let fields = [[("hash", hash.as_str()), ("decision", decision)].as_slice(), more].concat();
        self.post(&path, &fields)
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Result<(), String> {
        if self.has_pages {
            return self.form(path, fields);
        }
        let is_json = |name: &str| matches!(name, "parameters" | "result");
        let field = |(name, value): &(&str, &str)| {
            let value = if is_json(name) { (*value).to_owned() } else { Value::from(*value).to_string() };
            format!("\"{name}\": {value}")
        };
        let body = format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "));
        let response = self.server.request("POST", &format!("/v1{path}"), "", &body);
        let (_, body) = response.split_once("\r\n\r\n").expect("a body");
        let body = Value::parse(body.trim()).unwrap_or_default();
        match body.get("error").and_then(|error| error.get("message")?.as_str()) {
            Some(message) => Err(message.to_owned()),
            None => Ok(()),
        }
    }

    fn form(&self, path: &str, fields: &[(&str, &str)]) -> Result<(), String> {
        let field = |(name, value): &(&str, &str)| format!("{name}={}", percent_encoded(value));
        let body = fields.iter().map(field).collect::<Vec<_>>().join("&");
        let kind = "content-type: application/x-www-form-urlencoded\r\n";
        let response = self.server.request("POST", path, kind, &body);
        if response.starts_with("HTTP/1.1 303") {
            return Ok(());
        }
        let (_, page) = response.split_once("<main").expect("a page");
        Err(plain_text(page))
    }

    /// Waits until the run has ended or waits for a person.
    fn settle(&self) {
        let is_moving = || {
            let run = self.get(&format!("/v1/runs/{RUN}"));
            !run.get("status").and_then(Value::as_str).is_some_and(|status| matches!(status, "complete" | "failed"))
                && run.get("questions").and_then(Value::as_array).is_none_or(<[Value]>::is_empty)
        };
        while is_moving() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// The text of a page, without its tags and without the marks of code.
fn plain_text(page: &str) -> String {
    let parts = page.split('<').filter_map(|part| part.split_once('>').map(|(_, text)| text));
    let text = parts.collect::<String>();
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

struct HttpFace<'s> {
    http: Http<'s>,
    known: (String, String),
}

impl Face for HttpFace<'_> {
    async fn act(&mut self, operation: Operation) -> Result<(), String> {
        let Self { http, known } = self;
        match operation {
            Start if http.has_pages => {
                http.form(
                    "/new",
                    &[("kind", "plan"), ("text", PLAN), ("run_id", RUN), ("answer", "template"), ("do", "run")],
                )?;
                http.settle();
                Ok(())
            }
            Start => http.post("/runs", &[("run_id", RUN), ("plan", PLAN), ("answer", "template")]),
            SayItHappened => http.decide(known, "happened", &[]),
            EditBadly => http.decide(known, "edit", &[("parameters", r#"{"amount": 0}"#)]),
            Edit => http.decide(known, "edit", &[("parameters", r#"{"amount": 5}"#)]),
            Deny => http.decide(known, "deny", &[("reason", "too much")]),
            Approve => http.decide(known, "approve", &[]),
            // The server lets a run go on that is decided.
            GoOn => {
                http.settle();
                Ok(())
            }
            Retry => {
                http.post(&format!("/runs/{RUN}/retry"), &[])?;
                http.settle();
                Ok(())
            }
            Cancel => http.post(&format!("/runs/{RUN}/cancel"), &[]),
        }
    }
}

struct Library {
    reknit: Reknit,
    handle: Option<RunHandle>,
    asked: Option<AskPerson>,
}

impl Library {
    fn handle(&self) -> &RunHandle {
        self.handle.as_ref().expect("it was started")
    }

    async fn decide(&mut self, decision: Decision) -> Result<(), String> {
        let asked = self.asked.as_ref().expect("it asks");
        self.handle().decide(asked, decision).await.map(|_| ()).map_err(|refusal: Refusal| refusal.to_string())
    }

    /// Waits until the run has ended or waits for a person, and looks at its question.
    async fn settle(&mut self) {
        self.handle().settled().await.expect("it is driven");
        if let Some(question) = self.handle().questions().await.expect("it can be read").into_iter().next() {
            self.asked = Some(question);
        }
    }
}

fn amount(amount: i64) -> Decision {
    Decision::Edit { parameters: Object::from([("amount", amount.into())]) }
}

impl Face for Library {
    async fn act(&mut self, operation: Operation) -> Result<(), String> {
        match operation {
            Start => {
                let (plan, _) = read_plan_file(PLAN).expect("a plan");
                let runtime = self.reknit.runtime();
                let options = StartOptions {
                    id: Some(RunId::new(RUN)),
                    answer: Some(Synthesis::Template),
                    ask: Some(AskScope::All),
                    ..StartOptions::default()
                };
                let start = operations::start(runtime, runtime.started("Pay", Some(plan)), options);
                self.handle = Some(self.reknit.start(start.map_err(|refusal| refusal.to_string())?));
                self.settle().await;
                Ok(())
            }
            SayItHappened => self.decide(Decision::Happened { result: Value::Null }).await,
            EditBadly => self.decide(amount(0)).await,
            Edit => self.decide(amount(5)).await,
            Deny => self.decide(Decision::Deny { reason: Some("too much".to_owned()) }).await,
            Approve => self.decide(Decision::Approve).await,
            GoOn => {
                self.settle().await;
                Ok(())
            }
            Retry => {
                let handle = self.reknit.retry(&RunId::new(RUN));
                match handle.continued().await {
                    Err(RunError::NotDriven(error)) => Err(error.to_string()),
                    other => {
                        other.expect("it goes on");
                        self.handle = Some(handle);
                        self.settle().await;
                        Ok(())
                    }
                }
            }
            Cancel => self.handle().cancel().await.map(|_| ()).map_err(|refusal| refusal.to_string()),
        }
    }
}

async fn shop() -> RunningTool {
    let schema = r#"{"type": "object", "properties": {"amount": {"type": "integer", "minimum": 1}}}"#;
    let tool = ScriptedTool::new("shop").capability("pay", SideEffect::Unsafe);
    let tool = tool.schema(Value::parse(schema).expect("JSON")).on("pay", CallMatcher::any(), Reply::data("paid"));
    tool.start().await.expect("the tool starts")
}

fn world(shop: &RunningTool) -> World {
    World::new().configured(&[shop], CONFIG).file("plan.yaml", PLAN)
}

/// Why each operation was refused; `None` if it was carried out.
async fn play(mut face: impl Face) -> Vec<Option<String>> {
    let mut refusals = Vec::new();
    for operation in SCRIPT {
        refusals.push(face.act(operation).await.err());
    }
    refusals
}

/// What the journal has of the run: the kinds of its events, and its decisions with all that they say.
async fn events(path: &Path) -> Vec<String> {
    let journal = Journal::open(path, Durability::Full).expect("the journal can be opened");
    let stored = journal.events(&RunId::new(RUN), 0).await.expect("the run");
    let events = stored.iter().map(|stored| serde_json::from_str::<Event>(&stored.body).expect("an event"));
    // How often a process took the run over differs: a command ends when its run waits.
    let events = events.filter(|event| !matches!(event.kind, EventKind::Resumed));
    let text = |event: Event| match event.kind {
        EventKind::PersonDecided { effect, hash, decision, by } => format!("{effect} {hash} {decision:?} by {by:?}"),
        kind => kind.name().to_owned(),
    };
    let mut texts: Vec<String> = events.map(text).collect();
    // The same decision again changes nothing. Where a run reads the first one just then, it notes both.
    texts.dedup();
    texts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_to_control_a_run_leaves_the_same_journal_and_refuses_in_the_same_words() {
    let shop_of_commands = shop().await;
    let by_command = world(&shop_of_commands);
    let refusals = play(Commands(&by_command)).await;
    let journal = by_command.path().join("data/reknit/journal.db");
    let expected = events(&journal).await;
    let refused: Vec<String> = SCRIPT
        .iter()
        .zip(&refusals)
        .filter_map(|(operation, why)| Some(format!("{operation:?}: {}", why.as_ref()?)))
        .collect();
    insta::assert_snapshot!(refused.join("\n"), @r"
    SayItHappened: the call of step `pay` was not sent yet: approve or deny it
    EditBadly: the corrected parameters do not fit the schema: `$.amount`: expected at least 1, found 0
    Retry: run `r` goes on, so it cannot be opened again
    Approve: the question `pay/approval/1` of run `r` is decided already: denied
    Cancel: run `r` has ended (failed)
    EditBadly: the corrected parameters do not fit the schema: `$.amount`: expected at least 1, found 0
    Retry: run `r` cannot be retried: only a run that is partial, that failed or that reached a limit can be retried
    ");
    assert_eq!(shop_of_commands.calls()[0].parameters.to_string(), r#"{"amount":5}"#);

    for has_pages in [false, true] {
        let shop = shop().await;
        let world = world(&shop);
        let server = Serving::start(&world, &[]);
        let http = Http { server: &server, has_pages };
        let found = play(HttpFace { http, known: Default::default() }).await;
        for ((operation, expected), found) in SCRIPT.iter().zip(&refusals).zip(&found) {
            match (expected, found) {
                (Some(expected), Some(found)) => {
                    let (expected, found) = (expected.replace('`', ""), found.replace('`', ""));
                    assert!(found.contains(&expected), "{operation:?}: {expected} is not in {found}");
                }
                (expected, found) => assert_eq!(found, expected, "{operation:?}"),
            }
        }
        server.stop();
        assert_eq!(events(&world.path().join("data/reknit/journal.db")).await, expected, "pages: {has_pages}");
        assert_eq!(shop.calls().len(), 1);
    }

    let shop = shop().await;
    let folder = World::new();
    let journal = folder.path().join("journal.db");
    let reknit = Reknit::builder().tool_service("shop", &shop.base_url()).journal(&journal).start().await;
    let library = Library { reknit: reknit.expect("it starts"), handle: None, asked: None };
    assert_eq!(play(library).await, refusals);
    assert_eq!(events(&journal).await, expected, "library");
    assert_eq!(shop.calls().len(), 1);
}
