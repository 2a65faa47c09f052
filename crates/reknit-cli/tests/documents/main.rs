//! Checks the documentation: its commands print what it shows, every block is accounted for, every link leads somewhere.
#![cfg(test)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command_lines::CommandHelp;
use crate::page::{Mark, Page, pages, root};
use crate::session::run_page;

mod accounted;
mod command_lines;
mod error_codes;
mod links;
mod output;
mod page;
mod session;

fn readme() -> Page {
    Page::open("README.md".to_owned())
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
    let page = readme();
    assert!(page.has_commands(), "the README shows no command");
    if let Err(problem) = run_page(&page, &[]) {
        panic!("{problem}");
    }
}

#[test]
fn the_readme_is_short() {
    let lines = readme().text.lines().count();
    assert!(lines < 200, "README.md has {lines} lines");
}

#[test]
fn the_settings_page_is_the_output_of_config_reference() {
    let page = fs::read_to_string(root().join("docs/settings.md")).unwrap_or_default();
    let hint = "write it again with `cargo run -- config reference > docs/settings.md`";
    assert!(page == run("reknit config reference"), "docs/settings.md differs from the list of settings; {hint}");
}

/// Runs the commands of these pages and fails with all that differs. `REKNIT_PAGE=docs/tutorial.md` runs only that page.
fn run_pages(pages: impl Iterator<Item = Page>, path: &[PathBuf]) {
    let only = env::var("REKNIT_PAGE").ok();
    let pages = pages.filter(|page| only.as_ref().is_none_or(|only| page.name.contains(only)));
    let problems: Vec<String> = pages.filter_map(|page| run_page(&page, path).err()).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn the_commands_of_the_book_print_what_it_shows() {
    let in_book = |page: &Page| page.name.starts_with("docs/") && page.has_commands();
    run_pages(pages().into_iter().filter(in_book).filter(|page| !page.needs_third_party()), &[]);
}

#[test]
#[ignore = "needs programs of others, which `./check third-party` installs"]
fn the_commands_of_the_book_that_need_programs_of_others_print_what_it_shows() {
    let folder = env::var_os("REKNIT_THIRD_PARTY").expect("run this test with `./check third-party`");
    let folder = PathBuf::from(folder);
    let path = ["python/bin", "node_modules/.bin", "redis"].map(|name| folder.join(name));
    run_pages(pages().into_iter().filter(|page| page.has_commands() && page.needs_third_party()), &path);
}

#[test]
fn every_block_of_the_pages_is_run_or_checked_or_says_why_not() {
    let problem = |page: &Page| -> Vec<String> {
        let blocks = page.blocks.iter();
        blocks
            .filter_map(|block| Some(format!("{}: {}", page.place(block), accounted::problem(page, block)?)))
            .collect()
    };
    let problems: Vec<String> = pages().iter().flat_map(problem).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Whoever types what these pages say must not be the first one to try it.
#[test]
fn a_command_of_the_readme_or_the_installation_that_no_test_runs_is_for_after_the_first_release() {
    let pages = pages();
    let is_first = |page: &&Page| matches!(page.name.as_str(), "README.md" | "docs/installation.md");
    let blocks = pages.iter().filter(is_first).flat_map(|page| page.blocks.iter().map(move |block| (page, block)));
    let untried = blocks.filter(|(page, block)| {
        let waits = |text: &str| text.starts_with("after the first release");
        // The page says it too, in the line before the comment or in the block.
        let before: Vec<&str> = page.text.lines().take(block.line.saturating_sub(1)).collect();
        let says_so = before.iter().rev().take(4).any(|line| line.to_lowercase().contains("after the first release"));
        matches!(&block.mark, Some(Mark::NotRun(reason)) if !waits(reason) || !says_so)
    });
    let untried: Vec<String> = untried.map(|(page, block)| page.place(block)).collect();
    assert!(untried.is_empty(), "neither run by a test nor for after the first release: {untried:?}");
}

#[test]
fn every_command_and_option_of_the_pages_exists() {
    let mut help = CommandHelp::default();
    let mut problems = Vec::new();
    for page in pages().iter().filter(|page| page.name != "CHANGELOG.md") {
        problems.extend(page.blocks.iter().flat_map(|block| help.unknown(page, block)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_link_between_the_pages_leads_to_a_file_and_a_heading() {
    let pages = pages();
    let broken = pages.iter().flat_map(|page| {
        links::broken(page, &pages).into_iter().map(|link| format!("{} links to {link}, which is missing", page.name))
    });
    let broken: Vec<String> = broken.collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary can be read");
    let pages = pages();
    let names = pages.iter().filter_map(|page| page.name.strip_prefix("docs/")).filter(|name| *name != "SUMMARY.md");
    let missing: Vec<&str> = names.filter(|name| !summary.contains(&format!("]({name})"))).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list {missing:?}");
}

#[test]
fn a_command_in_the_readme_is_run_in_a_shell() {
    assert_eq!(run("echo one; echo two >&2"), "one\ntwo\n");
}

#[test]
fn every_example_in_the_table_of_functions_has_the_value_that_is_shown() {
    let page = fs::read_to_string(root().join("docs/reference/expressions.md")).expect("the page can be read");
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [_, example, value] = cells[..] else { return None };
        Some((example.strip_prefix('`')?.strip_suffix('`')?, value.split('`').nth(1)?))
    });
    let rows: Vec<(&str, &str)> = rows.collect();
    assert!(rows.len() >= 18, "{rows:?}");
    for (example, value) in rows {
        assert_eq!(run(&format!("reknit eval '{example}' 2>&1")), format!("{value}\n"), "{example}");
    }
}

#[test]
fn every_error_code_has_a_page_and_a_line_in_the_index() {
    let codes = error_codes::codes();
    let pages = error_codes::codes_with_page();
    let index = fs::read_to_string(root().join("docs/reference/error-codes.md")).expect("the page can be read");
    let without_page: Vec<&String> = codes.difference(&pages).collect();
    let invented: Vec<&String> = pages.difference(&codes).collect();
    let not_listed: Vec<&String> =
        codes.iter().filter(|code| !index.contains(&format!("[`{code}`](errors/{code}.md)"))).collect();
    assert!(without_page.is_empty(), "docs/reference/errors has no page for {without_page:?}");
    assert!(invented.is_empty(), "the program has no code {invented:?}, but docs/reference/errors has a page");
    assert!(not_listed.is_empty(), "docs/reference/error-codes.md does not list {not_listed:?}");
}

#[test]
fn the_scenario_in_the_page_about_tests_can_be_read() {
    let page = Page::open("docs/how-to/test-agents.md".to_owned());
    let block = page.blocks.iter().find(|block| block.language == "json").expect("a scenario");
    let scenario = reknit_fakes::Scenario::read(&block.content).expect("it can be read");
    assert_eq!(scenario.models.len(), 2);
}
