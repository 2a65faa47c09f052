//! The rules that there are: in the journal, in the file, and what the runs in the journal propose.

use reknit_journal::Journal;
use reknit_mend::{LearnedRule, RuleBook, RuleEvidence, RuleState};
use reknit_runtime::{KeptLessons, RuleReview, RuleReviewError, RuleStore, RuleStoreError};

use super::RuleSources;
use super::listed::ListedRule;
use crate::output::{Failure, count, print_message};
use crate::setup::{find_all_by_id, find_by_id, open_journal, read_config};

/// Everything that is known about rules.
pub(super) struct KnownRules {
    pub(super) journal: Journal,
    store: Option<RuleStore>,
    /// The rules about rejected calls, and the corrections in the journal.
    pub(super) review: RuleReview,
    /// All rules: mappings, then the rules of the file, then proposals; accepted ones first in each.
    pub(super) rules: Vec<ListedRule>,
}

impl KnownRules {
    pub(super) async fn load(sources: &RuleSources) -> Result<Self, Failure> {
        let config = read_config(sources.files.config.as_deref())?;
        let store = config.rules.file.as_deref().map(|path| RuleStore::open(path, 0)).transpose().map_err(unusable)?;
        let journal = open_journal(&sources.files)?;
        let review = RuleReview::load(&journal, store.as_ref(), sources.runs, &KeptLessons::default()).await.map_err(
            |error| match error {
                RuleReviewError::Rules(error) => unusable(error),
                RuleReviewError::Journal(error) => Failure::journal(error),
            },
        )?;
        if review.unread > 0 {
            let runs = count(review.unread, "run");
            print_message(&format!(
                "note: {runs} of the journal cannot be restored by this build and count for nothing\n"
            ));
        }
        let mappings = journal.learned_mappings(u32::MAX).await.map_err(Failure::journal)?;
        let mappings = mappings.into_iter().map(ListedRule::Mapping);
        let rules = mappings.chain(review.rules.iter().cloned().map(ListedRule::Rule)).collect();
        Ok(Self { journal, store, review, rules })
    }

    /// The file for accepted rules.
    pub(super) fn store(&self) -> Result<&RuleStore, Failure> {
        self.store.as_ref().ok_or_else(|| {
            let hint = "write in reknit.toml: [rules] and, in the next line, file = \"reknit-rules.yaml\"";
            Failure::usage("no file for rules is configured", hint)
        })
    }

    /// The rule whose id starts with a name.
    pub(super) fn find(&self, name: &str) -> Result<&ListedRule, Failure> {
        find_by_id(&self.rules, ListedRule::id, name, "rule")
    }

    /// The rules that names stand for, each once. If one of them is unknown, nothing is changed.
    pub(super) fn choose(&self, names: &[String]) -> Result<Vec<&ListedRule>, Failure> {
        find_all_by_id(&self.rules, ListedRule::id, names, "rule")
    }

    /// The rules that names stand for, a mapping as the rule that does the same; without names, the rules about rejected calls
    /// that `is_chosen` says.
    pub(super) fn learned(
        &self,
        names: &[String],
        is_chosen: impl Fn(&LearnedRule) -> bool,
    ) -> Result<Vec<LearnedRule>, Failure> {
        let all = |rule: &&ListedRule| matches!(rule, ListedRule::Rule(rule) if is_chosen(rule));
        let chosen: Vec<&ListedRule> =
            if names.is_empty() { self.rules.iter().filter(all).collect() } else { self.choose(names)? };
        let unreadable = |rule: &ListedRule| {
            let message = format!("the expression of rule `{}` cannot be used for a rule", rule.id());
            Failure::usage(message, "look at it with `reknit rules list`")
        };
        chosen.into_iter().map(|rule| rule.as_rule().ok_or_else(|| unreadable(rule))).collect()
    }
}

/// The file with rules cannot be used.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the value")]
pub(super) fn unusable(error: RuleStoreError) -> Failure {
    let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    Failure::usage(format!("{error}: {source}"), "correct the file, or name another one with `rules.file`")
}

/// The rules of a file that are not known, as proposals, each with the id that the file has for it. The id of an imported rule
/// follows from what it does, so that nobody accepts under a known id what they have not seen. What another journal says for a rule is no
/// evidence here.
///
/// Fails with the ids under which a known rule does something else.
pub(super) fn new_rules(file: &RuleBook, known: &RuleBook) -> Result<Vec<(String, LearnedRule)>, Vec<String>> {
    let conflicts: Vec<String> = file
        .rules
        .iter()
        .filter(|rule| {
            let ids = [rule.id.clone(), rule.computed_id()];
            ids.iter().any(|id| known.get(id).is_some_and(|known| !known.has_same_content(rule)))
        })
        .map(|rule| format!("`{}`", rule.id))
        .collect();
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    let mut new: Vec<(String, LearnedRule)> = Vec::new();
    for rule in file.rules.iter().filter(|rule| rule.state != RuleState::Retired) {
        let is_known = known.rules.iter().any(|known| known.has_same_content(rule))
            || new.iter().any(|(_, other)| other.has_same_content(rule));
        if !is_known {
            let (state, accepted_by, evidence) = (RuleState::Proposed, None, RuleEvidence::default());
            let proposal = LearnedRule { state, accepted_by, evidence, ..rule.clone() };
            new.push((rule.id.clone(), proposal.with_computed_id()));
        }
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use reknit_engine::read_rule_file;

    use super::*;

    const RULE: &str = "capability: bank/convert, error: {code: NO_RATE}, change: {from: upper(parameters.from)}";
    const OTHER: &str = "capability: bank/convert, error: {code: NO_RATE}, change: {from: lower(parameters.from)}";

    fn book(rules: &[String]) -> RuleBook {
        let items: Vec<String> = rules.iter().map(|rule| format!("  - {{{rule}}}\n")).collect();
        read_rule_file(&format!("rules:\n{}", items.concat())).expect("the rules are right")
    }

    #[test]
    fn a_known_rule_is_not_imported_again_whatever_its_id_is() {
        let known = book(&[format!("id: ours, {RULE}")]);
        for id in ["ours", "theirs"] {
            assert_eq!(new_rules(&book(&[format!("id: {id}, {RULE}")]), &known), Ok(Vec::new()), "{id}");
        }
    }

    #[test]
    fn another_rule_under_a_known_id_is_a_conflict() {
        let known = book(&[format!("id: ours, {RULE}")]);
        assert_eq!(new_rules(&book(&[format!("id: ours, {OTHER}")]), &known), Err(vec!["`ours`".to_owned()]));
    }

    #[test]
    fn an_imported_rule_gets_the_id_of_what_it_does_and_no_evidence() {
        let evidence = "evidence: {confirmations: [a/s, b/s, c/s]}";
        let file = book(&[format!("id: theirs, state: accepted, {RULE}, {evidence}"), format!("id: again, {RULE}")]);
        let new = new_rules(&file, &RuleBook::default()).expect("there is no conflict");
        let [(before, rule)] = new.as_slice() else { panic!("one rule, not {new:?}") };
        assert_eq!((before.as_str(), rule.id.clone()), ("theirs", rule.computed_id()));
        assert_eq!((rule.state, rule.accepted_by, rule.evidence.is_empty()), (RuleState::Proposed, None, true));
    }
}
