//! With the guard on: who says the values of the calls that a model wrote after it had read data.
//!
//! The conversation has everything that was read, so nothing is kept beside it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use reknit_mend::Fate;
use reknit_model_api::{Message, Role};
use reknit_protocol::{Object, SideEffect, Value};

use super::Session;
use super::call::{Call, Callee, call_name};
use super::machine::Machine;
use super::stored_results::READ_TOOL;
use crate::answer::{Outcome, StepReport};
use crate::event::EventKind;
use crate::gate::{StatedText, key_path};
use crate::guard::{Earlier, Mandate, ResultOrigin, carries_field, plain_text};
use crate::policy::SideEffectPolicy;
use crate::run::parameter_leaves::leaves_of;
use crate::synthesis::numbers_in_text::{has_words, visit_scalars};

/// A call of a tool as it is judged: its step, its callee and its parameters.
struct Judged<'a> {
    step: String,
    callee: (&'a str, &'a str),
    parameters: &'a Object,
    is_loop: bool,
}

/// A result that was read.
struct ReadResult<'a> {
    source: (&'a str, &'a str),
    value: Value,
    /// Every whole field, and every line of a text.
    fields: HashSet<String>,
    /// In lower case.
    text: String,
}

impl Session {
    /// What the run of the tool calls is told; nothing with the guard off.
    pub(super) fn earlier_for_calls(&self, calls: &[Call]) -> Earlier {
        let made = calls.iter().enumerate().filter_map(|(index, call)| match &call.callee {
            Callee::Capability { tool, capability } => {
                let callee = (tool.as_str(), capability.as_str());
                Some(Judged { step: call_name(index), callee, parameters: &call.parameters, is_loop: false })
            }
            _ => None,
        });
        self.earlier(&made.collect::<Vec<_>>())
    }

    /// What the run of a plan is told that the model submits.
    pub(super) fn earlier_for_plan(&self, start: &EventKind) -> Earlier {
        let plan = match start {
            EventKind::Started(started) => started.plan.as_ref(),
            _ => None,
        };
        let made = plan.into_iter().flat_map(|plan| &plan.steps).filter_map(|step| {
            let callee = (step.tool.as_str(), step.capability()?);
            Some(Judged {
                step: step.step_id.to_string(),
                callee,
                parameters: step.parameters()?,
                is_loop: step.has_foreach(),
            })
        });
        Earlier { mandate: self.mandate_left(), ..self.earlier(&made.collect::<Vec<_>>()) }
    }

    /// What an agent is told that the model calls.
    pub(super) fn earlier_for_agent(&self) -> Earlier {
        Earlier { mandate: self.mandate_left(), ..self.earlier(&[]) }
    }

    fn earlier(&self, calls: &[Judged<'_>]) -> Earlier {
        let effects = &self.started.policy.effects;
        if !effects.guard.is_on() {
            return Earlier::default();
        }
        let has_read = self.has_read();
        let mut earlier = Earlier { has_read, person: self.texts_of_person(), ..Earlier::default() };
        if !has_read {
            return earlier;
        }
        let (results, mandate) = (self.read_results(), self.mandate_left());
        let stated = StatedText::new(earlier.person.iter().map(String::as_str));
        let mut left = BTreeMap::new();
        for call in calls {
            let (tool, capability) = call.callee;
            let class = self.class_of(tool, capability);
            if let Some(mandate) = mandate.as_ref().filter(|_| class != SideEffect::Read) {
                let left = left.entry(call.callee).or_insert_with(|| mandate.times(tool, capability));
                match left {
                    Some(0) => earlier.outside.extend([call.step.clone()]),
                    // Nobody knows yet how often a loop calls it.
                    Some(_) if call.is_loop => earlier.outside.extend([call.step.clone()]),
                    Some(times) => *times -= 1,
                    None => {}
                }
            }
            for (at, value) in leaves_of(call.parameters) {
                let parameter = key_path(&at);
                let origins = results.iter().filter_map(|result| {
                    let is_named =
                        mandate.as_ref().is_some_and(|is| is.names_source(call.callee, &parameter, result.source));
                    result.origin(call.callee.0, value, is_named, effects)
                });
                if let Some(origin) = origins.max() {
                    earlier.values.insert(Earlier::key(call.callee, &parameter, value), origin);
                }
                let fields =
                    results.iter().flat_map(|result| &result.fields).map(|field| Cow::Borrowed(field.as_str()));
                if !stated.has(value) && carries_field(&plain_text(value), fields) {
                    earlier.carriers.insert(plain_text(value));
                }
            }
        }
        earlier
    }

    /// Whether the model has seen anything that no person wrote.
    fn has_read(&self) -> bool {
        self.state.calls.earlier.has_read
            || !self.started.attachments.is_empty()
            || self.state.history.iter().any(|message| message.role() == Role::Tool)
    }

    /// What people wrote: the instructions of the agent and the messages of the user. The question of an agent that was called after
    /// data was read is no such text.
    fn texts_of_person(&self) -> Vec<String> {
        let inherited = &self.state.calls.earlier;
        let is_own =
            |message: &&Message| message.role() == Role::System || message.role() == Role::User && !inherited.has_read;
        let own = self.state.history.iter().filter(is_own).map(|message| message.text().to_owned());
        inherited.person.iter().cloned().chain(own).collect()
    }

    pub(super) fn class_of(&self, tool: &str, capability: &str) -> SideEffect {
        let declared = self.started.catalogue.entry(tool, capability).map(|entry| entry.capability.effect);
        self.started.policy.effects.class(tool, capability, declared.unwrap_or_default())
    }

    /// What the agent may still change; `None` without a mandate.
    fn mandate_left(&self) -> Option<Mandate> {
        let of_file = self.started.rules.mandate.as_ref().or(self.state.calls.earlier.mandate.as_ref());
        let stated = of_file.or(self.state.calls.mandate.as_ref())?;
        Some(stated.less(&self.state.calls.changes_made))
    }

    /// With the guard on, counts the calls that changed something, or may have.
    pub(super) fn count_changes(&mut self, steps: &[StepReport]) {
        if !self.started.policy.effects.guard.is_on() {
            return;
        }
        for step in steps {
            let is_made = match &step.outcome {
                Outcome::Done(_) | Outcome::Unconfirmed { .. } => true,
                Outcome::Failed { fate, .. } => *fate == Fate::Unknown,
                Outcome::Skipped { .. } => false,
            };
            if is_made && self.class_of(step.tool.as_str(), step.capability.as_str()) != SideEffect::Read {
                let name = format!("{}/{}", step.tool, step.capability);
                *self.state.calls.changes_made.entry(name).or_default() += 1;
            }
        }
    }

    /// Counts those of an agent that this one called.
    pub(super) fn add_changes_of(&mut self, child: &Machine) {
        let made = child.as_session().map(|session| session.state.calls.changes_made.clone()).unwrap_or_default();
        for (name, calls) in made {
            *self.state.calls.changes_made.entry(name).or_default() += calls;
        }
    }

    fn read_results(&self) -> Vec<ReadResult<'_>> {
        let results = self.state.history.iter().filter_map(|message| match message {
            Message::Tool { name, text, is_error, .. } if name != READ_TOOL => {
                let source = self.setup.toolbox.source_of(name);
                let text = self.state.stored_results.full_text(text);
                // An error may repeat what the model sent.
                Some(ReadResult::new(source.filter(|_| !is_error).unwrap_or(("", "")), text))
            }
            _ => None,
        });
        results.collect()
    }
}

