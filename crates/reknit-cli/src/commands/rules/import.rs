//! Which rules of another file are new, and under which ids.

use reknit_mend::{LearnedRule, RuleBook, RuleEvidence, RuleState};

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
