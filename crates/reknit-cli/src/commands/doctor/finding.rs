//! What `reknit doctor` found.

use reknit_protocol::{Object, Value, word_enum};

use crate::output::{Failure, count, failure_causes, failure_hint, one_line, width, wrapped};

word_enum! {
    /// What is checked.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Area {
        Configuration = "configuration",
        Keys = "keys",
        Models = "models",
        Tools = "tools",
        Journal = "journal",
        Disk = "disk",
        Clock = "clock",
    }
}

word_enum! {
    /// How bad a finding is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Level {
        Ok = "ok",
        /// Worth knowing; nothing has to be done.
        Note = "note",
        /// Something has to be done.
        Problem = "problem",
    }
}

/// One finding, and the command to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    area: Area,
    level: Level,
    message: String,
    command: Option<String>,
}

impl Finding {
    pub(super) fn ok(area: Area, message: impl Into<String>) -> Self {
        Self { area, level: Level::Ok, message: message.into(), command: None }
    }

    pub(super) fn note(area: Area, message: impl Into<String>, command: impl Into<String>) -> Self {
        Self { area, level: Level::Note, message: message.into(), command: Some(command.into()) }
    }

    pub(super) fn problem(area: Area, message: impl Into<String>, command: impl Into<String>) -> Self {
        Self { area, level: Level::Problem, message: message.into(), command: Some(command.into()) }
    }

    /// A failure of another command, with its causes and its hint.
    pub(super) fn of_failure(area: Area, failure: &Failure, command: &str) -> Self {
        let message = [failure.to_string()].into_iter().chain(failure_causes(failure)).collect::<Vec<_>>().join(": ");
        let hint = failure_hint(failure).map(|hint| format!(" ({hint})")).unwrap_or_default();
        Self::problem(area, message + &hint, command)
    }

    pub(super) fn is_problem(&self) -> bool {
        self.level == Level::Problem
    }

    pub(super) fn to_object(&self) -> Object {
        let mut object = Object::from([
            ("area", Value::from(self.area.as_str())),
            ("level", self.level.as_str().into()),
            ("message", self.message.as_str().into()),
        ]);
        object.extend(self.command.as_deref().map(|command| ("command".to_owned(), command.into())));
        object
    }
}

/// The findings for people, each with the command to type below it. Long ones are broken to the width of the terminal.
pub(super) fn page(findings: &[Finding], columns: Option<usize>) -> String {
    const LEVEL_COLUMNS: usize = 7;
    const AREA_COLUMNS: usize = 13;
    let indent = " ".repeat(LEVEL_COLUMNS + AREA_COLUMNS + 4);
    let left = columns.map_or(usize::MAX, |columns| columns.saturating_sub(width(&indent)).max(20));
    let mut page = String::new();
    for finding in findings {
        let start = format!("{:<LEVEL_COLUMNS$}  {:<AREA_COLUMNS$}  ", finding.level, finding.area);
        for (index, part) in wrapped(&one_line(&finding.message, usize::MAX), left).iter().enumerate() {
            page.extend([if index == 0 { &start } else { &indent }, part.as_str(), "\n"]);
        }
        if let Some(command) = &finding.command {
            // A command that is broken cannot be copied.
            page.extend([&indent, "type: ", &one_line(command, usize::MAX), "\n"]);
        }
    }
    let problems = findings.iter().filter(|finding| finding.is_problem()).count();
    page + &match problems {
        0 => "\neverything is in order\n".to_owned(),
        number => format!("\n{}\n", count(number, "problem")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_has_its_command_below_it() {
        let findings = [
            Finding::ok(Area::Configuration, "`reknit.toml`: 2 tools, 1 model"),
            Finding::problem(
                Area::Keys,
                "the key of model `main` is missing: the variable MODEL_KEY is not set in this environment",
                "export MODEL_KEY=...",
            ),
            Finding::note(Area::Journal, "2 runs wait for approval", "reknit runs list --status waiting"),
        ];
        insta::assert_snapshot!(page(&findings, Some(80)), @"
        ok       configuration  `reknit.toml`: 2 tools, 1 model
        problem  keys           the key of model `main` is missing: the variable
                                MODEL_KEY is not set in this environment
                                type: export MODEL_KEY=...
        note     journal        2 runs wait for approval
                                type: reknit runs list --status waiting

        1 problem
        ");
        insta::assert_snapshot!(page(&findings, None), @"
        ok       configuration  `reknit.toml`: 2 tools, 1 model
        problem  keys           the key of model `main` is missing: the variable MODEL_KEY is not set in this environment
                                type: export MODEL_KEY=...
        note     journal        2 runs wait for approval
                                type: reknit runs list --status waiting

        1 problem
        ");
        assert!(page(&findings, Some(80)).lines().all(|line| width(line) <= 80));
    }
}
