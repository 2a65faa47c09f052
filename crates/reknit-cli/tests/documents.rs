//! Checks the README: its commands print the output that it shows.
#![cfg(test)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command in a `console` block and its output.
#[derive(Debug, PartialEq)]
struct Example {
    command: String,
    output: String,
}

/// The commands in the `console` blocks of a page.
fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut fence = None;
    for line in page.lines() {
        match (fence, line.trim_start_matches('`')) {
            (None, rest) if rest.len() + 3 <= line.len() => fence = Some((line.len() - rest.len(), rest == "console")),
            (Some((ticks, _)), "") if line.len() == ticks => fence = None,
            (Some((_, true)), _) => match line.strip_prefix("$ ") {
                Some(command) => examples.push(Example { command: command.to_owned(), output: String::new() }),
                None => examples.last_mut().expect("output follows a command").output.extend([line, "\n"]),
            },
            _ => {}
        }
    }
    examples
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/reknit-cli is two folders deep").to_owned()
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("README.md can be read")
}

/// Runs a command in a shell with `reknit` on the path. Standard error is redirected to standard output.
fn run(command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_reknit")).parent().expect("the program is in a folder").to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [program].into_iter().chain(env::split_paths(&path));
    let state = tempfile::tempdir().expect("a folder");
    let output = Command::new("sh")
        .env("XDG_DATA_HOME", state.path())
        .env("XDG_STATE_HOME", state.path())
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(root())
        .env("PATH", env::join_paths(folders).expect("the path can be extended"))
        .output()
        .expect("a shell runs");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

#[test]
fn the_commands_of_the_readme_print_what_it_shows() {
    let examples = examples(&readme());
    assert!(examples.len() >= 3, "the README shows too few commands: {examples:#?}");
    for example in examples {
        let printed = run(&example.command);
        assert!(
            printed == example.output,
            "$ {}\n--- printed\n{printed}\n--- README.md\n{}",
            example.command,
            example.output
        );
    }
}

#[test]
fn the_plan_in_the_readme_has_no_problem() {
    let page = readme();
    let plan = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a plan is shown");
    let printed = run(&format!("reknit plan check --json - <<'END'\n{plan}\nEND\n"));
    assert!(printed.starts_with(r#"{"ok":true,"checked":"structure","steps":2,"#), "{printed}");
}

#[test]
fn the_readme_is_short() {
    let lines = readme().lines().count();
    assert!(lines < 200, "README.md has {lines} lines");
}

#[test]
fn the_settings_page_is_the_output_of_config_reference() {
    let page = fs::read_to_string(root().join("docs/settings.md")).unwrap_or_default();
    let hint = "write it again with `cargo run -- config reference > docs/settings.md`";
    assert!(page == run("reknit config reference"), "docs/settings.md differs from the list of settings; {hint}");
}

#[test]
fn files_that_the_pages_link_to_exist() {
    for page in
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/settings.md", "docs/telemetry.md"]
    {
        let text = fs::read_to_string(root().join(page)).expect("the page can be read");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(
                link.starts_with("https://") || root().join(link).exists(),
                "{page} links to {link}, which is missing"
            );
        }
    }
}

#[test]
fn only_console_blocks_are_run() {
    let page =
        "```sh\n$ no\n```\n````console\n$ one\nout 1\n```\n````\n$ no\n```console\n$ two\n$ three\n\nout 3\n```\n";
    let example = |command: &str, output: &str| Example { command: command.to_owned(), output: output.to_owned() };
    assert_eq!(examples(page), [example("one", "out 1\n```\n"), example("two", ""), example("three", "\nout 3\n")]);
    assert_eq!(run("echo one; echo two >&2"), "one\ntwo\n");
}
