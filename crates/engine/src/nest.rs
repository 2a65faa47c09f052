//! Nested machines: their effects under the ids of the enclosing machine, and outcomes back under their own.

use std::sync::Arc;

use reknit_protocol::{EffectId, ScopeLevel};

use crate::effect::Effect;
use crate::event::EventKind;

/// Prefixes the ids of a nested machine's effect with `scope`, so that the enclosing machine can request it.
pub(crate) fn effect_in_scope(scope: &[ScopeLevel], mut effect: Effect) -> Effect {
    let nest = |id: &mut EffectId| *id = id.clone().nested_in(scope);
    match &mut effect {
        Effect::AskModel(ask) => nest(&mut ask.id),
        Effect::CountTokens(count) => nest(&mut count.id),
        Effect::CallTool(call) => nest(&mut Arc::make_mut(call).id),
        Effect::Sleep { id, .. } | Effect::Abort { effect: id, .. } => nest(id),
        Effect::AskPerson(ask) => {
            let ask = Arc::make_mut(ask);
            if let Some(call) = ask.question.call_mut() {
                nest(&mut call.id);
            }
            nest(&mut ask.id);
        }
        Effect::Finish(_) | Effect::Report(_) => {}
    }
    effect
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
