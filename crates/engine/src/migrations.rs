//! Brings the snapshot of an older machine to the current version.
//!
//! When `MACHINE_VERSION` changes, add a row to [`MIGRATIONS`]: a function that changes each part of a snapshot, as JSON, from the
//! version before. Rows of recent versions are kept, so that runs that wait continue after an upgrade.

use reknit_protocol::{Object, Value};

use crate::event::MACHINE_VERSION;

/// A part of a snapshot. A session contains parts of the machines that are nested in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotPart {
    /// The first event of a run.
    Started,
    /// The state of a run, also of the tool calls of a session.
    RunState,
    /// The first event of a session.
    SessionStarted,
    SessionState,
}

/// Brings the snapshots of one version to the next one.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotMigration {
    pub from: u32,
    /// Changes one part. The version in a first event is changed for it.
    pub change: fn(SnapshotPart, &mut Value) -> Result<(), String>,
}

/// The migrations of this build, the oldest first. Version 8 is the version of the first release.
pub const MIGRATIONS: &[SnapshotMigration] = &[SnapshotMigration { from: 8, change: from_8 }];

/// Version 8 kept all that a run or a step knows side by side, and only a sentence about each step that was left out of the plan.
fn from_8(part: SnapshotPart, value: &mut Value) -> Result<(), String> {
    let state = value.as_object_mut().ok_or("a part of a snapshot is not an object")?;
    match part {
        SnapshotPart::Started | SnapshotPart::SessionStarted => return Ok(()),
        SnapshotPart::SessionState => {
            for (group, keys) in SESSION_GROUPS_OF_9 {
                put_into(state, group, keys);
            }
            return Ok(());
        }
        SnapshotPart::RunState => {}
    }
    if let Some(sentences) = state.remove("dropped_steps") {
        state.insert("left_out", left_out_from_8(&sentences));
    }
    for (group, keys) in STATE_GROUPS_OF_9 {
        put_into(state, group, keys);
    }
    for step in state.get_mut("steps").and_then(Value::as_array_mut).into_iter().flatten() {
        let step = step.as_object_mut().ok_or("a step is not an object")?;
        for (group, keys) in STEP_GROUPS_OF_9 {
            put_into(step, group, keys);
        }
    }
    Ok(())
}

/// The groups of version 9, each with its keys in version 8, and after `=` the names that differ.
const STATE_GROUPS_OF_9: [(&str, &str); 3] = [
    (
        "planning",
        "choice plan plan_repairs=repairs plan_approval=approval left_out rerouted lost_parameters rejected_plans=rejected replannings",
    ),
    ("account", "spent added_tool_calls stop stopped_ms resumed spent_before sessions"),
    ("ruled_out", "avoided denied newly_denied refused=models repeated_failures=failures rejected_rules=rules"),
];
const SESSION_GROUPS_OF_9: [(&str, &str); 5] = [
    ("account", "spent spent_before question_quote report_reserve"),
    ("current", "turn=number turn_started_ms=started_ms question_ordinal count_ordinal max_output_tokens"),
    (
        "calls",
        "uncertain_calls=uncertain denied_calls=denied rejected_rules completed_calls=completed repeated in_doubt mended tried approved successful_calls=successful call_facts=facts",
    ),
    ("models", "output_limits native_callers token_counts uncountable learned_windows"),
    (
        "ending",
        "final_turn_reason collapsed_in_turn fallback_report final_report_attempts abort_reason last_stop_reason last_error last_text",
    ),
];
const STEP_GROUPS_OF_9: [(&str, &str); 5] = [
    ("looping", "list_length=length list approved_items"),
    (
        "counts",
        "calls skipped_calls unsent_for_key resends approvals checks job_waits job_requests polls verify_calls verify_waits",
    ),
    ("rungs", "facts rules feedback context resolution_asked feedback_asked context_asked said_transient applied_rule"),
    ("approval", "approved approval_reports=reports withheld"),
    ("session", "session_share=share session_spent=spent"),
];

/// Moves values of an object into a group of their own.
fn put_into(object: &mut Object, group: &str, keys: &str) {
    let names = keys.split(' ').map(|key| key.split_once('=').unwrap_or((key, key)));
    let values = names.filter_map(|(before, now)| Some((now.to_owned(), object.remove(before)?)));
    let values: Object = values.collect();
    object.insert(group, Value::Object(values));
}

/// The reports about the steps that were left out, from a sentence about each.
fn left_out_from_8(sentences: &Value) -> Value {
    let sentences = sentences.as_array().unwrap_or_default().iter().filter_map(Value::as_str);
    let reports = sentences.map(|sentence| {
        let step = sentence.split('`').nth(1).unwrap_or("step");
        let skipped = Value::Object(Object::from([("reason", Value::from(sentence))]));
        Value::Object(Object::from([
            ("step", Value::from(step)),
            ("agent", Value::from("")),
            ("capability", Value::from("")),
            ("outcome", Value::Object(Object::from([("skipped", skipped)]))),
            ("mends", Value::Array(Vec::new())),
            ("calls", Value::from(0)),
        ]))
    });
    Value::Array(reports.collect())
}

