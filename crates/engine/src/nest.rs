//! A machine inside a machine: its effects under a name of the outer one, and what came of them back under its own.

use crate::effect::{AskModel, AskPerson, CallTool, CountTokens, Effect, EffectId, Question};
use crate::event::What;

/// The name of the inner machine, which all names of its effects begin with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prefix<'a>(pub(crate) &'a str);

impl Prefix<'_> {
    fn put(self, id: &EffectId) -> EffectId {
        EffectId::from(format!("{}/{id}", self.0).as_str())
    }

    /// The name without the prefix; none if it has another.
    fn take(self, id: &EffectId) -> Option<EffectId> {
        id.as_str().strip_prefix(self.0)?.strip_prefix('/').map(EffectId::from)
    }

    /// An effect of the inner machine, as the outer one asks for it.
    pub(crate) fn outer(self, effect: Effect) -> Effect {
        match effect {
            Effect::AskModel(ask) => Effect::AskModel(AskModel { id: self.put(&ask.id), ..ask }),
            Effect::CountTokens(count) => {
                Effect::CountTokens(Box::new(CountTokens { id: self.put(&count.id), ..*count }))
            }
            Effect::CallTool(call) => Effect::CallTool(self.call(call)),
            Effect::Sleep { id, until_ms } => Effect::Sleep { id: self.put(&id), until_ms },
            Effect::AskPerson(ask) => Effect::AskPerson(AskPerson {
                id: self.put(&ask.id),
                question: match ask.question {
                    Question::SendAgain { call } => Question::SendAgain { call: Box::new(self.call(*call)) },
                    Question::SendCorrected { call, reason } => {
                        Question::SendCorrected { call: Box::new(self.call(*call)), reason }
                    }
                },
                ..ask
            }),
            Effect::Abort { effect, grace_ms } => Effect::Abort { effect: self.put(&effect), grace_ms },
            Effect::Finish(answer) => Effect::Finish(answer),
            Effect::Report(report) => Effect::Report(report),
        }
    }

    fn call(self, call: CallTool) -> CallTool {
        CallTool { id: self.put(&call.id), ..call }
    }

    /// What happened to an effect of the inner machine, in its own words; none if it concerns somebody else.
    pub(crate) fn inner(self, what: &What) -> Option<What> {
        let effect = self.take(what.effect()?)?;
        let mut what = what.clone();
        if let Some(id) = what.effect_mut() {
            *id = effect;
        }
        Some(what)
    }
}
