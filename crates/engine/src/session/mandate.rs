//! The mandate: with the guard on, a model says what the messages of the user need to change, before it reads anything.

use reknit_model_api::{Message, ModelAnswer, ModelRequest, Role, Temperature};
use reknit_protocol::{Object, SideEffect, Value};

use super::Session;
use super::call::Callee;
use super::toolbox::ToolLookup;
use crate::budget::Bill;
use crate::guard::{Mandate, Permission};
use crate::record::{ModelRecord, SessionRecord};

/// The longest answer, in tokens.
const MAX_TOKENS: u32 = 600;

/// How much of the description of a tool is shown, in characters.
const MAX_DESCRIPTION: usize = 100;

impl Session {
    /// Whether the next question is for the mandate. The final turn has no calls.
    pub(super) fn asks_for_mandate(&self) -> bool {
        self.state.current.asks_for_mandate && !self.is_final_turn()
    }

    /// Whether a turn begins with it: nobody has said what the agent may change for this message, and it can change something.
    pub(super) fn needs_mandate(&self) -> bool {
        let is_stated = self.started.rules.mandate.is_some() || !self.state.calls.earlier.is_empty();
        let is_new = self.state.calls.mandates_asked <= self.state.follow_ups.len();
        self.started.policy.effects.guard.is_on() && !is_stated && is_new && self.can_change_something()
    }

    fn can_change_something(&self) -> bool {
        let tools = self.setup.toolbox.definitions(false, false);
        let mut sources = tools.iter().filter_map(|tool| self.setup.toolbox.source_of(&tool.name));
        sources.any(|(tool, capability)| self.class_of(tool, capability) != SideEffect::Read)
    }

    /// The question sees what people wrote and the tools, and no result.
    pub(super) fn mandate_question(&self) -> ModelRequest {
        let tools = self.setup.toolbox.definitions(false, false);
        let tools = tools.iter().filter(|tool| self.setup.toolbox.source_of(&tool.name).is_some());
        let tools: Vec<String> = tools
            .map(|tool| {
                let parameters = tool.schema.get("properties").and_then(Value::as_object);
                let names: Vec<&str> = parameters.into_iter().flat_map(Object::keys).collect();
                let description: String =
                    tool.description.lines().next().unwrap_or_default().chars().take(MAX_DESCRIPTION).collect();
                format!("- {}({}): {description}", tool.name, names.join(", "))
            })
            .collect();
        let texts = self.state.history.iter().filter(|message| message.role() == Role::User).map(Message::text);
        let text = format!(
            "# Tools\n{}\n\n# Instructions\n{}\n\n# Request\n{}",
            tools.join("\n"),
            self.started.prompt.trim(),
            texts.collect::<Vec<_>>().join("\n\n")
        );
        let messages = vec![Message::system(&self.started.words.mandate), Message::user(text)];
        ModelRequest {
            temperature: Some(Temperature::ZERO),
            timeout_ms: Some(self.started.rules.llm_timeout_ms),
            ..ModelRequest::new(messages, MAX_TOKENS)
        }
    }

    /// Takes the mandate, and goes on with the turn. An answer that cannot be read permits nothing.
    pub(super) fn on_mandate(&mut self, answer: &ModelAnswer) {
        let recorded = std::sync::Arc::new(answer.clone());
        self.record(ModelRecord::Answered { id: self.ask_id(), answer: recorded, failure: None });
        self.settle_question(Bill::Used(&answer.usage));
        self.state.account.spent.add_tokens(&answer.usage);
        let read = self.read_mandate(&answer.text);
        let (turn, is_read) = (self.state.current.number, read.is_some());
        let new = read.unwrap_or_default();
        self.record(SessionRecord::MandateStated { turn, mandate: new.clone(), is_read });
        // A later message adds to what the earlier ones need.
        self.state.calls.mandate.get_or_insert_default().0.extend(new.0);
        self.state.calls.mandates_asked = self.state.follow_ups.len() + 1;
        self.state.current.asks_for_mandate = false;
        self.state.rotation.restart();
        self.begin_attempt();
    }

    fn read_mandate(&self, text: &str) -> Option<Mandate> {
        let read = reknit_salvage::read(text, &reknit_salvage::ReadOptions::default()).ok()?;
        let entries = read.value.as_array()?;
        let is_known = |entry: &&Value| {
            let name = entry.get("tool").and_then(Value::as_str);
            name.is_none_or(|name| self.capability_of(name).is_some())
        };
        let permissions = entries.iter().filter(is_known).map(|entry| self.read_permission(entry));
        permissions.collect::<Option<Vec<_>>>().map(Mandate)
    }

    /// Fails if the entry has another form than it was asked for.
    fn read_permission(&self, entry: &Value) -> Option<Permission> {
        let capability = self.capability_of(entry.get("tool")?.as_str()?)?;
        let times = match entry.get("times") {
            None | Some(Value::Null) => None,
            Some(times) => Some(times.to_string().parse().ok()?),
        };
        let sources = |value: &Value| -> Vec<String> {
            let names = value.as_array().unwrap_or_else(|| std::slice::from_ref(value));
            names.iter().filter_map(|name| self.capability_of(name.as_str()?)).collect()
        };
        let from = entry.get("from").and_then(Value::as_object);
        let from = from.into_iter().flat_map(|from| from.iter());
        let from = from.map(|(parameter, value)| (parameter.to_owned(), sources(value))).collect();
        Some(Permission { capability, times, from })
    }

    /// `tool/capability` for a tool as the model is shown it.
    fn capability_of(&self, name: &str) -> Option<String> {
        let ToolLookup::Found(tool) = self.setup.toolbox.find(name) else { return None };
        let Callee::Capability { tool, capability } = &tool.callee else { return None };
        Some(format!("{tool}/{capability}"))
    }
}