/// Why a snapshot cannot be brought to the current version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MigrationError {
    #[error("version {0} of the state machine wrote it; this build has version {MACHINE_VERSION}")]
    Newer(u32),
    /// There is no migration from this version.
    #[error("this build has no migration from version {0} of the state machine")]
    Missing(u32),
    /// It does not have the form of its version.
    #[error("it does not have the form of version {version}: {problem}")]
    Form { version: u32, problem: String },
}

/// The snapshot of a machine of version `from`, as a machine of the current version writes it.
pub fn migrate_snapshot(snapshot: &str, from: u32, migrations: &[SnapshotMigration]) -> Result<String, MigrationError> {
    if from == MACHINE_VERSION {
        return Ok(snapshot.to_owned());
    }
    if from > MACHINE_VERSION {
        return Err(MigrationError::Newer(from));
    }
    let form = |version: u32| move |problem: String| MigrationError::Form { version, problem };
    let mut machine = Value::parse(snapshot).map_err(|error| form(from)(error.to_string()))?;
    for version in from..MACHINE_VERSION {
        let migration = migrations.iter().find(|migration| migration.from == version);
        let change = migration.ok_or(MigrationError::Missing(version))?.change;
        let mut change_part = |part: SnapshotPart, value: &mut Value| {
            change(part, value)?;
            if let (SnapshotPart::Started | SnapshotPart::SessionStarted, Value::Object(started)) = (part, value) {
                started.insert("machine_version", version + 1);
            }
            Ok(())
        };
        change_machine(&mut machine, &mut change_part).map_err(form(version))?;
    }
    Ok(machine.to_string())
}

type ChangePart<'f> = dyn FnMut(SnapshotPart, &mut Value) -> Result<(), String> + 'f;

/// Applies a change to all parts of a machine, and of the machines nested in it.
fn change_machine(machine: &mut Value, change: &mut ChangePart<'_>) -> Result<(), String> {
    let Value::Object(object) = machine else { return Err("a machine is not an object".to_owned()) };
    for (kind, parts) in object.iter_mut() {
        let Value::Array(parts) = parts else { return Err("the parts of a machine are not an array".to_owned()) };
        match (kind, parts.as_mut_slice()) {
            ("run", [started, state]) => {
                change(SnapshotPart::Started, started)?;
                change(SnapshotPart::RunState, state)?;
            }
            ("session", [started, state, calls, Value::Array(children)]) => {
                change(SnapshotPart::SessionStarted, started)?;
                change(SnapshotPart::SessionState, state)?;
                if !calls.is_null() {
                    change(SnapshotPart::RunState, calls)?;
                }
                for child in children {
                    let Value::Array(child) = child else { return Err("a child is not an array".to_owned()) };
                    let machine = child.last_mut().ok_or_else(|| "a child has no machine".to_owned())?;
                    change_machine(machine, change)?;
                }
            }
            (kind, _) => return Err(format!("`{kind}` is not a machine with its parts")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: u32 = MACHINE_VERSION - 1;
    const MARK: &[SnapshotMigration] = &[SnapshotMigration { from: BEFORE, change: mark }];

    fn mark(part: SnapshotPart, value: &mut Value) -> Result<(), String> {
        let Value::Object(value) = value else { return Err(format!("{part:?} is not an object")) };
        value.insert("part", format!("{part:?}"));
        Ok(())
    }

    #[test]
    fn every_part_of_nested_machines_is_changed_and_gets_the_new_version() {
        let run = r#"{"run":[{"machine_version":5,"n":0.10},{}]}"#;
        let session = format!(
            r#"{{"session":[{{"machine_version":5}},{{}},{{}},[[0,{run}],[1,{{"session":[{{}},{{}},null,[]]}}]]]}}"#
        );
        let migrated = migrate_snapshot(&session, BEFORE, MARK).expect("a migration");
        let version = format!(r#""machine_version":{MACHINE_VERSION}"#);
        let child = format!(r#"{{"run":[{{{version},"n":0.10,"part":"Started"}},{{"part":"RunState"}}]}}"#);
        let agent =
            format!(r#"{{"session":[{{"part":"SessionStarted",{version}}},{{"part":"SessionState"}},null,[]]}}"#);
        let expected = format!(
            r#"{{"session":[{{{version},"part":"SessionStarted"}},{{"part":"SessionState"}},{{"part":"RunState"}},[[0,{child}],[1,{agent}]]]}}"#
        );
        assert_eq!(migrated, expected);
    }

    #[test]
    fn a_snapshot_without_a_migration_is_refused() {
        let run = r#"{"run":[{},{}]}"#;
        assert_eq!(migrate_snapshot(run, MACHINE_VERSION, &[]).as_deref(), Ok(run));
        assert_eq!(migrate_snapshot(run, BEFORE, &[]), Err(MigrationError::Missing(BEFORE)));
        assert_eq!(migrate_snapshot(run, BEFORE - 1, MARK), Err(MigrationError::Missing(BEFORE - 1)));
        assert_eq!(migrate_snapshot(run, MACHINE_VERSION + 1, MARK), Err(MigrationError::Newer(MACHINE_VERSION + 1)));
        for wrong in ["[]", r#"{"run":[{}]}"#, r#"{"run":[{},7]}"#, r#"{"session":[{},{},{},[7]]}"#, "{"] {
            let refused = migrate_snapshot(wrong, BEFORE, MARK);
            assert!(matches!(refused, Err(MigrationError::Form { version: BEFORE, .. })), "{wrong}: {refused:?}");
        }
    }
}
