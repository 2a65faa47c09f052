//! The one remedy that a failure allows, as a table. The same failure in the same state gives the same remedy.

use reknit_protocol::{SideEffect, TransportKind, human_duration};

use crate::fault::{CallFault, Fate, FaultOrigin, Verdict};
use crate::policy::{Corrector, IndependentSteps, LadderPolicy, PeoplePolicy};

/// After this many steps failed in the same way no model is asked about the next one: it would see the same error again.
const MAX_SIMILAR_FAILURES: u32 = 3;

/// Why a step ends whose tool rules out a retry.
const NO_OTHER_CALL: &str = "the tool says that no other call will work";

/// What the choice of a remedy depends on beside the failure: the repairs that the step has used, and earlier failures.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent observation, and none selects a mode")]
pub struct RepairState {
    pub resends: u32,
    /// How often a model was shown the error.
    pub feedback: u32,
    /// How often a model was shown the error with the request and the results.
    pub context: u32,
    /// Whether the step depends on no other step.
    pub independent: bool,
    /// Whether the call before failed in the same way.
    pub repeats_last_failure: bool,
    /// Whether the error says something about the parameters that were sent.
    pub about_input: bool,
    /// Whether a call of the step may have changed something already. Such a call is not corrected.
    pub may_have_happened: bool,
    pub changes_need_approval: bool,
    /// Whether a model that looked at an error said that the same call can work later.
    pub said_transient: bool,
    /// How many other steps failed in the same way although a model was asked about them.
    pub similar_failures: u32,
    pub resend_rule: ResendRule,
}

/// Whether a call may be sent again unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResendRule {
    #[default]
    Allowed,
    /// Only with a person's approval: the call must not take effect twice, and an earlier one may have taken effect. An
    /// approval counts for one call.
    NeedsApproval,
}

/// What to do about a failure.
#[derive(Debug, Clone, PartialEq)]
pub enum Remedy {
    Resend {
        /// The shortest wait before it.
        min_wait_ms: u64,
    },
    /// Show a model the error.
    Feedback,
    /// Show a model the error, the request and the results.
    Context,
    /// Ask a person whether to send it again.
    AskPerson,
    GiveUp(String),
}

/// Chooses the remedy for a verdict. `None` for a success.
pub fn choose_remedy(
    verdict: &Verdict,
    class: SideEffect,
    state: RepairState,
    policy: LadderPolicy<'_>,
) -> Option<Remedy> {
    Some(match verdict {
        Verdict::Success(_) => return None,
        // The answer reports an error with the status of a success: only a person can find out what happened.
        Verdict::Permanent(fault)
            if class.needs_approval_to_resend()
                && fault.fate == Fate::Unknown
                && matches!(fault.status(), Some(200..=299)) =>
        {
            ask_person(policy)
        }
        Verdict::Permanent(fault) => Remedy::GiveUp(permanent_reason(fault)),
        Verdict::Transient(fault) => for_transient(fault, class, state, policy),
        Verdict::Correctable(fault) => for_correctable(fault, state, policy),
    })
}

fn permanent_reason(fault: &CallFault) -> String {
    let is_unauthorized = fault.category.as_deref() == Some("AUTH_ERROR");
    let reason = match fault.status() {
        _ if fault.is_failed_session() => "its session has ended, and is not started again",
        _ if fault.is_unfinished_job() => "the job may still end, so the call is not sent again",
        Some(200..=299) if fault.fate == Fate::Unknown => {
            "the answer reports an error although its status is a success; the call may have taken effect, so it is not \
             sent again"
        }
        Some(300..=399) => "the tool answered with a redirect, and redirects are not followed",
        Some(405) => "the tool does not accept calls at this address",
        status if matches!(status, Some(401 | 403 | 407)) || is_unauthorized => {
            "the tool denied access; no other parameters can change that"
        }
        None if fault.origin == FaultOrigin::Transport(TransportKind::TooLarge) => {
            "the answer is too large, and another call would return the same one"
        }
        _ => "the tool cannot be called, and other parameters do not change that",
    };
    reason.to_owned()
}

fn for_transient(fault: &CallFault, class: SideEffect, state: RepairState, policy: LadderPolicy<'_>) -> Remedy {
    if fault.fate == Fate::Unknown && class.needs_approval_to_resend() {
        return ask_person(policy);
    }
    if fault.origin == FaultOrigin::Status(503) && may_reject_input(fault, state) && feedback_is_left(state, policy) {
        return Remedy::Feedback;
    }
    resend_or_give_up(fault, state, policy)
}

