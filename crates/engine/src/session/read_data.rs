//! With the guard on: who says the values of the calls that a model wrote after it had read data.
//!
//! The conversation has everything that was read, so nothing is kept beside it.

use reknit_mend::Fate;
use reknit_model_api::{Message, Role};
use reknit_protocol::SideEffect;

use super::Session;
use super::call::{Call, Callee, call_name};
use super::machine::Machine;
use super::stored_results::READ_TOOL;
use crate::answer::{Outcome, StepReport};
use crate::event::EventKind;
use crate::guard::{Earlier, Mandate};
use crate::read_results::{ReadResult, WrittenCall};

impl Session {
    /// What the run of the tool calls is told; nothing with the guard off.
    pub(super) fn earlier_for_calls(&self, calls: &[Call]) -> Earlier {
        let made = calls.iter().enumerate().filter_map(|(index, call)| match &call.callee {
            Callee::Capability { tool, capability } => {
                let callee = (tool.as_str(), capability.as_str());
                let class = self.class_of(callee.0, callee.1);
                Some(WrittenCall {
                    step: call_name(index),
                    callee,
                    parameters: &call.parameters,
                    is_loop: false,
                    class,
                })
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
            Some(WrittenCall {
                step: step.step_id.to_string(),
                callee,
                parameters: step.parameters()?,
                is_loop: step.has_foreach(),
                class: self.class_of(callee.0, callee.1),
            })
        });
        Earlier { mandate: self.mandate_left(), ..self.earlier(&made.collect::<Vec<_>>()) }
    }

    /// What an agent is told that the model calls.
    pub(super) fn earlier_for_agent(&self) -> Earlier {
        Earlier { mandate: self.mandate_left(), ..self.earlier(&[]) }
    }

    fn earlier(&self, calls: &[WrittenCall<'_>]) -> Earlier {
        let effects = &self.started.policy.effects;
        if !effects.guard.is_on() {
            return Earlier::default();
        }
        let has_read = self.has_read();
        let mut earlier = Earlier { has_read, person: self.texts_of_person(), ..Earlier::default() };
        if has_read {
            earlier.judge(calls, &self.read_results(), self.mandate_left().as_ref(), effects);
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
