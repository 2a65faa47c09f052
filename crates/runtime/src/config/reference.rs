//! The reference page.

use std::fmt::Write as _;

use reknit_protocol::Value;

use super::Setting;
use super::entry::{Key, MODEL_KEYS, TOOL_KEYS};
use super::kind::{Kind, quoted};
use super::list::SECTIONS;
use super::setting::SETTINGS;
use super::show::toml;

/// How wide the page is.
const WIDTH: usize = 80;

const ABOVE: &str = "\
# Settings

This page is printed by `reknit config reference`; do not write into it.

`reknit.toml` in the folder where a command is typed holds the configuration;
`--config FILE` or the variable `REKNIT_CONFIG` names another file. Below is
every setting with its default, as it would stand there. An option of the
command line beats a variable of the environment, a variable beats the file, and
the file beats the default. `reknit config show` prints what counts, and where
each value comes from.

Each setting has a variable, which counts with `GOMIND_` in place of `REKNIT_`,
too; if both are set, ours wins. Switches are `true` or `false` in any case,
lists are divided by commas. A variable that is empty counts as not set,
whatever its setting takes, and so does `REKNIT_CONFIG`; an empty list, `[]`,
can only be written in the file, where a text is never empty. A variable that
cannot be used is an error, as is a key in the file that nobody knows.
How names are spelt does not matter: `max-turns`, `max_turns` and `maxTurns` are
the same. \"Also\" names what else a setting may be called in the file.
";

/// The reference page: every setting with its default, its variable and what it does.
pub fn reference() -> String {
    let mut page = ABOVE.to_owned();
    for (section, about) in SECTIONS {
        let title = if section.is_empty() { "Above all sections".to_owned() } else { format!("[{section}]") };
        let about = if section.is_empty() { String::new() } else { format!("{about}\n\n") };
        let header = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {title}\n\n{about}```toml\n{header}");
        let settings = SETTINGS.iter().filter(|setting| setting.section() == section);
        page.push_str(&settings.map(entry).collect::<Vec<_>>().join("\n"));
        page.push_str("```\n");
    }
    page.push_str(&keys("tools", "Where tools are; each as a `[[tools]]` of its own.", &TOOL_KEYS));
    page.push_str(&keys(
        "models",
        "Which models may be asked, the preferred one first; each as a `[[models]]` of its own.",
        &MODEL_KEYS,
    ));
    page
}

/// A setting with what there is to say about it, as it would stand in the file.
fn entry(setting: &Setting) -> String {
    let [variable, _] = setting.variables();
    let also = match setting.aliases {
        [] => String::new(),
        names => format!("; also {}", names.join(", ")),
    };
    let words = match setting.kind {
        Kind::Word(words) => format!(" ({})", words().join(", ")),
        _ => String::new(),
    };
    let meaning = format!("{}{words}", setting.meaning.trim());
    let remarks = [wrapped(&meaning, "# ", "# "), wrapped(&format!("{variable}{also}"), "# ", "# ")].concat();
    let line = match setting.default() {
        Value::Null if setting.kind.is_text() => format!("# {} = \"...\"", setting.key()),
        Value::Null => format!("# {} = ...", setting.key()),
        value => format!("{} = {}", setting.key(), toml(&value)),
    };
    format!("{remarks}{line}\n")
}

fn keys(list: &str, about: &str, keys: &[Key]) -> String {
    let mut page = format!("\n## [[{list}]]\n\n{}\n", wrapped(about, "", ""));
    for key in keys {
        let words = match key.kind {
            Kind::Word(words) => format!(" One of {}.", quoted(&words())),
            _ => String::new(),
        };
        let needed = if key.needed { " Needed." } else { "" };
        page.push_str(&wrapped(&format!("`{}`: {}{words}{needed}", key.name, key.meaning), "- ", "  "));
    }
    page
}

/// Lines no wider than the page.
fn wrapped(text: &str, first: &str, next: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            next.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines + &line + "\n"
}
