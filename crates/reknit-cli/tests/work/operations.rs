//! The same operations on a run by every way there is: commands, the API, the pages, the webhook and the library. Journals, refusals and
//! explanations are equal.

mod commands;
mod http;
mod library;

use std::path::Path;

use reknit::journal::{Durability, Journal, RunFilter};
use reknit::{Reknit, Value};
use reknit_engine::{Event, EventKind};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::{Object, SideEffect};

use crate::approval_webhook::{Answer, VARIABLES, Webhook};
use crate::serve::Serving;
use crate::world::{World, assert_contains, text};
use commands::Commands;
use http::Http;
use library::Library;

const RUN: &str = "r";
const CONFIG: &str = "[approvals]\nask = \"all\"\n";
const PLAN: &str = "request: Pay\nsteps: [{id: pay, tool: shop/pay, with: {amount: 150}}]\n";

/// What is done, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Lets the run go on until it has ended.
    GoOn,
    Cancel,
    Edit,
    Explain,
    /// From its only step on, without a change: nothing is sent.
    Fork,
    /// At a step that the plan does not have.
    ForkNowhere,
}

use Operation::{
    Approve, Cancel, Deny, Edit, EditBadly, Explain, Fork, ForkNowhere, GoOn, Retry, SayItHappened, Start,
};

/// Every operation when it is right and when it is not. The first ones have no run, and the second run of steps begins with the retry
/// of a denied call.
const DECIDED: [Operation; 25] = [
    Cancel,
    GoOn,
    Retry,
    Explain,
    Fork,
    Start,
    Explain,
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
    // A run that has ended stays as it is.
    GoOn,
    Explain,
    Fork,
    ForkNowhere,
];

/// A run that is cancelled while it waits for a decision.
const CANCELLED: [Operation; 7] = [Start, Cancel, GoOn, Cancel, Approve, Explain, Retry];

/// What became of an operation.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Done,
    Explained(Box<Value>),
    Refused(String),
    /// This way has no such operation.
    NotOffered,
}

impl From<Result<(), String>> for Outcome {
    fn from(done: Result<(), String>) -> Self {
        done.map_or_else(Self::Refused, |()| Self::Done)
    }
}

/// A way to do them.
trait Face {
    async fn act(&mut self, operation: Operation) -> Outcome;
}

async fn play(script: &[Operation], mut face: impl Face) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for operation in script {
        outcomes.push(match face.act(*operation).await {
            Outcome::Explained(explanation) => Outcome::Explained(Box::new(timeless(*explanation))),
            outcome => outcome,
        });
    }
    outcomes
}

/// An explanation without times, which differ, and the cost, which has the time that the run took.
fn timeless(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let lasting = object.into_iter().filter(|(key, _)| !matches!(key.as_str(), "at_ms" | "took_ms" | "cost"));
            Value::Object(lasting.map(|(key, value)| (key, timeless(value))).collect::<Object>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(timeless).collect()),
        Value::String(text) => Value::from(crate::masks::masked(&text, Path::new("/nowhere"))),
        other => other,
    }
}

fn refusals(script: &[Operation], outcomes: &[Outcome]) -> String {
    let refused = script.iter().zip(outcomes).filter_map(|(operation, outcome)| match outcome {
        Outcome::Refused(why) => Some(format!("{operation:?}: {why}")),
        _ => None,
    });
    refused.collect::<Vec<_>>().join("\n")
}

async fn shop() -> RunningTool {
    let schema = r#"{"type": "object", "properties": {"amount": {"type": "integer", "minimum": 1}}}"#;
    let tool = ScriptedTool::new("shop").capability("pay", SideEffect::Unsafe);
    let tool = tool.schema(Value::parse(schema).expect("JSON")).on("pay", CallMatcher::any(), Reply::data("paid"));
    tool.start().await.expect("the tool starts")
}

fn world(shop: &RunningTool, config: &str) -> World {
    World::new().configured(&[shop], config).file("plan.yaml", PLAN)
}

/// What the journal has of each run, the oldest first: the kinds of its events, and its decisions with all that they say.
async fn journalled(path: &Path) -> Vec<Vec<String>> {
    let journal = Journal::open(path, Durability::Full).expect("the journal can be opened");
    let mut runs = journal.runs(&RunFilter::newest(u32::MAX)).await.expect("readable");
    runs.reverse();
    let mut journalled = Vec::new();
    for run in runs {
        let stored = journal.events(&run.run, 0).await.expect("the run");
        let events = stored.iter().map(|stored| serde_json::from_str::<Event>(&stored.body).expect("an event"));
        // How often a process took the run over differs: a command ends when its run waits.
        let events = events.filter(|event| !matches!(event.kind, EventKind::Resumed));
        let text = |event: Event| match event.kind {
            EventKind::PersonDecided { effect, hash, decision, by } => {
                format!("{effect} {hash} {decision:?} by {by:?}")
            }
            kind => kind.name().to_owned(),
        };
        journalled.push(events.map(text).collect());
    }
    journalled
}

fn journal_of(world: &World) -> std::path::PathBuf {
    world.path().join("data/reknit/journal.db")
}

