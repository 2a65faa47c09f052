//! Plays the session of a file: scripted models on loopback, a shop as tool, and a clock that skips every wait.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use reknit_engine::{
    ContextAction, Effect, Policy, Report, ReportFormat, ReportRules, SessionRecord, SessionRules, SessionStarted,
    WaitEnd,
};
use reknit_fakes::model::ReceivedRequest;
use reknit_fakes::{Scenario, ScriptedModel};
use reknit_models::{Models, Target};
use reknit_protocol::Value;
use reknit_runtime::{CallLimits, Driver, Network, Watcher};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::drive::fixture::ManualClock;
use crate::drive::golden;
use crate::drive::sessions::{Scene, reported};

/// The sessions whose journals are kept for later builds.
const GOLDEN: [&str; 7] = [
    "call-made-twice",
    "collapse",
    "malformed-call-with-siblings",
    "provider-cycling",
    "result-stored",
    "wait-stopped",
    "window-last-turn",
];

/// A session: its targets and rules, the scripts of the models, and the expected outcome.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    targets: Vec<String>,
    #[serde(default)]
    rules: Rules,
    /// The scripts of the models, in the format of [`Scenario`].
    models: serde_json::Value,
    /// The known context windows, in tokens.
    #[serde(default)]
    windows: BTreeMap<String, u32>,
    /// What the user does during the first wait.
    during_wait: Option<UserAction>,
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
    longest_wait_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UserAction {
    Stop,
    Cancel,
}

/// The expected outcome. Optional fields are checked only if they are given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Every attempt as `turn.attempt target status`, with the action after a failure. Also every target that was skipped,
    /// because its breaker is open or its window is too small, and every stored result.
    ledger: Vec<String>,
    /// Every wait as `ms end`.
    #[serde(default)]
    waits: Vec<String>,
    /// The reason and the source of every wait.
    wait_causes: Option<Vec<String>>,
    exit: String,
    source: String,
    /// Why and how the number of turns was reduced.
    #[serde(default)]
    collapsed: Vec<String>,
    /// Entries of the report's metadata.
    #[serde(default)]
    metadata: BTreeMap<String, serde_json::Value>,
    content: Option<String>,
    /// The number of calls to the shop.
    #[serde(default)]
    calls: usize,
    #[serde(default)]
    requests: Vec<Request>,
}

/// What a request to a model must contain.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    to: String,
    nth: usize,
    /// The roles of the messages, without notices.
    roles: Option<Vec<String>>,
    /// The beginning of each notice after `System notice: `.
    notices: Option<Vec<String>>,
    tools: Option<Vec<String>>,
    max_tokens: Option<u64>,
    /// Texts that it contains.
    #[serde(default)]
    says: Vec<String>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/sessions")
}

/// The names of the files.
pub(super) fn files() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder exists");
    let name = |path: PathBuf| path.file_stem().expect("a file name").to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("it can be read").path())).collect();
    names.sort();
    names
}

pub(super) async fn play(name: &str) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).expect("the file exists");
    let file: File = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let scenario = serde_json::json!({"about": file.about, "models": file.models}).to_string();
    let models = Scenario::read(&scenario).expect("a scenario").start().await.expect("the models start");
    let scene = Scene::without_model().await;
    let report = drive(&scene, &file, &models).await;
    if GOLDEN.contains(&name) {
        golden::record(&format!("session-{name}"), &scene.fixture.journal, "s").await;
    }
    let records = scene.records().await;
    let expect = &file.expect;
    assert_eq!(ledger(&records), expect.ledger, "{name}: the attempts");
    assert_eq!(waits(&records), expect.waits, "{name}: the waits");
    if let Some(causes) = &expect.wait_causes {
        assert_eq!(&wait_causes(&records), causes, "{name}: the causes of the waits");
    }
    assert_eq!(collapses(&records), expect.collapsed, "{name}: the reduced turns");
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
        check_request(name, request, wanted);
    }
    assert!(
        models.values().flat_map(ScriptedModel::requests).all(|request| request.matched),
        "{name}: a script has no rule for a request"
    );
}

async fn drive(scene: &Scene, file: &File, models: &BTreeMap<String, ScriptedModel>) -> Report {
    let target = |name: &String| Target::new(name.as_str(), models[name].base_url(), "scripted");
    let targets = Models::new(file.targets.iter().map(target).collect()).expect("the targets are valid");
    let transport = Network { models: Arc::new(targets), tools: scene.fixture.found.tools.clone() };
    let clock = scene.fixture.clock.clone();
    let (stop, cancel, action) = (CancellationToken::new(), CancellationToken::new(), file.during_wait);
    let tokens = (stop.clone(), cancel.clone());
    let watcher = Watcher::inline(move |committed| {
        let machine = committed.machine;
        let wait = machine.pending().into_iter().find_map(|effect| match effect {
            Effect::Sleep { id, until_ms } if id.kind() == reknit_protocol::EffectKind::AskWait => {
                u64::try_from(until_ms).ok()
            }
            _ => None,
        });
        match (wait, action) {
            (Some(_), Some(UserAction::Stop)) => tokens.0.cancel(),
            (Some(_), Some(UserAction::Cancel)) => tokens.1.cancel(),
            (Some(until_ms), None) => clock.advance_to(until_ms),
            (None, _) => {}
        }
    });
    let clock = Arc::new(ManualClock(scene.fixture.clock.clone()));
    let driver = Driver::new(scene.fixture.journal.clone(), Arc::new(transport), clock, CallLimits::default());
    let driver = driver.with_watcher(watcher).with_stop_token(stop).with_cancel_token(cancel);
    let targets = file.targets.iter().map(|name| name.as_str().into()).collect();
    let mut policy = Policy::default();
    policy.rotation.context_windows =
        file.windows.iter().map(|(name, window)| (name.as_str().into(), *window)).collect();
    policy.rotation.max_wait_ms = file.rules.longest_wait_ms.unwrap_or(policy.rotation.max_wait_ms);
    let policy = Arc::new(policy);
    let started = SessionStarted { targets, rules: rules(&file.rules), policy, ..scene.started() };
    reported(driver.start(started).await.expect("the run is driven"))
}

