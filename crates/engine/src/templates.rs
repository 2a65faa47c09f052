//! The prompt templates. They are part of a run's first event, so a new version of the program does not change the
//! prompts of a run that has started.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior};
use reknit_model_api::Message;
use serde::{Deserialize, Serialize};

use crate::data_fence::fenced;
use crate::session_texts::{self, SessionTexts};

/// The line between the system message and the user message.
const ROLE_SEPARATOR: &str = "\n---\n";

/// The limit on work for one template: enough for any list of results, too little for an endless loop.
const FUEL: u64 = 100_000;

/// The prompt templates, one per purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Templates {
    /// Selects the tools that a plan may need, out of many. Variables: `tools`, `request`.
    pub choice: String,
    /// Requests a plan. Variables: `tools`, `request`, and after a rejected plan `last` and `problems`.
    pub plan: String,
    /// Follows the request for a plan if a plan has already run and a part of it failed. Variables: `done`, `failed`, `uncertain`,
    /// `next`.
    /// Empty in runs that were started before there were second plans.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub replan: String,
    /// Finds values that the plan does not give. Variables: `request`, `instruction`, `agent`, `capability`,
    /// `description`, `wanted`, `sources`, `schema`.
    pub resolution: String,
    /// Corrects a call by its error. Variables: `request`, `agent`, `capability`, `description`, `instruction`, `attempt`,
    /// `status`, `code`, `category`, `message`, `details` (or the response body if the error has no details), `facts`,
    /// `parameters`, `schema`.
    pub feedback: String,
    /// Corrects a call by all known values. Variables: `request`, `instruction`, `agent`, `capability`, `description`,
    /// `sources`, `schema`, `attempts`, `facts`.
    pub context: String,
    /// Requests the answer. Variables: `request`, `results`, `missing`, `mended`.
    pub answer: String,
    /// The instructions and notices of sessions, in sections. A section that is left out keeps its built-in text.
    pub session: String,
}

impl Default for Templates {
    fn default() -> Self {
        Self {
            choice: include_str!("../prompts/choice.txt").to_owned(),
            plan: include_str!("../prompts/plan.txt").to_owned(),
            replan: include_str!("../prompts/replan.txt").to_owned(),
            resolution: include_str!("../prompts/resolution.txt").to_owned(),
            feedback: include_str!("../prompts/feedback.txt").to_owned(),
            context: include_str!("../prompts/context.txt").to_owned(),
            answer: include_str!("../prompts/answer.txt").to_owned(),
            session: session_texts::BUILT_IN.to_owned(),
        }
    }
}

/// Why a prompt template was rejected.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The template has a syntax error, or uses an unknown variable.
    #[error("invalid prompt template: {0}")]
    Broken(minijinja::Error),
    #[error("there is no prompt `{name}`; the prompts are: {}", Templates::NAMES.join(", "))]
    UnknownName { name: String },
    /// The texts for sessions cannot be used.
    #[error("the prompt `session` is invalid: {0}")]
    Session(String),
    /// The template omits a variable that the model needs.
    #[error("the prompt `{name}` must contain `{{{{ {variable} }}}}`: without it the model cannot answer")]
    Missing { name: &'static str, variable: &'static str },
}

impl From<minijinja::Error> for TemplateError {
    fn from(error: minijinja::Error) -> Self {
        Self::Broken(error)
    }
}

/// Builds prompt templates in code. They are built once, before a run starts, and become part of its first event, so
/// the prompts of a run follow from its events alone.
///
/// Every function from a prompt's name and its default template implements this trait.
pub trait PromptBuilder {
    /// The template for one of [`Templates::NAMES`] instead of `default`; `None` keeps the default. It must use every
    /// variable of the default.
    fn build(&self, name: &str, default: &str) -> Option<String>;
}

impl<F: Fn(&str, &str) -> Option<String>> PromptBuilder for F {
    fn build(&self, name: &str, default: &str) -> Option<String> {
        self(name, default)
    }
}

/// The variables of each template. A template must use all of them: a model invents what it is not told.
const VARIABLES: [(&str, &[&str]); 8] = [
    ("choice", &["tools", "request"]),
    ("plan", &["tools", "request", "last", "problems"]),
    ("replan", &["done", "failed", "uncertain", "next"]),
    ("resolution", &["request", "instruction", "agent", "capability", "description", "wanted", "sources", "schema"]),
    (
        "feedback",
        &[
            "request",
            "agent",
            "capability",
            "description",
            "instruction",
            "attempt",
            "status",
            "code",
            "category",
            "message",
            "details",
            "facts",
            "parameters",
            "schema",
        ],
    ),
    (
        "context",
        &["request", "instruction", "agent", "capability", "description", "sources", "schema", "facts", "attempts"],
    ),
    ("answer", &["request", "results", "missing", "mended"]),
    (SESSION, &[]),
];

/// The name of the texts for sessions. They are no template: they have sections instead of variables.
const SESSION: &str = "session";

impl Templates {
    /// The names of the prompts.
    pub const NAMES: [&str; 8] = ["choice", "plan", "replan", "resolution", "feedback", "context", "answer", SESSION];

