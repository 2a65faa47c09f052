//! What is set about everything around runs: the log, and the file that keeps them.

use crate::edge::Does;
use crate::row::{Row, row};
use crate::scene::{Scene, Seen, step};

/// A call that breaks once.
fn mended() -> Scene {
    Scene::of(vec![step("s", "read", "{}")], |_, nth| if nth == 1 { Does::Breaks(0) } else { Does::Takes(0) })
}

/// What the lines of the log begin with, behind the time.
fn levels(seen: &Seen) -> String {
    let mut levels: Vec<&str> = seen.lines.iter().filter_map(|line| line.split_whitespace().nth(1)).collect();
    levels.sort_unstable();
    levels.dedup();
    levels.join(" ")
}

fn objects(seen: &Seen) -> String {
    let is_object = |line: &String| serde_json::from_str::<serde_json::Value>(line).is_ok_and(|line| line.is_object());
    format!("{} of {}", seen.lines.iter().filter(|line| is_object(line)).count(), seen.lines.len())
}

pub(crate) fn rows() -> Vec<Row> {
    const CODE: &str = "answer.by = \"template\"\n";
    vec![
        row("log.level", "\"info\"", mended, levels, ("", "INFO")).given(CODE),
        row("log.format", "\"json\"", mended, objects, ("0 of 3", "3 of 3"))
            .given("answer.by = \"template\"\nlog.level = \"info\"\n"),
    ]
}

/// Time is real there: a file is written by a thread that no clock of ours stops.
pub(crate) fn with_a_file() -> Vec<Row> {
    vec![
        row("journal.path", "\"FOLDER/here.db\"", mended, |seen| seen.files.join(" "), ("", "here.db"))
            .given("answer.by = \"template\"\nresend.first-wait = \"0s\"\n"),
    ]
}
