//! The words in which models are asked. They are part of a run's first event: an update of the program does not change
//! what a run that began asks.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior};
use reknit_dialogue::Message;
use serde::{Deserialize, Serialize};

/// A line that divides what the system says from what the user says.
const DIVIDER: &str = "\n---\n";

/// How much work one template may do: enough for any list of results, too little for an endless loop.
const FUEL: u64 = 100_000;

/// The words in which models are asked, one template for each purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Templates {
    /// For a plan. Knows `tools`, `request`, `problems`.
    pub plan: String,
    /// For values that the plan does not give. Knows `request`, `instruction`, `agent`, `capability`, `description`,
    /// `wanted`, `sources`, `schema`.
    pub resolution: String,
    /// For what the error says. Knows `agent`, `capability`, `description`, `instruction`, `attempt`, `status`, `code`,
    /// `category`, `message`, `details`, `parameters`, `schema`.
    pub feedback: String,
    /// For what all that is known says. Knows `request`, `instruction`, `agent`, `capability`, `description`, `sources`,
    /// `schema`, `attempts`.
    pub context: String,
    /// For the answer. Knows `request`, `results`, `missing`.
    pub answer: String,
}

impl Default for Templates {
    fn default() -> Self {
        Self {
            plan: include_str!("../prompts/plan.txt").to_owned(),
            resolution: include_str!("../prompts/resolution.txt").to_owned(),
            feedback: include_str!("../prompts/feedback.txt").to_owned(),
            context: include_str!("../prompts/context.txt").to_owned(),
            answer: include_str!("../prompts/answer.txt").to_owned(),
        }
    }
}

/// A template that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("a template cannot be used: {0}")]
pub struct TemplateError(#[from] minijinja::Error);

/// Fills a template and divides it into messages.
pub(crate) fn render(template: &str, values: &[(&str, &str)]) -> Result<Vec<Message>, TemplateError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // The values are never part of the template: what a tool said is not read as one.
    let values: BTreeMap<String, String> =
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let values = minijinja::Value::from(values);
    let (system, user) = template.split_once(DIVIDER).unwrap_or(("", template));
    let mut messages = Vec::new();
    if !system.is_empty() {
        messages.push(Message::system(environment.render_str(system, &values)?));
    }
    messages.push(Message::user(environment.render_str(user, &values)?));
    Ok(messages)
}