impl<'a> ReadResult<'a> {
    fn new(source: (&'a str, &'a str), text: &str) -> Self {
        let data = text.rfind("\n(").and_then(|at| text.get(..at));
        let parsed = Value::parse(text).ok().or_else(|| Value::parse(data?).ok());
        let value = parsed.unwrap_or_else(|| Value::from(text));
        let mut fields = HashSet::new();
        match &value {
            Value::String(text) => text.lines().for_each(|line| fields.extend(parts_of_line(line))),
            other => visit_scalars(other, &mut |scalar| fields.extend([plain_text(scalar)])),
        }
        Self { source, value, fields, text: text.to_lowercase() }
    }

    /// Who says a value that this result has; `None` if it does not have it.
    fn origin(&self, tool: &str, value: &Value, is_named: bool, effects: &SideEffectPolicy) -> Option<ResultOrigin> {
        let text = plain_text(value);
        let is_field = self.fields.contains(&text);
        if text.is_empty() || !is_field && !has_words(&self.text, &text.to_lowercase()) {
            return None;
        }
        let (of_tool, of_capability) = self.source;
        let is_vouched = !of_tool.is_empty() && effects.trusts(of_tool, of_capability, &self.value, value)
            || is_named && (is_field || self.is_only_candidate(&text));
        Some(match is_vouched {
            true => ResultOrigin::Vouched,
            false if is_field && of_tool == tool => ResultOrigin::SameService,
            false => ResultOrigin::AnyResult,
        })
    }

    /// Whether no other word of the text looks like this one. A text that names two addresses does not say which of them is meant, and
    /// an account or a number in the middle of a text says nothing at all.
    fn is_only_candidate(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let Some(kind) = WordKind::of(&text) else { return true };
        if kind == WordKind::Code {
            return false;
        }
        let mut words = self.text.split(|letter: char| letter.is_whitespace() || "\"'`<>()[]{},;".contains(letter));
        !words.any(|word| {
            let word = word.trim_matches(|letter: char| ".:!?".contains(letter));
            word != text && WordKind::of(word) == Some(kind)
        })
    }
}

/// The kind of a word that names one thing exactly.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordKind {
    Mail,
    Address,
    Code,
}

impl WordKind {
    fn of(word: &str) -> Option<Self> {
        let is_code = word.chars().count() >= 8 && word.chars().any(|letter| letter.is_ascii_digit());
        let is_host = |word: &str| {
            word.split('/').next().is_some_and(|host| {
                let end = host
                    .rsplit_once('.')
                    .map(|(start, end)| !start.is_empty() && end.len() >= 2 && end.chars().all(char::is_alphabetic));
                end.unwrap_or(false)
            })
        };
        match word {
            _ if word.contains(char::is_whitespace) => None,
            _ if word.contains("://") || is_host(word) && !word.contains('@') => Some(Self::Address),
            _ if word.contains('@') => Some(Self::Mail),
            _ if is_code => Some(Self::Code),
            _ => None,
        }
    }
}

/// A line as a whole, and the value of one like `- key: value`.
fn parts_of_line(line: &str) -> impl Iterator<Item = String> + '_ {
    let line = line.trim().trim_start_matches("- ");
    let value = line.split_once(": ").map(|(_, value)| value);
    let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    [Some(line), value].into_iter().flatten().map(plain)
}
