//! The one remedy a failure allows, as a table. Pure: the same failure in the same state gives the same remedy.

use reknit_protocol::SideEffect;

use crate::fault::{Fate, Fault, Origin, Verdict};
use crate::policy::{IndependentSteps, LadderPolicy, People};
use reknit_protocol::TransportKind;
use reknit_protocol::human_duration;

/// So many steps may fail in the same way before no model is asked about the next one: it would see what others saw.
const FRUITLESS: u32 = 3;

/// What one step has used up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Used {
    pub resends: u32,
    pub feedback: u32,
    pub context: u32,
    /// Whether the step needs no other.
    pub independent: bool,
    /// Whether the call before failed in the same way.
    pub same_again: bool,
    /// Whether the error says something about what was sent.
    pub about_input: bool,
    /// How many others failed in the same way although models were asked.
    pub fruitless: u32,
    /// Whether the same call may be sent again.
    pub again: Again,
}

/// Whether a call may be sent again as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Again {
    #[default]
    Freely,
    /// It must not happen twice, and an earlier call may have happened. The word that a person gave since was for one call.
    WithAWord,
}

/// What is done about a failure.
#[derive(Debug, Clone, PartialEq)]
pub enum Remedy {
    /// Send the same again, after at least this wait.
    SendAgain { floor_ms: u64 },
    /// Show a model the error.
    Feedback,
    /// Show a model all that is known.
    Context,
    /// Ask a person whether to send it again.
    AskPerson,
    /// End the step.
    GiveUp(String),
}

/// Chooses the remedy. A success needs none.
pub fn remedy(verdict: &Verdict, class: SideEffect, used: Used, policy: LadderPolicy<'_>) -> Option<Remedy> {
    Some(match verdict {
        Verdict::Success(_) => return None,
        Verdict::Stop(fault) => Remedy::GiveUp(stop_reason(fault)),
        Verdict::SendAgain(fault) => send_again(fault, class, used, policy),
        Verdict::Mend(fault) => mend(fault, used, policy),
    })
}

fn stop_reason(fault: &Fault) -> String {
    match fault.status() {
        Some(300..=399) => "the tool has moved, and calls are not sent on to another place".to_owned(),
        Some(401 | 403) => "the tool does not let us in; no other parameters can change that".to_owned(),
        Some(405) => "the tool does not take calls there".to_owned(),
        None if fault.origin == Origin::Transport(TransportKind::TooLarge) => {
            "the same answer would come again".to_owned()
        }
        _ if fault.category.as_deref() == Some("AUTH_ERROR") => {
            "the tool does not let us in; no other parameters can change that".to_owned()
        }
        _ => "nothing can be done about it".to_owned(),
    }
}

fn send_again(fault: &Fault, class: SideEffect, used: Used, policy: LadderPolicy<'_>) -> Remedy {
    if fault.fate == Fate::Unknown && class == SideEffect::Unsafe {
        return ask_person(policy);
    }
    // A service that speaks of the input, or words its trouble twice in the same way, may be telling us about the input.
    if fault.origin == Origin::Status(503)
        && (used.about_input || (fault.is_structured() && used.same_again))
        && used.feedback < policy.mending.feedback
        && used.fruitless < FRUITLESS
    {
        return Remedy::Feedback;
    }
    resend(fault, used, policy)
}

fn ask_person(policy: LadderPolicy<'_>) -> Remedy {
    match policy.people {
        People::Ask => Remedy::AskPerson,
        People::Nobody => {
            Remedy::GiveUp("it may have happened, it must not happen twice, and nobody can be asked".to_owned())
        }
    }
}

/// The same call again, as long as the budget for that lasts and the tool does not ask for too much patience.
pub fn resend(fault: &Fault, used: Used, policy: LadderPolicy<'_>) -> Remedy {
    if used.again == Again::WithAWord {
        return ask_person(policy);
    }
    if used.resends >= policy.resend.times {
        return Remedy::GiveUp(format!("it failed the same call {} times", used.resends + 1));
    }
    match fault.wait_ms {
        Some(wait) if wait > policy.resend.ceiling_ms => Remedy::GiveUp(format!(
            "the tool asks for a wait of {}; the longest allowed is {} (`ceiling` in `[resend]`)",
            human_duration(wait),
            human_duration(policy.resend.ceiling_ms)
        )),
        wait => Remedy::SendAgain { floor_ms: wait.unwrap_or(0) },
    }
}

fn mend(fault: &Fault, used: Used, policy: LadderPolicy<'_>) -> Remedy {
    if fault.retryable == Some(false) {
        return Remedy::GiveUp("the tool says that no other try will work".to_owned());
    }
    // What could not be bound is in no error text: only the results can have it.
    if fault.origin != Origin::Local && used.feedback < policy.mending.feedback && used.fruitless < FRUITLESS {
        return Remedy::Feedback;
    }
    last_rung(fault, used, policy)
}

/// The last rung before giving up.
pub fn last_rung(fault: &Fault, used: Used, policy: LadderPolicy<'_>) -> Remedy {
    let allowed = fault.listed_status().is_some_and(|status| policy.mending.context_statuses.contains(&status));
    if !allowed {
        return Remedy::GiveUp("what is known cannot help with this kind of failure".to_owned());
    }
    if used.independent && policy.mending.independent_steps == IndependentSteps::Left {
        return Remedy::GiveUp("it needs no other step, so nothing else is known".to_owned());
    }
    if used.fruitless >= FRUITLESS {
        return Remedy::GiveUp(
            "others failed in the same way, and asking models about them brought nothing".to_owned(),
        );
    }
    if used.context >= policy.mending.context {
        return Remedy::GiveUp("every way to mend it was tried".to_owned());
    }
    Remedy::Context
}
