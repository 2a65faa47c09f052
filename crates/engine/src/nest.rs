//! Nested machines: their effects under the ids of the enclosing machine, and outcomes back under their own.

use reknit_protocol::{CallTool, ScopeLevel};

use crate::effect::{AskModel, AskPerson, CountTokens, Effect, Question};
use crate::event::EventKind;

/// Prefixes the ids of a nested machine's effect with `scope`, so that the enclosing machine can request it.
pub(crate) fn effect_in_scope(scope: &[ScopeLevel], effect: Effect) -> Effect {
    let call = |call: CallTool| CallTool { id: call.id.nested_in(scope), ..call };
    match effect {
        Effect::AskModel(ask) => Effect::AskModel(AskModel { id: ask.id.nested_in(scope), ..ask }),
        Effect::CountTokens(count) => {
            let CountTokens { id, target, request } = *count;
            Effect::CountTokens(Box::new(CountTokens { id: id.nested_in(scope), target, request }))
        }
        Effect::CallTool(inner) => Effect::CallTool(call(inner)),
        Effect::Sleep { id, until_ms } => Effect::Sleep { id: id.nested_in(scope), until_ms },
        Effect::AskPerson(ask) => Effect::AskPerson(AskPerson {
            id: ask.id.nested_in(scope),
            question: match ask.question {
                Question::SendAgain { call: inner } => Question::SendAgain { call: Box::new(call(*inner)) },
                Question::SendCorrected { call: inner, reason } => {
                    Question::SendCorrected { call: Box::new(call(*inner)), reason }
                }
            },
            ..ask
        }),
        Effect::Abort { effect, grace_ms } => Effect::Abort { effect: effect.nested_in(scope), grace_ms },
        Effect::Finish(answer) => Effect::Finish(answer),
        Effect::Report(report) => Effect::Report(report),
    }
}

/// The outcome of an effect of the machine nested at `scope`, under that machine's own id; `None` if the effect belongs to
/// another machine.
pub(crate) fn event_for_scope(scope: &[ScopeLevel], kind: &EventKind) -> Option<EventKind> {
    let effect = kind.effect()?.within(scope)?;
    let mut kind = kind.clone();
    if let Some(id) = kind.effect_mut() {
        *id = effect;
    }
    Some(kind)
}
