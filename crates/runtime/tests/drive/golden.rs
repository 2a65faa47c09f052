//! Journals of real runs and sessions, one for each scenario, in `tests/golden/v<machine version>`. Every build must decide for
//! their events as the build did that recorded them.
//!
//! After a change of `MACHINE_VERSION`, record the scenarios again: `REKNIT_RECORD_GOLDEN=1 cargo test -p reknit-runtime --lib
//! drive golden`. The files of older versions stay, and show that their migrations work.

mod scenarios;

use std::collections::HashSet;
use std::path::PathBuf;

use reknit_engine::{
    Effect, Event, MACHINE_VERSION, MIGRATIONS, Machine, Overview, OverviewBuilder, REPLAYED_VERSIONS, migrate_snapshot,
};
use reknit_journal::{Append, DueEffect, Holder, Journal, LeaseTerm, NewEvent, NewRun, Snapshot};
use reknit_protocol::{Object, RunId, Value};
use reknit_runtime::{DriveError, ExportLine, export};

const WHAT_TO_DO: &str = "bump MACHINE_VERSION and add a migration, or undo the change";

fn folder(version: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/v{version}"))
}

/// All lines of a run, with its snapshot.
pub(crate) async fn exported(journal: &Journal, run: &RunId) -> Vec<String> {
    let mut lines = Vec::new();
    let write = |line| {
        lines.push(line);
        Ok::<(), DriveError>(())
    };
    export(journal, run, true, write).await.expect("the run is exported");
    lines
}