/// Asserts that a script has the same outcomes and leaves the same journal by the API, the pages and the library as by command, with
/// so many calls. Returns why operations were refused.
async fn assert_same_by_every_way(script: &[Operation], calls: usize) -> String {
    let shop_of_commands = shop().await;
    let by_command = world(&shop_of_commands, CONFIG);
    let expected = play(script, Commands(&by_command)).await;
    assert!(!expected.contains(&Outcome::NotOffered), "there is a command for everything");
    let journal = journalled(&journal_of(&by_command)).await;
    assert_eq!(shop_of_commands.calls().len(), calls);

    for way in ["API", "pages"] {
        let shop = shop().await;
        let world = world(&shop, CONFIG);
        let server = Serving::start(&world, &[]);
        let http = if way == "API" { Http::api(&server) } else { Http::pages(&server) };
        let found = play(script, http).await;
        assert_eq!(differences(script, &expected, &found), [""; 0], "{way}");
        // Forks are made by command and by the library. The page of a run shows what the explanation says.
        let missing: &[Operation] = if way == "API" { &[Fork, ForkNowhere] } else { &[Fork, ForkNowhere, Explain] };
        let not_offered =
            |(operation, found): (&Operation, &Outcome)| (*found == Outcome::NotOffered) == missing.contains(operation);
        assert!(script.iter().zip(&found).all(not_offered), "{way}");
        server.stop();
        assert_eq!(journalled(&journal_of(&world)).await, journal[..1], "{way}");
        assert_eq!(shop.calls().len(), calls);
    }

    let shop = shop().await;
    let folder = World::new();
    let path = folder.path().join("journal.db");
    let reknit = Reknit::builder().tool_service("shop", &shop.base_url()).journal(&path).start().await;
    let found = play(script, Library::new(reknit.expect("it starts"))).await;
    assert_eq!(differences(script, &expected, &found), [""; 0], "library");
    assert_eq!(journalled(&path).await, journal, "library");
    assert_eq!(shop.calls().len(), calls);
    refusals(script, &expected)
}

/// How outcomes differ from those by command. A page has more around the words, and no marks of code.
fn differences(script: &[Operation], expected: &[Outcome], found: &[Outcome]) -> Vec<String> {
    let is_same = |expected: &Outcome, found: &Outcome| match (expected, found) {
        (_, Outcome::NotOffered) => true,
        (Outcome::Refused(expected), Outcome::Refused(found)) => {
            found.replace('`', "").contains(&expected.replace('`', ""))
        }
        (expected, found) => expected == found,
    };
    let both = script.iter().zip(expected).zip(found);
    let different = both.filter(|((_, expected), found)| !is_same(expected, found));
    different.map(|((operation, expected), found)| format!("{operation:?}: {expected:?}, but {found:?}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_to_control_a_run_leaves_the_same_journal_and_refuses_in_the_same_words() {
    insta::assert_snapshot!(assert_same_by_every_way(&DECIDED, 1).await, @r"
    Cancel: there is no run `r`
    GoOn: there is no run `r`
    Retry: there is no run `r`
    Explain: there is no run `r`
    Fork: there is no run `r`
    SayItHappened: the call of step `pay` was not sent yet: approve or deny it
    EditBadly: the corrected parameters do not fit the schema: `$.amount`: expected at least 1, found 0
    Retry: run `r` goes on, so it cannot be opened again
    Approve: the question `pay/approval/1` of run `r` is decided already: denied
    Cancel: run `r` has ended (failed)
    EditBadly: the corrected parameters do not fit the schema: `$.amount`: expected at least 1, found 0
    Retry: run `r` cannot be retried: only a run that is partial, that failed or that reached a limit can be retried
    ForkNowhere: run `r` has no step or turn `nowhere` that called a tool or asked somebody
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_to_cancel_a_waiting_run_ends_it_in_the_same_way() {
    insta::assert_snapshot!(assert_same_by_every_way(&CANCELLED, 0).await, @r"
    Cancel: run `r` has ended (cancelled)
    Approve: run `r` has ended (cancelled)
    Retry: run `r` cannot be retried: only a run that is partial, that failed or that reached a limit can be retried
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_decides_and_is_refused_like_a_person() {
    let decision = r#""decision":"deny","reason":"too much""#;
    let by_person = |journal: Vec<Vec<String>>| {
        let text = |event: &String| event.replace("by Webhook", "by Person");
        journal.iter().map(|events| events.iter().map(text).collect()).collect::<Vec<Vec<String>>>()
    };
    let shop = shop().await;
    let by_command = world(&shop, CONFIG);
    let outcomes = play(&[Start, Deny, Approve, GoOn], Commands(&by_command)).await;
    let Outcome::Refused(refusal) = &outcomes[2] else { panic!("{outcomes:?}") };
    let expected = journalled(&journal_of(&by_command)).await;

    let webhook = Webhook::start(Answer::Decide(decision)).await;
    let by_webhook = world(&shop, &webhook.config(CONFIG));
    let start = ["run", "--run-id", RUN, "--answer", "template", "plan.yaml", "--config", "reknit.toml"];
    by_webhook.reknit_with(&VARIABLES, &start);
    let journal = journalled(&journal_of(&by_webhook)).await;
    assert!(journal[0].iter().any(|event| event.ends_with("by Webhook")), "{journal:?}");
    assert_eq!(by_person(journal), expected);

    let webhook = Webhook::start(Answer::DecideLate(r#""decision":"approve""#)).await;
    let late = world(&shop, &webhook.config(CONFIG));
    let child = late.command(&start).envs(VARIABLES).spawn().expect("the command can be run");
    while webhook.received().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(Commands(&late).act(Deny).await, Outcome::Done);
    let waited = text(&child.wait_with_output().expect("it ends").stderr);
    assert_contains(&waited, &format!("its decision is not used: {refusal}"));
    late.reknit_with(&VARIABLES, &["runs", "resume", RUN, "--config", "reknit.toml"]);
    assert_eq!(journalled(&journal_of(&late)).await, expected);
    assert_eq!(shop.call_count(), 0);
}
