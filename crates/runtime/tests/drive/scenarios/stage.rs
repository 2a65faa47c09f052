//! Plays a file: models on loopback as it says, a shop to call, and a clock that leaps over every wait.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use reknit_engine::{
    ContextAction, Effect, Event, Machine, Policy, Record, Report, ReportFormat, ReportRules, Session, SessionRules,
    SessionStarted, WaitEnd,
};
use reknit_models::{Models, Target};
use reknit_protocol::Value;
use reknit_runtime::{CallLimits, Driver, Network, Watcher};
use reknit_testing::model::ModelRequest;
use reknit_testing::{Scenario, ScriptedModel};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::sessions::{Scene, reported};
use crate::world::Still;

/// A session as a file: who is asked under which rules, what the models do, and what must come of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    targets: Vec<String>,
    #[serde(default)]
    rules: Rules,
    /// The scripts of the models, as [`Scenario`] has them.
    models: serde_json::Value,
    /// How many tokens models can read, where that is known.
    #[serde(default)]
    windows: BTreeMap<String, u32>,
    /// What somebody does as soon as everybody waits.
    during_wait: Option<Deed>,
    expect: Expect,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    max_turns: Option<u32>,
    max_retries: Option<u32>,
    llm_timeout_ms: Option<u64>,
    max_result_bytes: Option<usize>,
    report_schema: Option<serde_json::Value>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Deed {
    Stop,
    Cancel,
}

/// What must come of it. What is not named is not looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Every attempt: `turn.attempt target status`, and what was done about a failure; and who was passed over for it rests
    /// or is too small, and what was stored to make room.
    ledger: Vec<String>,
    /// Every wait: `ms what-ended-it`.
    #[serde(default)]
    waits: Vec<String>,
    exit: String,
    source: String,
    /// Why there are fewer turns, and how many.
    #[serde(default)]
    collapsed: Vec<String>,
    /// What the metadata of the report must hold.
    #[serde(default)]
    metadata: BTreeMap<String, serde_json::Value>,
    content: Option<String>,
    /// How often the shop was called.
    #[serde(default)]
    calls: usize,
    #[serde(default)]
    requests: Vec<Request>,
}

/// What must be in a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    to: String,
    nth: usize,
    /// Who says what, notices left out.
    roles: Option<Vec<String>>,
    /// How each notice goes on behind `System notice: `.
    notices: Option<Vec<String>>,
    tools: Option<Vec<String>>,
    max_tokens: Option<u64>,
    /// What somebody says in it.
    #[serde(default)]
    says: Vec<String>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/sessions")
}

/// The names of the files.
pub(super) fn files() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder is there");
    let name = |path: PathBuf| path.file_stem().expect("it has a name").to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("it can be read").path())).collect();
    names.sort();
    names
}

pub(super) async fn play(name: &str) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).expect("the file is there");
    let file: File = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let scenario = serde_json::json!({"about": file.about, "models": file.models}).to_string();
    let models = Scenario::read(&scenario).expect("a scenario").start().await.expect("they start");
    let scene = Scene::without_a_model().await;
    let report = drive(&scene, &file, &models).await;
    let session = scene.read_back().await;
    let expect = &file.expect;
    assert_eq!(ledger(&session), expect.ledger, "{name}: the attempts");
    assert_eq!(waits(&session), expect.waits, "{name}: the waits");
    assert_eq!(collapses(&session), expect.collapsed, "{name}: the turns that are left");
    assert_eq!(
        (report.exit.as_str(), report.source.as_str()),
        (expect.exit.as_str(), expect.source.as_str()),
        "{name}"
    );
    assert_eq!(scene.shop.calls().len(), expect.calls, "{name}: the calls");
    for (key, value) in &expect.metadata {
        let found = report.metadata.get(key).map(ToString::to_string);
        assert_eq!(found, Some(value.to_string()), "{name}: {key}");
    }
    if let Some(content) = &expect.content {
        assert_eq!(&report.content, content, "{name}");
    }
    for wanted in &expect.requests {
        let requests = models[&wanted.to].requests();
        let request = requests.get(wanted.nth - 1).unwrap_or_else(|| panic!("{name}: {wanted:?} was not made"));
        look(name, request, wanted);
    }
    assert!(
        models.values().flat_map(ScriptedModel::requests).all(|request| request.matched),
        "{name}: a script has a hole"
    );
}

