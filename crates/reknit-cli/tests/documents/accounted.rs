//! Every fenced block is run, checked, or marked with the reason why not.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::de::IgnoredAny;

use crate::page::{Block, Mark, Page, root};

/// Why a block is not accounted for, or not correct.
pub(crate) fn problem(page: &Page, block: &Block) -> Option<String> {
    match (&block.mark, block.language.as_str()) {
        (Some(Mark::NotRun(reason)), _) => reason.trim().is_empty().then(|| "the mark has no reason".to_owned()),
        (Some(Mark::CheckedBy(path)), _) => unread_by(page, path),
        (Some(Mark::File(name) | Mark::AddTo(name)), _) => unused_file(page, name),
        (Some(Mark::Inside(lines)), "toml") => {
            bad_configuration(&format!("{}\n{}", lines.replace("; ", "\n"), block.content))
        }
        // The first are run by the sessions of the pages and of the README, the others are output, drawings and lists.
        (None, "console" | "text") => None,
        (None, "toml") => bad_configuration(&block.content),
        (None, "json") => bad_json(&block.content),
        (None, "yaml") if block.content.contains("steps:") => bad_plan(&block.content),
        _ => Some(format!(
            "nothing runs or checks this `{}` block; write one of these before it: <!-- file: NAME -->, \
             <!-- add to: NAME -->, <!-- checked by: PATH OF A TEST -->, <!-- inside: LINES -->, <!-- not run: REASON -->",
            block.language
        )),
    }
}

/// The test must at least name the page.
fn unread_by(page: &Page, path: &str) -> Option<String> {
    let test = fs::read_to_string(root().join(path)).unwrap_or_default();
    let name = Path::new(&page.name).file_name()?.to_str()?;
    (!test.contains(name)).then(|| format!("`{path}` does not name {name}"))
}

/// A file that a reader saves is used by a command, or by another file.
fn unused_file(page: &Page, name: &str) -> Option<String> {
    let module = Path::new(name).file_stem()?.to_str()?;
    let uses = |block: &&Block| match &block.mark {
        Some(Mark::File(other)) => other != name && block.content.contains(&format!("from {module} ")),
        None if block.language == "console" => {
            block.content.contains(module) || (name.ends_with("reknit.toml") && block.content.contains("$ reknit "))
        }
        _ => false,
    };
    let is_used = page.blocks.iter().any(|block| uses(&block));
    (!is_used).then(|| format!("no command of the page uses `{name}`"))
}

fn bad_configuration(content: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("reknit.toml");
    fs::write(&file, content).expect("it is written");
    let arguments = ["config", "show", "--config", file.to_str().expect("the path is UTF-8")];
    refused(&arguments, folder.path())
}

fn bad_plan(content: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("plan.yaml"), content).expect("it is written");
    refused(&["plan", "check", "plan.yaml"], folder.path())
}

fn refused(arguments: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_reknit"))
        .args(arguments)
        .env_clear()
        .env("XDG_DATA_HOME", folder)
        .env("XDG_STATE_HOME", folder)
        .env("REKNIT_FIND_MODEL", "false")
        .current_dir(folder)
        .output()
        .expect("the command runs");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (!output.status.success()).then(|| format!("reknit {}: {said}", arguments.join(" ")))
}

/// One value, or one in each line.
fn bad_json(content: &str) -> Option<String> {
    let whole = serde_json::from_str::<IgnoredAny>(content).map(drop);
    let error = whole.err()?;
    let lines = content.lines().all(|line| serde_json::from_str::<IgnoredAny>(line).is_ok());
    (!lines).then(|| error.to_string())
}
