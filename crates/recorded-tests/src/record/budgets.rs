//! What a recorded conversation may cost.
//!
//! The budget of an owner leaves another limit for each message of a session. Nobody owns the session of a test, so it gets one limit for
//! all of its messages.

use reknit_engine::{EventKind, Machine, Policy, Status};
use reknit_model_api::Money;

/// What the budget of the owner left for each message.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    left: Vec<Option<Money>>,
    has_messages: bool,
    was_reached: bool,
}

impl Budgets {
    /// Notes an event of the recorded session, before it is applied. `None` is the start.
    pub(super) fn add(&mut self, machine: &Machine, event: Option<&EventKind>) {
        match event {
            None => self.left.push(machine.policy().limits.budget),
            Some(EventKind::BudgetChanged { budget }) => self.left.push(*budget),
            Some(EventKind::FollowedUp { .. }) => {
                self.has_messages = true;
                self.add_ending(machine);
            }
            Some(_) => {}
        }
    }

    /// Notes how a message has ended.
    pub(super) fn add_ending(&mut self, machine: &Machine) {
        self.was_reached |= machine.ending().is_some_and(|ending| ending.status() == Status::BudgetExhausted);
    }

    /// Whether the limit of one message must be reached in the test, and that of another one must not.
    pub(super) fn contradict(&self) -> bool {
        self.has_messages && self.was_reached && self.left.windows(2).any(|pair| matches!(pair, [a, b] if a != b))
    }

    /// The policy with the limit of all messages: the largest, for none but an equal one was reached.
    pub(super) fn limit(&self, policy: &Policy) -> Policy {
        let mut policy = policy.clone();
        if self.has_messages {
            let largest = if self.left.contains(&None) { None } else { self.left.iter().copied().flatten().max() };
            let limits = [policy.limits.money, largest];
            policy.limits.money = limits.into_iter().flatten().min();
            policy.limits.budget = None;
        }
        policy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn euros(euros: u64) -> Money {
        Money::from_nanos(euros * 1_000_000_000)
    }

    fn budgets(left: &[Option<Money>]) -> Budgets {
        Budgets { left: left.to_vec(), has_messages: true, was_reached: false }
    }

    fn policy(money: Option<Money>, budget: Option<Money>) -> Policy {
        let mut policy = Policy::default();
        (policy.limits.money, policy.limits.budget) = (money, budget);
        policy
    }

    #[test]
    fn what_a_budget_leaves_for_a_conversation_is_a_limit_of_its_test() {
        let limited = budgets(&[Some(euros(5)), Some(euros(4))]).limit(&policy(None, Some(euros(5))));
        assert_eq!((limited.limits.money, limited.limits.budget), (Some(euros(5)), None));
        let limited = budgets(&[Some(euros(5))]).limit(&policy(Some(euros(2)), Some(euros(5))));
        assert_eq!(limited.limits.money, Some(euros(2)), "the limit of the policy is smaller");
        let limited = budgets(&[Some(euros(5)), None]).limit(&policy(None, Some(euros(5))));
        assert_eq!(limited.limits.money, None, "somebody without a budget went on");
    }

    #[test]
    fn a_session_without_further_messages_keeps_its_budget() {
        let single = Budgets { has_messages: false, ..budgets(&[Some(euros(5))]) };
        assert_eq!(single.limit(&policy(None, Some(euros(5)))), policy(None, Some(euros(5))));
    }

    #[test]
    fn a_budget_that_was_used_up_must_be_the_same_for_all_messages() {
        let reached = |left: &[Option<Money>]| Budgets { was_reached: true, ..budgets(left) };
        assert!(reached(&[Some(euros(5)), Some(euros(4))]).contradict());
        assert!(!reached(&[Some(euros(5)), Some(euros(5))]).contradict());
        assert!(!budgets(&[Some(euros(5)), Some(euros(4))]).contradict(), "no limit was reached");
    }
}
