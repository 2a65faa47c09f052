//! `[log]` and `[journal]`.

use crate::case::{Case, case};
use crate::scene::{Observation, Scene, step};
use crate::scripted_transport::ToolBehavior;

/// A call that fails once.
fn retried() -> Scene {
    Scene::of(vec![step("s", "read", "{}")], |_, nth| {
        if nth == 1 { ToolBehavior::FailAfter(0) } else { ToolBehavior::SucceedAfter(0) }
    })
}

/// The levels of the lines.
fn levels(observed: &Observation) -> String {
    let mut levels: Vec<&str> = observed.lines.iter().filter_map(|line| line.split_whitespace().nth(1)).collect();
    levels.sort_unstable();
    levels.dedup();
    levels.join(" ")
}

fn objects(observed: &Observation) -> String {
    let is_object = |line: &String| serde_json::from_str::<serde_json::Value>(line).is_ok_and(|line| line.is_object());
    format!("{} of {}", observed.lines.iter().filter(|line| is_object(line)).count(), observed.lines.len())
}

pub(crate) fn cases() -> Vec<Case> {
    const WITHOUT_MODEL: &str = "answer.by = \"template\"\n";
    vec![
        case("log.level", "\"info\"", retried, levels, ("", "INFO")).also_set(WITHOUT_MODEL),
        case("log.format", "\"json\"", retried, objects, ("0 of 3", "3 of 3"))
            .also_set("answer.by = \"template\"\nlog.level = \"info\"\n"),
    ]
}

/// Cases that need real time, because a thread outside the paused clock writes the file.
pub(crate) fn file_cases() -> Vec<Case> {
    vec![
        case("journal.path", "\"FOLDER/here.db\"", retried, |observed| observed.files.join(" "), ("", "here.db"))
            .also_set("answer.by = \"template\"\nresend.first-wait = \"0s\"\n"),
    ]
}
