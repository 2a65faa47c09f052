//! The verdict about a run or a session: the best status that it may have, from what became of its steps and calls.
//!
//! The claim of a model can only lower it. No other place says that something is complete or a success.

use crate::answer::Status;

/// Why something is not complete, whatever its author says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    Cancelled,
    /// A limit ended it.
    LimitReached,
    /// No tool can serve the request.
    NoToolFits,
    /// Nothing was done.
    NothingDone,
    /// A step has no result, or an output has no value.
    StepNotDone,
    /// A read was made without a parameter that the request states.
    LostFilter,
    /// A call that changes something failed and was not made good.
    FailedChange,
    /// A call failed, and none succeeded.
    NothingSucceeded,
    /// A call may have taken effect.
    UncertainCall,
    /// No call succeeded, and the report has figures that nothing states.
    InventedFigures,
    /// A plan or an agent that was called did not do all of its work.
    UnfinishedChild,
    /// The report was written before the results of its calls were seen.
    UnseenResults,
    /// The report was kept for the case that no better one follows, and then no model could be asked any more.
    NoModelLeft,
}

impl Fact {
    /// The best status that it allows.
    const fn best_status(self) -> Status {
        match self {
            Self::Cancelled => Status::Cancelled,
            Self::LimitReached => Status::BudgetExhausted,
            Self::NoToolFits => Status::Impossible,
            Self::NothingDone => Status::Failed,
            Self::StepNotDone
            | Self::LostFilter
            | Self::FailedChange
            | Self::NothingSucceeded
            | Self::UncertainCall
            | Self::InventedFigures
            | Self::UnfinishedChild
            | Self::UnseenResults
            | Self::NoModelLeft => Status::Partial,
        }
    }
}

/// The lower one of what is claimed and what the facts allow.
pub(crate) fn verdict(claim: Status, facts: impl IntoIterator<Item = Fact>) -> Status {
    facts
        .into_iter()
        .map(Fact::best_status)
        .fold(claim, |status, best| if rank(best) > rank(status) { best } else { status })
}

/// From the best to the worst. What ends without a result is equally bad, whatever the reason is: the first one counts.
const fn rank(status: Status) -> u8 {
    match status {
        Status::Complete => 0,
        Status::Partial => 1,
        Status::Failed | Status::Impossible | Status::Cancelled | Status::BudgetExhausted => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_lower_a_claim_and_never_raise_it() {
        for (claim, facts, expected) in [
            (Status::Complete, &[][..], Status::Complete),
            (Status::Complete, &[Fact::UncertainCall], Status::Partial),
            (Status::Partial, &[], Status::Partial),
            (Status::Failed, &[Fact::FailedChange, Fact::UnfinishedChild], Status::Failed),
            (Status::Partial, &[Fact::StepNotDone, Fact::LimitReached], Status::BudgetExhausted),
        ] {
            assert_eq!(verdict(claim, facts.iter().copied()), expected, "{claim:?} {facts:?}");
        }
    }
}
