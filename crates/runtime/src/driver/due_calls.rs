//! Claims calls in the commit of the events that make them due, which saves each of them a commit of its own.
//!
//! Only a call that has its permit already is claimed here: nothing is waited for between the commit and the call, so that no more
//! calls are in doubt after a crash than with a commit of their own. Any other call claims itself once it has a permit.

use std::collections::BTreeMap;

use reknit_engine::Effect;
use reknit_journal::{Append, KeyedClaim};
use reknit_protocol::EffectId;

use crate::breakers::Permit;
use crate::effect_executor::EffectExecutor;
use crate::replay::DrivenMachine;

/// Which calls a commit claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claims {
    /// Those that it makes due, if each can be made at once.
    WithEvents,
    /// None, because no call is made after it.
    None,
}

impl Claims {
    /// A driver that has failed makes no more calls.
    pub(super) fn unless_failed<E>(result: &Result<(), E>) -> Self {
        if result.is_ok() { Self::WithEvents } else { Self::None }
    }
}

/// A call that was claimed in the commit that made it due.
#[derive(Debug)]
pub(super) struct ClaimedCall {
    pub(super) permit: Permit,
    pub(super) claim: KeyedClaim,
}

impl ClaimedCall {
    pub(super) fn of(permits: Vec<(EffectId, Permit)>, claims: Vec<KeyedClaim>) -> BTreeMap<EffectId, Self> {
        permits.into_iter().zip(claims).map(|((id, permit), claim)| (id, Self { permit, claim })).collect()
    }
}

/// Adds claims to an append: of the calls that are made after it, have not begun and get a permit now. Returns their permits in the
/// same order.
pub(super) fn claim_due_calls(
    executor: &EffectExecutor,
    state: &DrivenMachine,
    has_begun: impl Fn(&EffectId) -> bool,
    append: &mut Append,
) -> Vec<(EffectId, Permit)> {
    let mut permits = Vec::new();
    for effect in &state.pending {
        if let Effect::CallTool(call) = effect
            && call.needs_claim()
            && !state.machine.is_session_call(call)
            && !has_begun(&call.id)
            && let Some(permit) = executor.breakers.try_acquire_tool(call.tool.as_str())
        {
            append.claims.push(executor.claim_of(call));
            permits.push((call.id.clone(), permit));
        }
    }
    permits
}