async fn drive(scene: &Scene, file: &File, models: &BTreeMap<String, ScriptedModel>) -> Report {
    let target = |name: &String| Target::new(name.as_str(), models[name].base_url(), "scripted");
    let targets = Models::new(file.targets.iter().map(target).collect()).expect("the targets are well formed");
    let edge = Network { models: Arc::new(targets), tools: scene.world.found.tools.clone() };
    let clock = scene.world.clock.clone();
    let (stop, cancel, deed) = (CancellationToken::new(), CancellationToken::new(), file.during_wait);
    let ends = (stop.clone(), cancel.clone());
    let watcher: Watcher = Arc::new(move |machine: &Machine, _: &Event| {
        let wait = machine.pending().into_iter().find_map(|effect| match effect {
            Effect::Sleep { id, until_ms } if id.kind() == reknit_protocol::EffectKind::AskWait => {
                u64::try_from(until_ms).ok()
            }
            _ => None,
        });
        match (wait, deed) {
            (Some(_), Some(Deed::Stop)) => ends.0.cancel(),
            (Some(_), Some(Deed::Cancel)) => ends.1.cancel(),
            (Some(until_ms), None) => clock.advance_to(until_ms),
            (None, _) => {}
        }
    });
    let clock = Arc::new(Still(scene.world.clock.clone()));
    let driver = Driver::new(scene.world.journal.clone(), Arc::new(edge), clock, CallLimits::default());
    let driver = driver.watched_by(watcher).stopped_by(stop).cancelled_by(cancel);
    let targets = file.targets.iter().map(|name| name.as_str().into()).collect();
    let mut policy = Policy::default();
    policy.rotation.windows = file.windows.iter().map(|(name, window)| (name.as_str().into(), *window)).collect();
    let policy = Arc::new(policy);
    let started = SessionStarted { targets, rules: rules(&file.rules), policy, ..scene.started() };
    reported(driver.start(started).await.expect("it is driven"))
}

fn rules(file: &Rules) -> SessionRules {
    let usual = SessionRules::default();
    let schema = file.report_schema.as_ref().map(|schema| Value::parse(&schema.to_string()).expect("JSON"));
    let report = match schema {
        Some(schema) => ReportRules { format: ReportFormat::Json, schema: Some(schema) },
        None => usual.report.clone(),
    };
    SessionRules {
        max_turns: file.max_turns.unwrap_or(usual.max_turns),
        max_retries: file.max_retries.unwrap_or(usual.max_retries),
        llm_timeout_ms: file.llm_timeout_ms.unwrap_or(usual.llm_timeout_ms),
        result_bytes: file.max_result_bytes.unwrap_or(usual.result_bytes),
        report,
        ..usual
    }
}

fn ledger(session: &Session) -> Vec<String> {
    let line = |record: &Record| {
        let attempt = match record {
            Record::Attempt(attempt) => attempt,
            Record::ContextGuard { turn, action: ContextAction::Skipped(target) } => {
                return Some(format!("{turn} {target} too small"));
            }
            Record::ContextGuard { turn, action } => return Some(format!("{turn} {}", action.as_str())),
            Record::ResultStored { turn, tool, .. } => return Some(format!("{turn} {tool} stored")),
            Record::Rested { turn, target, .. } => return Some(format!("{turn} {target} rests")),
            _ => return None,
        };
        let action = attempt.directive.as_ref().map(|directive| format!(" {}", directive.action.as_str()));
        let (turn, number, target) = (attempt.turn, attempt.attempt, &attempt.target);
        Some(format!("{turn}.{number} {target} {}{}", attempt.status.as_str(), action.unwrap_or_default()))
    };
    session.records().iter().filter_map(line).collect()
}

fn waits(session: &Session) -> Vec<String> {
    let line = |record: &Record| {
        let Record::Waited { ms, end, .. } = record else { return None };
        let end = match end {
            WaitEnd::Completed => "completed",
            WaitEnd::AbortedStop => "aborted_stop",
            WaitEnd::AbortedCancel => "aborted_cancel",
        };
        Some(format!("{ms} {end}"))
    };
    session.records().iter().filter_map(line).collect()
}

fn collapses(session: &Session) -> Vec<String> {
    let line = |record: &Record| {
        let Record::Collapsed { reason, previous_max_turns, new_max_turns, .. } = record else { return None };
        Some(format!("{} {previous_max_turns} -> {new_max_turns}", reason.as_str()))
    };
    session.records().iter().filter_map(line).collect()
}

const NOTICE: &str = "System notice: ";

fn look(name: &str, request: &ModelRequest, wanted: &Request) {
    let case = format!("{name}: request {} to {}", wanted.nth, wanted.to);
    let (notices, others): (Vec<_>, Vec<_>) =
        request.messages.iter().partition(|message| message.content.starts_with(NOTICE));
    if let Some(roles) = &wanted.roles {
        assert_eq!(&others.iter().map(|message| message.role.clone()).collect::<Vec<_>>(), roles, "{case}");
    }
    if let Some(expected) = &wanted.notices {
        let said: Vec<&str> = notices.iter().filter_map(|notice| notice.content.strip_prefix(NOTICE)).collect();
        assert_eq!(said.len(), expected.len(), "{case}: {said:?}");
        for (said, expected) in said.iter().zip(expected) {
            assert!(said.starts_with(expected.as_str()), "{case}: {said:?} does not begin with {expected:?}");
        }
        assert!(notices.iter().all(|notice| notice.role == "user"), "{case}");
    }
    if let Some(tools) = &wanted.tools {
        let shown = request.body.get("tools").and_then(Value::as_array).unwrap_or_default();
        let name = |tool: &Value| tool.get("function")?.get("name")?.as_str().map(str::to_owned);
        assert_eq!(&shown.iter().filter_map(name).collect::<Vec<_>>(), tools, "{case}");
    }
    for words in &wanted.says {
        assert!(request.text().contains(words), "{case}: nobody says {words:?}: {}", request.text());
    }
    if let Some(most) = wanted.max_tokens {
        let found = request.body.get("max_tokens").map(ToString::to_string);
        assert_eq!(found, Some(most.to_string()), "{case}");
    }
}