fn rules(file: &Rules) -> SessionRules {
    let defaults = SessionRules::default();
    let schema = file.report_schema.as_ref().map(|schema| Value::parse(&schema.to_string()).expect("JSON"));
    let report = match schema {
        Some(schema) => ReportRules { format: ReportFormat::Json, schema: Some(schema) },
        None => defaults.report.clone(),
    };
    SessionRules {
        max_turns: file.max_turns.unwrap_or(defaults.max_turns),
        max_retries: file.max_retries.unwrap_or(defaults.max_retries),
        llm_timeout_ms: file.llm_timeout_ms.unwrap_or(defaults.llm_timeout_ms),
        result_bytes: file.max_result_bytes.unwrap_or(defaults.result_bytes),
        report,
        ..defaults
    }
}

fn ledger(records: &[SessionRecord]) -> Vec<String> {
    let line = |record: &SessionRecord| {
        let attempt = match record {
            SessionRecord::Attempt(attempt) => attempt,
            SessionRecord::ContextGuard { turn, action: ContextAction::Skipped(target) } => {
                return Some(format!("{turn} {target} too small"));
            }
            SessionRecord::ContextGuard { turn, action } => return Some(format!("{turn} {}", action.as_str())),
            SessionRecord::ResultStored { turn, tool, .. } => return Some(format!("{turn} {tool} stored")),
            SessionRecord::TargetSkipped { turn, target, .. } => return Some(format!("{turn} {target} breaker open")),
            _ => return None,
        };
        let action = attempt.directive.as_ref().map(|directive| format!(" {}", directive.action.as_str()));
        let (turn, number, target) = (attempt.turn, attempt.attempt, &attempt.target);
        Some(format!("{turn}.{number} {target} {}{}", attempt.status.as_str(), action.unwrap_or_default()))
    };
    records.iter().filter_map(line).collect()
}

fn waits(records: &[SessionRecord]) -> Vec<String> {
    let line = |record: &SessionRecord| {
        let SessionRecord::WaitEnded { ms, end, .. } = record else { return None };
        let end = match end {
            WaitEnd::Completed => "completed",
            WaitEnd::AbortedStop => "aborted_stop",
            WaitEnd::AbortedCancel => "aborted_cancel",
        };
        Some(format!("{ms} {end}"))
    };
    records.iter().filter_map(line).collect()
}

fn wait_causes(records: &[SessionRecord]) -> Vec<String> {
    let line = |record: &SessionRecord| {
        let SessionRecord::WaitStarted { reason, source, .. } = record else { return None };
        Some(format!("{reason} {}", source.as_ref().map(ToString::to_string).unwrap_or_default()))
    };
    records.iter().filter_map(line).collect()
}

fn collapses(records: &[SessionRecord]) -> Vec<String> {
    let line = |record: &SessionRecord| {
        let SessionRecord::Collapsed { reason, previous_max_turns, new_max_turns, .. } = record else { return None };
        Some(format!("{} {previous_max_turns} -> {new_max_turns}", reason.as_str()))
    };
    records.iter().filter_map(line).collect()
}

const NOTICE: &str = "System notice: ";

fn check_request(name: &str, request: &ReceivedRequest, wanted: &Request) {
    let case = format!("{name}: request {} to {}", wanted.nth, wanted.to);
    let (notices, others): (Vec<_>, Vec<_>) =
        request.messages.iter().partition(|message| message.content.starts_with(NOTICE));
    if let Some(roles) = &wanted.roles {
        assert_eq!(&others.iter().map(|message| message.role.clone()).collect::<Vec<_>>(), roles, "{case}");
    }
    if let Some(expected) = &wanted.notices {
        let notice_texts: Vec<&str> = notices.iter().filter_map(|notice| notice.content.strip_prefix(NOTICE)).collect();
        assert_eq!(notice_texts.len(), expected.len(), "{case}: {notice_texts:?}");
        for (text, expected) in notice_texts.iter().zip(expected) {
            assert!(text.starts_with(expected.as_str()), "{case}: {text:?} does not begin with {expected:?}");
        }
        assert!(notices.iter().all(|notice| notice.role == "user"), "{case}");
    }
    if let Some(tools) = &wanted.tools {
        let shown = request.body.get("tools").and_then(Value::as_array).unwrap_or_default();
        let name = |tool: &Value| tool.get("function")?.get("name")?.as_str().map(str::to_owned);
        assert_eq!(&shown.iter().filter_map(name).collect::<Vec<_>>(), tools, "{case}");
    }
    for words in &wanted.says {
        assert!(request.text().contains(words), "{case}: there is no {words:?}: {}", request.text());
    }
    if let Some(max_tokens) = wanted.max_tokens {
        let found = request.body.get("max_tokens").map(ToString::to_string);
        assert_eq!(found, Some(max_tokens.to_string()), "{case}");
    }
}
