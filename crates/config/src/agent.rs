//! Agent files: settings, then the prompt of the agent.
//!
//! ```text
//! #!/usr/bin/env -S reknit agent
//! ---
//! description: finds out where orders are
//! targets: [local, groq]
//! tools: [orders, weather/get_weather]
//! agents: [carrier.md]
//! maxTurns: 6
//! output:
//!   format: json
//!   schema: {type: object, required: [state], properties: {state: {type: string}}}
//! ---
//! You work for a shop. Say where an order is, and when it arrives.
//! ```
//!
//! Unknown keys are errors.

mod keys;
#[cfg(test)]
mod tests;

use reknit_engine::SessionRules;
use reknit_plan::Document;
use reknit_protocol::Path;

/// An agent as its file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// What it is for; may be empty.
    pub description: String,
    /// The models that it asks, in order; all configured ones if it names none.
    pub targets: Option<Vec<String>>,
    /// The tools that it may call, each as `tool` or `tool/capability`; all configured ones if it names none.
    pub tools: Option<Vec<String>>,
    /// The files of the agents that it may call, relative to its own file.
    pub agents: Vec<String>,
    pub rules: SessionRules,
    /// The file with the schema of its reports, if the schema is not in the agent's own file.
    pub schema_file: Option<String>,
    /// The limits that override those of the configuration.
    pub limits: AgentLimits,
    pub prompt: String,
}

/// The limits that the file of an agent sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentLimits {
    pub tool_calls: Option<u32>,
    pub model_calls: Option<u32>,
    pub calls_at_once: Option<u32>,
}

/// An error in an agent file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", sentence(*.place, .key.as_deref(), .message))]
pub struct AgentProblem {
    /// The line and the column in the file, from 1, if they are known.
    pub place: Option<(usize, usize)>,
    /// The key, if the error is about one.
    pub key: Option<String>,
    /// What is wrong, and what to write instead.
    pub message: String,
}

fn sentence(place: Option<(usize, usize)>, key: Option<&str>, message: &str) -> String {
    let place = place.map(|(line, column)| format!("line {line}, column {column}: ")).unwrap_or_default();
    let key = key.map(|key| format!("`{key}`: ")).unwrap_or_default();
    format!("{place}{key}{message}")
}

impl Agent {
    /// Parses an agent file; `rules` are the defaults. Fails with all errors of the file.
    pub fn read(text: &str, rules: &SessionRules) -> Result<Self, Vec<AgentProblem>> {
        let Parts { settings, lines_before, prompt } = Parts::of(text)?;
        let shifted = |place: (usize, usize)| (place.0 + lines_before, place.1);
        let document = Document::read(settings).map_err(|problem| {
            vec![AgentProblem { place: problem.position.map(shifted), key: None, message: problem.message }]
        })?;
        let mut agent = Self {
            description: String::new(),
            targets: None,
            tools: None,
            agents: Vec::new(),
            rules: rules.clone(),
            schema_file: None,
            limits: AgentLimits::default(),
            prompt: prompt.trim().to_owned(),
        };
        let mut problems = keys::apply(&mut agent, &document.value);
        for problem in &mut problems {
            let path = problem.key.as_deref().map(|key| key.split('.').fold(Path::root(), |path, part| path.key(part)));
            problem.place = path.and_then(|path| document.position(&path)).map(shifted);
        }
        if agent.prompt.is_empty() {
            let message = "the agent has no prompt: write what it is to do below the settings".to_owned();
            problems.push(AgentProblem { place: None, key: None, message });
        }
        if problems.is_empty() { Ok(agent) } else { Err(problems) }
    }
}

/// The parts of a file.
struct Parts<'a> {
    settings: &'a str,
    lines_before: usize,
    prompt: &'a str,
}

impl<'a> Parts<'a> {
    /// Skips a first line that begins with `#!`. The settings are between two lines of three dashes.
    fn of(text: &'a str) -> Result<Self, Vec<AgentProblem>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (shebang, rest) = match text.strip_prefix("#!") {
            Some(line) => (1, line.split_once('\n').map_or("", |(_, rest)| rest)),
            None => (0, text),
        };
        let Some((first, after)) = rest.split_once('\n').filter(|(first, _)| first.trim_end() == "---") else {
            return Ok(Self { settings: "{}", lines_before: 0, prompt: rest });
        };
        let mut end = 0;
        for line in after.split_inclusive('\n') {
            if line.trim_end() == "---" {
                let settings = after.get(..end).unwrap_or_default();
                let prompt = after.get(end + line.len()..).unwrap_or_default();
                let settings = if settings.trim().is_empty() { "{}" } else { settings };
                return Ok(Self { settings, lines_before: shebang + 1, prompt });
            }
            end += line.len();
        }
        let message =
            format!("the settings that begin with `{}` have no end: write `---` after them", first.trim_end());
        Err(vec![AgentProblem { place: Some((shebang + 1, 1)), key: None, message }])
    }
}
