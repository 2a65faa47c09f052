//! The options in every command line of the pages exist.

use std::collections::BTreeMap;
use std::process::Command;

use crate::page::{Block, Page};

/// The help of each command that was looked up.
#[derive(Default)]
pub(crate) struct CommandHelp {
    texts: BTreeMap<String, Option<String>>,
}

impl CommandHelp {
    /// The command lines of a block whose command or options do not exist.
    pub(crate) fn unknown(&mut self, page: &Page, block: &Block) -> Vec<String> {
        if !matches!(block.language.as_str(), "sh" | "console") {
            return Vec::new();
        }
        let lines = block.content.replace("\\\n", " ");
        let lines = lines.lines().filter(|line| block.language == "sh" || line.starts_with("$ "));
        let commands = lines.flat_map(commands);
        commands
            .filter_map(|words| self.problem(&words).map(|problem| format!("{}: {problem}", page.place(block))))
            .collect()
    }

    fn problem(&mut self, words: &[&str]) -> Option<String> {
        let is_name = |word: &&&str| {
            word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-') && !word.starts_with('-')
        };
        let mut path: Vec<&str> = words.iter().take(2).take_while(is_name).copied().collect();
        // The second word may be an argument, such as the name of a file.
        let group = self.help(&path[..path.len().min(1)]).unwrap_or_default();
        if !group.contains("<COMMAND>") {
            path.truncate(1);
        }
        let Some(help) = self.help(&path) else {
            return Some(format!("there is no command `reknit {}`", words.join(" ")));
        };
        let options = words.iter().take_while(|word| **word != "--").filter(|word| word.starts_with("--"));
        let unknown =
            options.map(|option| option.split('=').next().unwrap_or(option)).find(|option| !has(&help, option));
        unknown.map(|option| format!("`reknit {}` has no option `{option}`", path.join(" ")))
    }

    fn help(&mut self, path: &[&str]) -> Option<String> {
        let ask = || {
            let output = Command::new(env!("CARGO_BIN_EXE_reknit")).args(path).arg("--help").env_clear().output();
            let output = output.expect("the command runs");
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        self.texts.entry(path.join(" ")).or_insert_with(ask).clone()
    }
}

fn has(help: &str, option: &str) -> bool {
    option == "--help" || option == "--version" || help.split([' ', '\n', ',', '[', '=']).any(|word| word == option)
}

/// What follows each `reknit` of a line, up to the end of its command.
fn commands(line: &str) -> impl Iterator<Item = Vec<&str>> {
    let code = line.split(" # ").next().unwrap_or(line).split("  #").next().unwrap_or(line);
    let words: Vec<&str> = code.split_whitespace().collect();
    let ends = |word: &str| matches!(word, "|" | "&&" | "||" | "&" | ";" | ">" | "<" | ">>" | "2>&1");
    let starts: Vec<usize> = (0..words.len())
        .filter(|&at| words[at] == "reknit" && at.checked_sub(1).is_none_or(|before| starts_command(words[before])))
        .collect();
    starts.into_iter().map(move |at| words[at + 1..].iter().take_while(|word| !ends(word)).copied().collect())
}

fn starts_command(before: &str) -> bool {
    matches!(before, "$" | "|" | "&&" | "||" | "&" | ";" | "nohup" | "exec")
        || before.contains('=')
        || before.ends_with(';')
}

#[test]
fn the_commands_of_a_line_are_found() {
    let found: Vec<Vec<&str>> =
        commands("$ A=b reknit run x --json | jq . && reknit runs list   # reknit no").collect();
    assert_eq!(found, [vec!["run", "x", "--json"], vec!["runs", "list"]]);
    assert_eq!(commands("docker build -t reknit .").count(), 0);
}

#[test]
fn an_option_that_does_not_exist_is_reported() {
    let mut help = CommandHelp::default();
    assert_eq!(help.problem(&["runs", "list", "--json"]), None);
    assert_eq!(help.problem(&["run", "plan", "--jsno"]), Some("`reknit run` has no option `--jsno`".to_owned()));
    assert_eq!(help.problem(&["rnu", "plan"]), Some("there is no command `reknit rnu plan`".to_owned()));
}