fn parsed(line: &str) -> ExportLine {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Writes the events, the claims and the snapshot of an exported run to a journal.
pub(crate) async fn import(journal: &Journal, lines: &[String]) {
    let term = LeaseTerm { now_ms: 1_000_000, ttl_ms: 30_000 };
    let (mut id, mut lease, mut title) = (RunId::new(""), None, String::new());
    for line in lines {
        match (parsed(line), &lease) {
            (ExportLine::Run { run, title: of_run, .. }, _) => (id, title) = (run, of_run),
            (ExportLine::Event { seq, due, body }, lease_of_run) => {
                let due = due.into_iter().map(|(effect, digest)| DueEffect::new(effect, digest));
                let kind = event_kind(body.get());
                let event = NewEvent::new(1_000_000, kind, body.get()).with_due(due);
                if let Some(lease) = lease_of_run {
                    journal.append(lease, Append::at(seq).event(event)).await.expect("the event is appended");
                } else {
                    let new = NewRun::new(id.clone(), title.clone(), "request", event);
                    lease = Some(journal.create(new, &Holder::this_process(), term).await.expect("the run is new"));
                }
            }
            (ExportLine::Claims(claims), Some(lease)) => {
                for claim in claims {
                    journal.claim(lease, &claim).await.expect("the call is claimed");
                }
            }
            (ExportLine::Snapshot { len, machine_version, body }, Some(lease)) => {
                let snapshot = Snapshot { len, machine_version, body: body.get().to_owned() };
                journal.save_snapshot(lease, snapshot).await.expect("the snapshot is saved");
            }
            (other, _) => panic!("a run that has not ended has no {other:?}"),
        }
    }
    journal.release(&lease.expect("the run has events")).await.expect("the lease is released");
}

fn event_kind(body: &str) -> String {
    let body: serde_json::Value = serde_json::from_str(body).expect("an event");
    match &body["kind"] {
        serde_json::Value::Object(kind) => kind.keys().next().cloned().unwrap_or_default(),
        kind => kind.as_str().unwrap_or_default().to_owned(),
    }
}

/// Writes the journal of a scenario, if the tests record. A file of the current version is never changed: it must still replay.
pub(crate) async fn record(name: &str, journal: &Journal, run: &str) {
    if std::env::var_os("REKNIT_RECORD_GOLDEN").is_none() {
        return;
    }
    let text = exported(journal, &RunId::new(run)).await.join("\n") + "\n";
    let path = folder(MACHINE_VERSION).join(format!("{name}.jsonl"));
    if let Ok(before) = std::fs::read_to_string(&path) {
        let lines: Vec<String> = before.lines().map(str::to_owned).collect();
        if let Err(problem) = replay(MACHINE_VERSION, &lines) {
            panic!("{} is a file of this version and is not replaced: {problem}\n{WHAT_TO_DO}", path.display());
        }
        return;
    }
    std::fs::create_dir_all(folder(MACHINE_VERSION)).expect("the folder can be made");
    std::fs::write(path, text).expect("the file can be written");
}

/// The versions that have a folder.
fn recorded_versions() -> Vec<u32> {
    let entries = std::fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden"));
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("it can be read").file_name();
    let versions = entries.expect("the folder exists").map(name);
    versions.filter_map(|name| name.to_str()?.strip_prefix('v')?.parse().ok()).collect()
}

/// The newest version that has a folder.
pub(crate) fn newest_version() -> u32 {
    recorded_versions().into_iter().max().expect("a version is recorded")
}

/// The lines of each file of a version, by name.
pub(crate) fn files(version: u32) -> Vec<(String, Vec<String>)> {
    let Ok(entries) = std::fs::read_dir(folder(version)) else { return Vec::new() };
    let mut files: Vec<(String, Vec<String>)> = entries
        .map(|entry| {
            let path = entry.expect("it can be read").path();
            let text = std::fs::read_to_string(&path).expect("it can be read");
            (path.display().to_string(), text.lines().map(str::to_owned).collect())
        })
        .collect();
    files.sort();
    files
}

fn due_effects(before: &[Effect], now: &[Effect]) -> Vec<(String, String)> {
    let known: HashSet<_> = before.iter().map(Effect::id).collect();
    let new = now.iter().filter(|effect| !known.contains(&effect.id()));
    new.filter_map(|effect| Some((effect.id()?.to_string(), effect.digest()))).collect()
}

/// Replays a file of a version. Fails with the first event for which other effects become due, or with another ending.
fn replay(version: u32, lines: &[String]) -> Result<(), String> {
    let mut replayed: Option<(Machine, Vec<Effect>)> = None;
    let mut overview = OverviewBuilder::default();
    for line in lines {
        match parsed(line) {
            ExportLine::Event { seq, due, body } => {
                let event: Event =
                    serde_json::from_str(body.get()).map_err(|error| format!("event {seq} is unreadable: {error}"))?;
                let refused = |error| format!("event {seq} is refused: {error}");
                let (machine, before, records) = match replayed.take() {
                    None => {
                        let (machine, records) = Machine::begin(&event).map_err(refused)?;
                        (machine, Vec::new(), records)
                    }
                    Some((mut machine, before)) => {
                        let records = machine.apply(&event).map_err(refused)?;
                        (machine, before, records)
                    }
                };
                overview.add(event.at_ms, &records);
                let pending = machine.pending();
                compare(seq, &due, &due_effects(&before, &pending))?;
                replayed = Some((machine, pending));
            }
            ExportLine::Ending(stored) => {
                let (machine, _) = replayed.as_ref().ok_or("there are no events")?;
                let now = serde_json::to_string(&overview.overview(machine)).map_err(|error| error.to_string())?;
                let is_older = ADDED_FIELDS.iter().all(|field| !stored.get().contains(&format!("\"{field}\"")));
                let comparable = |ending: &str| without_added_fields(ending, version);
                let is_same = is_older && comparable(&now) == comparable(stored.get());
                if now != stored.get() && !is_same {
                    return Err(format!("the ending differs:\nthen {}\nnow  {now}", stored.get()));
                }
            }
            ExportLine::Snapshot { machine_version: MACHINE_VERSION, body, .. } => {
                let (machine, _) = replayed.as_ref().ok_or("there are no events")?;
                let now = machine.snapshot().map_err(|error| error.to_string())?;
                if !body.get().contains(&now) {
                    return Err(format!("the snapshot differs:\nthen {}\nnow  {now}", body.get()));
                }
            }
            ExportLine::Run { .. } | ExportLine::Claims(_) | ExportLine::Snapshot { .. } => {}
        }
    }
    Ok(())
}

/// The fields of the overview of a run that were added since the first files were recorded. A stored ending without them is
/// still read.
const ADDED_FIELDS: [&str; 2] = ["run_history", "planned_by"];

/// The fields that the records of a session have had since version 9.
const ADDED_SESSION_FIELDS: [(&str, &[&str]); 2] =
    [("wait_started", &["source"]), ("wait_ended", &["reason", "source"])];

fn without_added_fields(ending: &str, version: u32) -> String {
    let mut ending = Value::parse(ending).expect("an ending is JSON");
    if let Some(Value::Object(run)) = ending.as_object_mut().and_then(|ending| ending.get_mut("run")) {
        for field in ADDED_FIELDS {
            run.remove(field);
        }
    }
    let session = ending.as_object_mut().and_then(|ending| ending.get_mut("session"));
    if let Some(Value::Object(session)) = session.filter(|_| version < MACHINE_VERSION) {
        without_added_session_fields(session);
    }
    ending.to_string()
}

fn without_added_session_fields(session: &mut Object) {
    let not_counted = |holder: Option<&mut Value>| {
        if let Some(Value::Object(spent)) = holder {
            spent.remove("wasted_tokens");
        }
    };
    not_counted(session.get_mut("spent"));
    not_counted(session.get_mut("report").and_then(|report| report.as_object_mut()?.get_mut("spent")));
    let Some(Value::Array(records)) = session.get_mut("records") else { return };
    records.retain(|record| record.get("noticed").is_none());
    for record in records.iter_mut().filter_map(Value::as_object_mut) {
        for (kind, fields) in ADDED_SESSION_FIELDS {
            if let Some(Value::Object(record)) = record.get_mut(kind) {
                for field in fields {
                    record.remove(field);
                }
            }
        }
        if let Some(Value::Object(report)) = record.get_mut("reported") {
            not_counted(report.get_mut("spent"));
        }
    }
}

fn compare(seq: u64, then: &[(String, String)], now: &[(String, String)]) -> Result<(), String> {
    let digest_in = |list: &[(String, String)], effect: &str| {
        list.iter().find(|(id, _)| id == effect).map_or("not due".to_owned(), |(_, digest)| digest.clone())
    };
    for (effect, _) in then.iter().chain(now) {
        let (before, after) = (digest_in(then, effect), digest_in(now, effect));
        if before != after {
            return Err(format!("event {seq} first differs: effect `{effect}`, digest then {before}, now {after}"));
        }
    }
    Ok(())
}

#[test]
fn every_recorded_run_is_decided_as_before() {
    let mut all = Vec::new();
    let is_replayed = |version: &u32| *version == MACHINE_VERSION || REPLAYED_VERSIONS.contains(version);
    for version in recorded_versions().into_iter().filter(is_replayed) {
        let files = files(version);
        assert!(files.len() > 10, "the scenarios of version {version} are not recorded");
        all.extend(files.into_iter().map(|(name, lines)| (version, name, lines)));
    }
    let wrong: Vec<String> = all
        .iter()
        .filter_map(|(version, name, lines)| {
            replay(*version, lines).err().map(|problem| format!("{name}: {problem}\n{WHAT_TO_DO}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_recorded_snapshot_and_ending_of_an_older_version_can_be_used() {
    for version in recorded_versions().into_iter().filter(|version| *version != MACHINE_VERSION) {
        for (name, lines) in files(version) {
            for line in &lines {
                match parsed(line) {
                    ExportLine::Snapshot { machine_version, body, .. } => {
                        let saved: serde_json::Value = serde_json::from_str(body.get()).expect("a snapshot");
                        let machine = saved["machine"].to_string();
                        let migrated = migrate_snapshot(&machine, machine_version, MIGRATIONS);
                        let restored = migrated
                            .map_err(|error| error.to_string())
                            .and_then(|text| Machine::restore(&text).map_err(|error| error.to_string()));
                        assert!(restored.is_ok(), "{name}: {restored:?}");
                    }
                    ExportLine::Ending(stored) => {
                        let overview: Result<Overview, _> = serde_json::from_str(stored.get());
                        assert!(overview.is_ok_and(|overview| overview.ending().is_some()), "{name}");
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn a_changed_decision_names_the_file_the_event_and_both_digests() {
    let files = files(newest_version());
    let (_, lines) = files.iter().find(|(name, _)| name.contains("resend")).expect("the scenario is recorded");
    // As if the wait before a call is sent again had another length.
    let changed: Vec<String> = lines
        .iter()
        .map(|line| match parsed(line) {
            ExportLine::Event { seq, due, body } => {
                let change = |(effect, digest): (String, String)| {
                    let digest = if effect.contains("retry-wait") { "0000".to_owned() } else { digest };
                    (effect, digest)
                };
                let due = due.into_iter().map(change).collect();
                serde_json::to_string(&ExportLine::Event { seq, due, body }).expect("it can be serialized")
            }
            _ => line.clone(),
        })
        .collect();
    let problem = replay(newest_version(), &changed).expect_err("a decision differs");
    assert!(problem.starts_with("event 1 first differs: effect `a/retry-wait/1`, digest then 0000, now "), "{problem}");
}
