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
    /// For the tools that a plan may need, out of many. Knows `tools`, `request`.
    pub choice: String,
    /// For a plan. Knows `tools`, `request`, and of the answer before, if it could not be used, `last` and `problems`.
    pub plan: String,
    /// For values that the plan does not give. Knows `request`, `instruction`, `agent`, `capability`, `description`,
    /// `wanted`, `sources`, `schema`.
    pub resolution: String,
    /// For what the error says. Knows `agent`, `capability`, `description`, `instruction`, `attempt`, `status`, `code`,
    /// `category`, `message`, `details` (or the body, of a tool that has none), `facts`, `parameters`, `schema`.
    pub feedback: String,
    /// For what all that is known says. Knows `request`, `instruction`, `agent`, `capability`, `description`, `sources`,
    /// `schema`, `attempts`, `facts`.
    pub context: String,
    /// For the answer. Knows `request`, `results`, `missing`, `mended`.
    pub answer: String,
}

impl Default for Templates {
    fn default() -> Self {
        Self {
            choice: include_str!("../prompts/choice.txt").to_owned(),
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
pub enum TemplateError {
    /// It cannot be filled: it is no template, or asks for a name that is not there.
    #[error("a template cannot be used: {0}")]
    Broken(minijinja::Error),
    /// There is no question of this name.
    #[error("there is no prompt `{name}`; there is: {}", Templates::NAMES.join(", "))]
    UnknownName {
        /// The name.
        name: String,
    },
    /// It leaves out what a model must know.
    #[error("the prompt `{name}` does not say `{{{{ {variable} }}}}`, without which a model cannot answer")]
    Missing {
        /// Which one.
        name: &'static str,
        /// What it must say.
        variable: &'static str,
    },
}

impl From<minijinja::Error> for TemplateError {
    fn from(error: minijinja::Error) -> Self {
        Self::Broken(error)
    }
}

/// Gives the words in which models are asked, from code. They are asked for once, before a run begins, and travel in its
/// first event: what a run asks follows from its events alone.
///
/// A function from the name of a prompt and our own words for it is one, too.
pub trait PromptBuilder {
    /// The template for one of [`Templates::NAMES`], in the place of `ours`; none leaves ours. It must use everything that
    /// ours is filled with.
    fn build(&self, name: &str, ours: &str) -> Option<String>;
}

impl<F: Fn(&str, &str) -> Option<String>> PromptBuilder for F {
    fn build(&self, name: &str, ours: &str) -> Option<String> {
        self(name, ours)
    }
}

/// What each template is filled with. It must use all of it: what a model is not told, it makes up.
const VARIABLES: [(&str, &[&str]); 6] = [
    ("choice", &["tools", "request"]),
    ("plan", &["tools", "request", "last", "problems"]),
    ("resolution", &["request", "instruction", "agent", "capability", "description", "wanted", "sources", "schema"]),
    (
        "feedback",
        &[
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
];

impl Templates {
    /// The names of the prompts.
    pub const NAMES: [&str; 6] = ["choice", "plan", "resolution", "feedback", "context", "answer"];

    /// Puts other words in the place of ours. They must use everything that ours are filled with.
    ///
    /// ```
    /// use reknit_engine::Templates;
    ///
    /// let mut templates = Templates::default();
    /// templates.replace("choice", "Which of {{ tools }} help with: {{ request }}".to_owned())?;
    /// let error = templates.replace("choice", "Which tools help?".to_owned()).expect_err("nothing can be chosen from");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the prompt `choice` does not say `{{ tools }}`, without which a model cannot answer"
    /// );
    /// # Ok::<(), reknit_engine::TemplateError>(())
    /// ```
    pub fn replace(&mut self, name: &str, text: String) -> Result<(), TemplateError> {
        let Some((name, variables)) = VARIABLES.into_iter().find(|(other, _)| *other == name) else {
            return Err(TemplateError::UnknownName { name: name.to_owned() });
        };
        // Each variable is filled with something that nothing else says.
        let marks: Vec<String> = variables.iter().map(|variable| format!("\u{1}{variable}\u{1}")).collect();
        let values: Vec<(&str, &str)> =
            variables.iter().zip(&marks).map(|(variable, mark)| (*variable, mark.as_str())).collect();
        let said: String = render(&text, &values)?.iter().map(Message::text).collect();
        if let Some((variable, _)) = variables.iter().zip(&marks).find(|(_, mark)| !said.contains(mark.as_str())) {
            return Err(TemplateError::Missing { name, variable });
        }
        *self.place(name) = text;
        Ok(())
    }

    /// The same with the words of a builder where it has any. Fails as [`Templates::replace`] does.
    ///
    /// ```
    /// use reknit_engine::Templates;
    ///
    /// let careful = |name: &str, ours: &str| {
    ///     (name == "plan").then(|| format!("You plan for a hospital; never guess a dose.\n{ours}"))
    /// };
    /// let templates = Templates::default().built_by(&careful)?;
    /// assert!(templates.plan.starts_with("You plan for a hospital"));
    /// assert_eq!(templates.answer, Templates::default().answer);
    /// # Ok::<(), reknit_engine::TemplateError>(())
    /// ```
    pub fn built_by(mut self, builder: &dyn PromptBuilder) -> Result<Self, TemplateError> {
        for name in Self::NAMES {
            if let Some(text) = builder.build(name, self.place(name)) {
                self.replace(name, text)?;
            }
        }
        Ok(self)
    }

    fn place(&mut self, name: &str) -> &mut String {
        match name {
            "choice" => &mut self.choice,
            "plan" => &mut self.plan,
            "resolution" => &mut self.resolution,
            "feedback" => &mut self.feedback,
            "context" => &mut self.context,
            _ => &mut self.answer,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_words_use_everything_they_are_filled_with() {
        let ours = Templates::default();
        for name in Templates::NAMES {
            let mut templates = ours.clone();
            let text = templates.place(name).clone();
            templates.replace(name, text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(templates, ours);
        }
    }

    #[test]
    fn words_from_code_are_checked_as_those_from_files_are() {
        let silent = |name: &str, _: &str| (name == "answer").then(|| "Answer.".to_owned());
        let error = Templates::default().built_by(&silent).expect_err("it says nothing").to_string();
        assert_eq!(error, "the prompt `answer` does not say `{{ request }}`, without which a model cannot answer");
        let nothing = |_: &str, _: &str| None;
        assert_eq!(Templates::default().built_by(&nothing).expect("ours stay"), Templates::default());
    }

    #[test]
    fn a_prompt_that_is_none_or_asks_for_what_is_not_there_is_refused() {
        let mut templates = Templates::default();
        for (name, text) in
            [("plans", "{{ tools }}"), ("choice", "{{ tools"), ("choice", "{{ tools }}{{ request }}{{ moon }}")]
        {
            assert!(templates.replace(name, text.to_owned()).is_err(), "{name}: {text}");
        }
        assert_eq!(templates, Templates::default());
    }
}
