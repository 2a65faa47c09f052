//! Agent files: a few settings in front, and what the agent is told about its work.
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
//! A key that nobody knows is an error, not a default.

mod keys;
#[cfg(test)]
mod tests;

use reknit_engine::SessionRules;
use reknit_plan::Document;
use reknit_protocol::Path;

/// An agent, as its file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// What it is for; empty if it does not say.
    pub description: String,
    /// The models it asks, in order; all that are configured if it names none.
    pub targets: Option<Vec<String>>,
    /// The tools it may call, each as `tool` or `tool/capability`; all that are configured if it names none.
    pub tools: Option<Vec<String>>,
    /// The files of the agents it may call, as it names them: beside its own file.
    pub agents: Vec<String>,
    /// How it turns and ends.
    pub rules: SessionRules,
    /// The file with the schema of its reports, if that is not in the agent's own file.
    pub schema_file: Option<String>,
    /// What it may spend, where that is not what the configuration says.
    pub limits: AgentLimits,
    /// What it is told about its work.
    pub prompt: String,
}

/// What an agent may spend, where its file says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentLimits {
    /// Calls of tools.
    pub tool_calls: Option<u32>,
    /// Questions to models.
    pub model_calls: Option<u32>,
    /// Time in which it is not waiting for a person.
    pub active_ms: Option<u64>,
    /// Calls of tools under way at once.
    pub calls_at_once: Option<u32>,
}

/// What is wrong with an agent file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", sentence(*.place, .key.as_deref(), .message))]
pub struct AgentProblem {
    /// The line and the column in the file, from 1, if they are known.
    pub place: Option<(usize, usize)>,
    /// The key, if it is about one.
    pub key: Option<String>,
    /// What is wrong, in words.
    pub message: String,
}

fn sentence(place: Option<(usize, usize)>, key: Option<&str>, message: &str) -> String {
    let place = place.map(|(line, column)| format!("line {line}, column {column}: ")).unwrap_or_default();
    let key = key.map(|key| format!("`{key}`: ")).unwrap_or_default();
    format!("{place}{key}{message}")
}

impl Agent {
    /// Reads an agent file; what it does not say is as `rules` have it. Fails with everything that is wrong.
    pub fn read(text: &str, rules: &SessionRules) -> Result<Self, Vec<AgentProblem>> {
        let Parts { front, lines_before, prompt } = Parts::of(text)?;
        let shifted = |place: (usize, usize)| (place.0 + lines_before, place.1);
        let document = Document::read(front).map_err(|problem| {
            vec![AgentProblem { place: problem.place.map(shifted), key: None, message: problem.message }]
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
            problem.place = path.and_then(|path| document.place(&path)).map(shifted);
        }
        if agent.prompt.is_empty() {
            let message = "the agent is told nothing: write what it is to do below the settings".to_owned();
            problems.push(AgentProblem { place: None, key: None, message });
        }
        if problems.is_empty() { Ok(agent) } else { Err(problems) }
    }
}

/// A file, taken apart.
struct Parts<'a> {
    front: &'a str,
    lines_before: usize,
    prompt: &'a str,
}

impl<'a> Parts<'a> {
    /// A first line that begins with `#!` is for the system. Settings stand between two lines of three dashes.
    fn of(text: &'a str) -> Result<Self, Vec<AgentProblem>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (shebang, rest) = match text.strip_prefix("#!") {
            Some(line) => (1, line.split_once('\n').map_or("", |(_, rest)| rest)),
            None => (0, text),
        };
        let Some((first, after)) = rest.split_once('\n').filter(|(first, _)| first.trim_end() == "---") else {
            return Ok(Self { front: "{}", lines_before: 0, prompt: rest });
        };
        let mut end = 0;
        for line in after.split_inclusive('\n') {
            if line.trim_end() == "---" {
                let front = after.get(..end).unwrap_or_default();
                let prompt = after.get(end + line.len()..).unwrap_or_default();
                let front = if front.trim().is_empty() { "{}" } else { front };
                return Ok(Self { front, lines_before: shebang + 1, prompt });
            }
            end += line.len();
        }
        let message =
            format!("the settings that begin with `{}` have no end: write `---` behind them", first.trim_end());
        Err(vec![AgentProblem { place: Some((shebang + 1, 1)), key: None, message }])
    }
}