    /// Replaces a template. The new one must use every variable of the default.
    ///
    /// ```
    /// use reknit_engine::Templates;
    ///
    /// let mut templates = Templates::default();
    /// templates.replace("choice", "Which of {{ tools }} help with: {{ request }}".to_owned())?;
    /// let error = templates.replace("choice", "Which tools help?".to_owned()).expect_err("`tools` is missing");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the prompt `choice` must contain `{{ tools }}`: without it the model cannot answer"
    /// );
    /// # Ok::<(), reknit_engine::TemplateError>(())
    /// ```
    pub fn replace(&mut self, name: &str, text: String) -> Result<(), TemplateError> {
        let Some((name, variables)) = VARIABLES.into_iter().find(|(other, _)| *other == name) else {
            return Err(TemplateError::UnknownName { name: name.to_owned() });
        };
        if name == SESSION {
            SessionTexts::read(&text).map_err(TemplateError::Session)?;
            self.session = text;
            return Ok(());
        }
        // Each variable gets a placeholder that appears nowhere else.
        let placeholders: Vec<String> = variables.iter().map(|variable| format!("\u{1}{variable}\u{1}")).collect();
        let values: Vec<(&'static str, &str)> =
            variables.iter().copied().zip(placeholders.iter().map(String::as_str)).collect();
        let rendered: String = render(&text, &values)?.iter().map(Message::text).collect();
        if let Some((variable, _)) = values.iter().find(|(_, placeholder)| !rendered.contains(placeholder)) {
            return Err(TemplateError::Missing { name, variable });
        }
        *self.template_mut(name) = text;
        Ok(())
    }

    /// The texts for sessions.
    pub fn session_texts(&self) -> SessionTexts {
        // `replace` has read the text before.
        SessionTexts::read(&self.session).unwrap_or_default()
    }

    /// Replaces the templates that the builder provides. Fails as [`Templates::replace`] does.
    ///
    /// ```
    /// use reknit_engine::Templates;
    ///
    /// let careful = |name: &str, default: &str| {
    ///     (name == "plan").then(|| format!("You plan for a hospital; never guess a dose.\n{default}"))
    /// };
    /// let templates = Templates::default().built_by(&careful)?;
    /// assert!(templates.plan.starts_with("You plan for a hospital"));
    /// assert_eq!(templates.answer, Templates::default().answer);
    /// # Ok::<(), reknit_engine::TemplateError>(())
    /// ```
    pub fn built_by(mut self, builder: &dyn PromptBuilder) -> Result<Self, TemplateError> {
        for name in Self::NAMES {
            if let Some(text) = builder.build(name, self.template_mut(name)) {
                self.replace(name, text)?;
            }
        }
        Ok(self)
    }

    fn template_mut(&mut self, name: &str) -> &mut String {
        match name {
            "choice" => &mut self.choice,
            "plan" => &mut self.plan,
            "replan" => &mut self.replan,
            "resolution" => &mut self.resolution,
            "feedback" => &mut self.feedback,
            "context" => &mut self.context,
            SESSION => &mut self.session,
            _ => &mut self.answer,
        }
    }
}

/// The variables without text from a tool, a schema or a model. All others are put between the data markers.
const OWN_VARIABLES: [&str; 5] = ["request", "instruction", "attempt", "status", "next"];

/// The names of a tool and its capability. A plain name, without a space, is shown as it is.
const NAMES_OF_TOOLS: [&str; 2] = ["agent", "capability"];

/// Renders a template and splits it into messages. Outside text is between the data markers, in any template.
pub(crate) fn render(template: &str, values: &[(&str, &str)]) -> Result<Vec<Message>, TemplateError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // The values are data: text from a tool is never rendered as a template.
    let values: BTreeMap<String, String> =
        values.iter().map(|(name, value)| ((*name).to_owned(), shown(name, value))).collect();
    let values = minijinja::Value::from(values);
    let (system, user) = template.split_once(ROLE_SEPARATOR).unwrap_or(("", template));
    let mut messages = Vec::new();
    if !system.is_empty() {
        messages.push(Message::system(environment.render_str(system, &values)?));
    }
    messages.push(Message::user(environment.render_str(user, &values)?));
    Ok(messages)
}

fn shown(name: &str, value: &str) -> String {
    let is_plain_name = || value.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter));
    let is_own = OWN_VARIABLES.contains(&name) || (NAMES_OF_TOOLS.contains(&name) && is_plain_name());
    if is_own { value.to_owned() } else { fenced(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_templates_use_every_variable() {
        let defaults = Templates::default();
        for name in Templates::NAMES {
            let mut templates = defaults.clone();
            let text = templates.template_mut(name).clone();
            templates.replace(name, text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(templates, defaults);
        }
    }

    #[test]
    fn a_template_from_a_prompt_builder_must_use_every_variable() {
        let incomplete = |name: &str, _: &str| (name == "answer").then(|| "Answer.".to_owned());
        let error = Templates::default().built_by(&incomplete).expect_err("`request` is missing").to_string();
        assert_eq!(error, "the prompt `answer` must contain `{{ request }}`: without it the model cannot answer");
        let none = |_: &str, _: &str| None;
        assert_eq!(Templates::default().built_by(&none).expect("the defaults stay"), Templates::default());
    }

    #[test]
    fn an_unknown_prompt_and_an_invalid_template_are_refused() {
        let mut templates = Templates::default();
        for (name, text) in
            [("plans", "{{ tools }}"), ("choice", "{{ tools"), ("choice", "{{ tools }}{{ request }}{{ moon }}")]
        {
            assert!(templates.replace(name, text.to_owned()).is_err(), "{name}: {text}");
        }
        assert_eq!(templates, Templates::default());
    }
}
