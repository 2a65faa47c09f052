//! Many tools: first a model says which ones the planner should see.

use reknit_dialogue::{Format, Purpose};
use reknit_protocol::{EffectKind, EffectOwner};

use super::Run;
use super::state::Phase;
use crate::consult::{AfterFailure, Consultation};
use crate::event::What;
use crate::templates::render;
use reknit_plan::{Choice, name_tools};

impl Run {
    /// Goes for a plan; if there are many tools, some of them are chosen first.
    pub(super) fn begin_planning(&mut self) {
        let count: usize = self.catalogue().tools.iter().map(|tool| tool.shown().count()).sum();
        let from = self.policy().planning.choose_from;
        if count < from as usize || self.started.targets.is_empty() {
            return self.ask_for_plan(None);
        }
        let tools = name_tools(&Choice::candidates(self.catalogue(), &self.started.request));
        let values = [("tools", tools.as_str()), ("request", self.started.request.as_str())];
        let messages = match render(&self.started.templates.choice, &values) {
            Ok(messages) => messages,
            Err(error) => return self.choose_by_words(error.to_string()),
        };
        let request = self.policy().asking.choice.request(messages).with_format(Format::Json);
        let mut consultation = Consultation::open(
            EffectOwner::Plan,
            EffectKind::Select,
            0,
            Purpose::TieredSelection,
            request,
            self.rotation(),
        );
        if let Err(exhausted) = consultation.pay(&mut self.state.spent, &self.started.policy) {
            return self.choose_by_words(exhausted.to_string());
        }
        self.state.phase = Phase::Choosing { consultation: Box::new(consultation) };
    }

    /// Takes in an answer about the choice; says whether it was one.
    pub(super) fn on_choosing(&mut self, what: &What) -> bool {
        let Phase::Choosing { consultation } = &mut self.state.phase else { return false };
        let now_ms = self.state.now_ms;
        match what {
            What::ModelAnswered { effect, answer } if consultation.wants(effect) => {
                self.state.spent.add_tokens(&answer.usage);
                match answer.words().map_err(|failure| failure.to_string()) {
                    Ok(text) => match Choice::read(text, self.catalogue()) {
                        Ok(choice) => self.choose(choice),
                        Err(problem) => self.choose_by_words(problem),
                    },
                    Err(problem) => self.choose_by_words(problem),
                }
            }
            What::GateClosed { effect, until_ms } if consultation.wants(effect) => {
                self.state.spent.give_back_model_call();
                let after = consultation.closed(*until_ms, now_ms);
                self.on_no_choice(after);
            }
            What::ModelFailed { effect, failure } if consultation.wants(effect) => {
                let after = consultation.failed(failure, now_ms);
                self.on_no_choice(after);
            }
            What::Woke { effect } if consultation.wants(effect) => {
                consultation.woke(now_ms);
                self.pay_to_choose();
            }
            _ => return false,
        }
        true
    }

    fn on_no_choice(&mut self, after: AfterFailure) {
        match after {
            AfterFailure::Wait => {}
            AfterFailure::AskNext => self.pay_to_choose(),
            AfterFailure::GiveUp(reason) => self.choose_by_words(reason),
        }
    }

    pub(super) fn pay_to_choose(&mut self) {
        if let Err(exhausted) = self.pay_for_question() {
            self.choose_by_words(exhausted.to_string());
        }
    }

    fn choose_by_words(&mut self, instead: String) {
        self.choose(Choice::search(self.catalogue(), &self.started.request, instead));
    }

    fn choose(&mut self, choice: Choice) {
        self.state.choice = Some(choice);
        self.ask_for_plan(None);
    }
}
