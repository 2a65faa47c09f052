//! Progress in a terminal.

use std::process::Command;

use crate::world::{World, text};

/// Runs a command in a terminal of this size; `None` if the program `script` is missing.
pub(crate) fn in_terminal(world: &World, columns: usize, rows: usize, arguments: &str) -> Option<String> {
    let typed = format!("stty cols {columns} rows {rows} && '{}' {arguments}", env!("CARGO_BIN_EXE_reknit"));
    let output = world.around(Command::new("script"), &["-qec", &typed, "/dev/null"]).output();
    let output = output.inspect_err(|error| eprintln!("not tried: there is no `script` ({error})")).ok()?;
    Some(text(&output.stdout))
}

/// A line without its escape sequences.
fn visible(line: &str) -> String {
    let mut shown = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\x1b' => {
                let _ = letters.by_ref().find(char::is_ascii_alphabetic);
            }
            '\r' => {}
            other => shown.push(other),
        }
    }
    shown
}

#[test]
fn the_steps_are_redrawn_in_place_and_fit_the_width() {
    for columns in [80, 40] {
        let world = World::new();
        let Some(seen) = in_terminal(&world, columns, 24, "demo --json") else { return };
        assert!(seen.contains("\x1b[5A"), "five lines are drawn over:\n{seen}");
        let progress: Vec<&str> = seen.lines().filter(|line| line.contains("\x1b[2K")).collect();
        assert!(progress.len() > 10, "{seen}");
        for line in progress {
            let width = unicode_width::UnicodeWidthStr::width(visible(line).as_str());
            assert!(width <= columns, "{width} columns of {columns}: {line:?}");
        }
    }
}

#[test]
fn the_last_redraw_shows_the_final_state() {
    let world = World::new();
    let Some(seen) = in_terminal(&world, 80, 24, "demo --json") else { return };
    let last = seen.rsplit("\x1b[5A").next().expect("there is a picture");
    let picture: Vec<String> = last.lines().take(5).map(visible).collect();
    insta::assert_snapshot!(picture.join("\n"), @"
    ✓ step-1  get_stock_quote   done
    ✓ step-2  geocode           done
    ✓ step-3  get_weather       done, mended by schema, resend
    ✓ step-4  convert_currency  done, mended by context
    ✗ step-5  get_stock_quote   failed: 404 SYMBOL_NOT_FOUND: no share is traded as…
    ");
}

#[test]
fn steps_that_do_not_fit_the_terminal_are_printed_as_changes() {
    let world = World::new();
    let Some(seen) = in_terminal(&world, 80, 5, "demo --json") else { return };
    assert!(!seen.contains("\x1b[5A"), "what has left the screen cannot be drawn over:\n{seen}");
    let ends = seen.lines().filter(|line| visible(line).starts_with("✓ step-1")).count();
    assert_eq!(ends, 1, "a line that does not change is not written again:\n{seen}");
}