/// Whether a service that calls itself unavailable may be rejecting the input: its error mentions the input, or the tool
/// itself reports the error and a resend did not help or is ruled out.
fn may_reject_input(fault: &CallFault, state: RepairState) -> bool {
    let resend_is_no_help = state.repeats_last_failure || state.resends > 0 || fault.rules_out_retry();
    let is_judged = state.said_transient && state.repeats_last_failure;
    (state.about_input || (fault.is_structured() && resend_is_no_help)) && !is_judged
}

/// Whether a model may be shown the error. It is not asked if its answer could not be used.
fn feedback_is_left(state: RepairState, policy: LadderPolicy<'_>) -> bool {
    state.feedback < policy.mending.feedback
        && state.similar_failures < MAX_SIMILAR_FAILURES
        && !state.may_have_happened
        && !approval_is_impossible(state, policy)
}

/// Whether no change can be sent, because it needs an approval that nobody can give.
fn approval_is_impossible(state: RepairState, policy: LadderPolicy<'_>) -> bool {
    state.changes_need_approval && policy.people == PeoplePolicy::Nobody
}

fn ask_person(policy: LadderPolicy<'_>) -> Remedy {
    match policy.people {
        PeoplePolicy::Ask => Remedy::AskPerson,
        PeoplePolicy::Nobody => Remedy::GiveUp(
            "the call may have taken effect, must not take effect twice, and no person can be asked for approval"
                .to_owned(),
        ),
    }
}

/// Sends the same call again, unless its resends are used up, the tool rules it out, or the tool asks for a longer wait than
/// allowed.
pub fn resend_or_give_up(fault: &CallFault, state: RepairState, policy: LadderPolicy<'_>) -> Remedy {
    if state.resend_rule == ResendRule::NeedsApproval {
        return ask_person(policy);
    }
    if fault.rules_out_retry() && !state.said_transient {
        return Remedy::GiveUp(NO_OTHER_CALL.to_owned());
    }
    if state.resends >= policy.resend.times {
        return Remedy::GiveUp(match state.resends {
            0 => "the call is not sent again (`times` in `[resend]` is 0)".to_owned(),
            1 => "the call still fails after it was sent again once".to_owned(),
            resends => format!("the call still fails after it was sent again {resends} times"),
        });
    }
    match fault.wait_ms {
        Some(wait) if wait > policy.resend.max_retry_after_ms => Remedy::GiveUp(format!(
            "the tool asks for a wait of {}; the longest allowed is {} (`longest-retry-after` in `[resend]`)",
            human_duration(wait),
            human_duration(policy.resend.max_retry_after_ms)
        )),
        wait => Remedy::Resend { min_wait_ms: wait.unwrap_or(0) },
    }
}

fn for_correctable(fault: &CallFault, state: RepairState, policy: LadderPolicy<'_>) -> Remedy {
    // A tool that could not decode the call cannot know whether another one will work.
    if fault.rules_out_retry() && !fault.is_type_error() {
        return Remedy::GiveUp(NO_OTHER_CALL.to_owned());
    }
    // A call that could not be bound has no error from a tool to show: only the results can have the missing value.
    if fault.origin != FaultOrigin::Local && feedback_is_left(state, policy) {
        return Remedy::Feedback;
    }
    context_or_give_up(fault, state, policy)
}

/// What the model of an agent is told about a call that it can correct itself.
pub const CALL_AGAIN: &str = "the call can be made again with corrected arguments";

/// The context rung, the last one before giving up, if policy and state allow it.
pub fn context_or_give_up(fault: &CallFault, state: RepairState, policy: LadderPolicy<'_>) -> Remedy {
    let mending = policy.mending;
    let is_listed = fault.policy_status().is_some_and(|status| mending.context_statuses.contains(&status));
    let refusal = if state.may_have_happened {
        "the call may have happened, so it is not changed"
    } else if approval_is_impossible(state, policy) {
        "a change of this call needs approval, and no person can be asked for approval"
    } else if !is_listed {
        "a model is not asked about this kind of failure (`context-statuses` in `[mending]`)"
    } else if state.independent && mending.independent_steps == IndependentSteps::Denied {
        "the step depends on no other step, so there are no results that could help"
    } else if state.similar_failures >= MAX_SIMILAR_FAILURES {
        "other steps failed in the same way, and asking a model did not help them"
    } else if mending.context == 0 && mending.feedback == 0 && mending.corrector == Corrector::Agent {
        CALL_AGAIN
    } else if mending.context == 0 && mending.feedback == 0 {
        "no model may correct it (`[mending]` turns off `feedback` and `context`)"
    } else if mending.context == 0 {
        "no model may look for the value in the results (`[mending]` turns off `context`)"
    } else if state.context >= mending.context {
        "every repair was tried"
    } else {
        return Remedy::Context;
    };
    Remedy::GiveUp(refusal.to_owned())
}
