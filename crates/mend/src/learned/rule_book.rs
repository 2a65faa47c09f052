//! All rules that are known, and how they change: learned, accepted, retired.

use std::collections::BTreeSet;

use reknit_protocol::SideEffect;

use super::candidates::candidate_rules;
use super::{AcceptedBy, LearnedRule, Lesson, RuleEvidence, RuleState};

/// The most rules that runs propose. Nobody reviews more of them.
const MAX_PROPOSALS: usize = 500;

/// The most places that the evidence of a rule lists.
pub(super) const MAX_PLACES: usize = 50;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuleBook {
    /// The rules, in the order of the file.
    pub rules: Vec<LearnedRule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookChange {
    /// A run proposed it.
    Proposed(String),
    /// It has one more piece of evidence.
    Judged(String),
    /// Enough calls confirmed it.
    Accepted(String),
    /// It is no longer used.
    Retired(String),
}

impl RuleBook {
    /// The rules that runs use, without their evidence.
    pub fn for_runs(&self) -> Vec<LearnedRule> {
        let used = self.rules.iter().filter(|rule| rule.state == RuleState::Accepted);
        used.map(LearnedRule::for_runs).collect()
    }

    pub fn get(&self, id: &str) -> Option<&LearnedRule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// A person accepts a rule, which replaces a known one with the same id. Rejections until now do not retire it again.
    pub fn accept(&mut self, rule: &LearnedRule) {
        let known = self.get(&rule.id).map_or(&rule.evidence, |known| &known.evidence);
        let evidence = RuleEvidence { retired: None, rejections: known.rejections.clone(), ..rule.evidence.clone() };
        let accepted =
            LearnedRule { state: RuleState::Accepted, accepted_by: Some(AcceptedBy::Person), evidence, ..rule.clone() };
        self.put(accepted);
    }

    /// A rule is used no longer, and not proposed again. Returns whether it was used or proposed before.
    pub fn retire(&mut self, rule: &LearnedRule, reason: &str) -> bool {
        let is_new = self.get(&rule.id).is_none_or(|known| known.state != RuleState::Retired);
        if is_new {
            let evidence = RuleEvidence { retired: Some(reason.to_owned()), ..rule.evidence.clone() };
            self.put(LearnedRule { state: RuleState::Retired, evidence, ..rule.clone() });
        }
        is_new
    }

    /// A tool rejected in a run what a rule sent. Retires the rule, unless this rejection was known when somebody accepted it again,
    /// or the rule has been corrected since.
    pub fn reject(&mut self, rule: &LearnedRule, run: &str, error: &str) -> Option<BookChange> {
        let known = self.rules.iter_mut().find(|known| known.id == rule.id && known.has_same_content(rule))?;
        let rejections = &mut known.evidence.rejections;
        if rejections.iter().any(|rejection| rejection == run) {
            return None;
        }
        rejections.push(run.to_owned());
        rejections.drain(..rejections.len().saturating_sub(MAX_PLACES));
        if known.state != RuleState::Accepted {
            return Some(BookChange::Judged(known.id.clone()));
        }
        known.state = RuleState::Retired;
        known.evidence.retired = Some(format!("rejected in run {run}: {error}"));
        Some(BookChange::Retired(known.id.clone()))
    }

    /// Adds a rule, or replaces the one with the same id.
    pub fn put(&mut self, rule: LearnedRule) {
        match self.rules.iter_mut().find(|known| known.id == rule.id) {
            Some(known) => *known = rule,
            None => self.rules.push(rule),
        }
    }

    /// Judges the known rules by a lesson, and proposes a rule if none of them explains it. A proposal for a capability that
    /// only reads accepts itself after confirmations from this many runs, if nothing speaks against it; 0 is never.
    pub fn learn(&mut self, lesson: &Lesson, accept_reads_after: u32) -> Vec<BookChange> {
        let mut changes = Vec::new();
        let mut is_explained = false;
        for rule in &mut self.rules {
            let Some(fix) = rule.apply(&lesson.call) else { continue };
            is_explained |= fix.parameters == lesson.corrected;
            changes.extend(rule.judge(lesson, fix.parameters == lesson.corrected, accept_reads_after));
        }
        let proposals = self.rules.iter().filter(|rule| rule.state == RuleState::Proposed).count();
        if !is_explained && lesson.is_by_model() && proposals < MAX_PROPOSALS {
            let new = candidate_rules(lesson).into_iter().find(|rule| self.get(&rule.id).is_none());
            if let Some(mut rule) = new {
                changes.push(BookChange::Proposed(rule.id.clone()));
                changes.extend(rule.judge(lesson, true, accept_reads_after));
                self.rules.push(rule);
            }
        }
        changes
    }
}

impl LearnedRule {
    /// Adds a lesson to the evidence, and draws the conclusion from it.
    fn judge(&mut self, lesson: &Lesson, is_same: bool, accept_reads_after: u32) -> Option<BookChange> {
        let place = &lesson.place;
        if self.state == RuleState::Retired
            || self.evidence.helps.contains(place)
            || self.evidence.harms.contains(place)
        {
            return None;
        }
        let list = |places: &mut Vec<String>| {
            if places.len() < MAX_PLACES {
                places.push(place.clone());
            }
        };
        if !is_same {
            list(&mut self.evidence.harms);
            if self.accepted_by == Some(AcceptedBy::Confirmations) && self.state == RuleState::Accepted {
                self.state = RuleState::Retired;
                self.evidence.retired = Some(format!("{place} was corrected in another way"));
                return Some(BookChange::Retired(self.id.clone()));
            }
            return Some(BookChange::Judged(self.id.clone()));
        }
        let confirms = self.is_confirmed_by(lesson)
            && !self.evidence.confirmations.iter().any(|known| run_of(known) == run_of(place));
        let is_listed = self.evidence.helps.len() < MAX_PLACES;
        // A place that is not listed could count twice. A run that confirms the rule is listed all the same: one run with many items must
        // not keep later ones from confirming it.
        if !is_listed && !confirms {
            return None;
        }
        if is_listed {
            self.evidence.helps.push(place.clone());
            self.evidence.model_calls += lesson.model_calls;
        }
        if confirms {
            list(&mut self.evidence.confirmations);
        }
        let runs: BTreeSet<&str> = self.evidence.confirmations.iter().map(|place| run_of(place)).collect();
        let is_enough = accept_reads_after > 0 && runs.len() >= accept_reads_after as usize;
        let accepts_itself = self.state == RuleState::Proposed
            && lesson.side_effect == SideEffect::Read
            && self.evidence.harms.is_empty()
            && is_enough;
        if accepts_itself {
            (self.state, self.accepted_by) = (RuleState::Accepted, Some(AcceptedBy::Confirmations));
            return Some(BookChange::Accepted(self.id.clone()));
        }
        Some(BookChange::Judged(self.id.clone()))
    }
}

/// The run of a place. Ids of runs have no `/`.
fn run_of(place: &str) -> &str {
    place.split_once('/').map_or(place, |(run, _)| run)
}
