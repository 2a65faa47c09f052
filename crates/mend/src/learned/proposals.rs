//! Proposals: the rules that many lessons have in common, judged by all of them.

use std::collections::BTreeMap;

use reknit_protocol::{Object, Value};

use super::candidates::candidate_rules;
use super::rule_book::MAX_PLACES;
use super::{ErrorPattern, LearnedRule, Lesson, RuleEvidence, RuleValue};

impl LearnedRule {
    /// What the rule would have done to earlier calls, with all their places. It does nothing to calls that it is not about.
    pub fn evaluate<'a>(&self, lessons: impl IntoIterator<Item = &'a Lesson>) -> RuleEvidence {
        let mut evidence = RuleEvidence::default();
        for lesson in lessons {
            let Some(fix) = self.apply(&lesson.call) else { continue };
            if fix.parameters != lesson.corrected {
                evidence.harms.push(lesson.place.clone());
                continue;
            }
            evidence.helps.push(lesson.place.clone());
            evidence.model_calls += lesson.model_calls;
            if self.is_confirmed_by(lesson) {
                evidence.confirmations.push(lesson.place.clone());
            }
        }
        evidence
    }

    /// The rule with the evidence of earlier calls, at most `MAX_PLACES` places of each kind. What retired the rule stays.
    #[must_use]
    pub fn with_evidence(self, mut found: RuleEvidence) -> Self {
        for places in [&mut found.helps, &mut found.harms, &mut found.confirmations] {
            places.truncate(MAX_PLACES);
        }
        let RuleEvidence { rejections, retired, .. } = self.evidence;
        Self { evidence: RuleEvidence { rejections, retired, ..found }, ..self }
    }
}

/// What lessons of one kind have in common: capability, error, and which parameters were changed, added and removed.
type LessonKind = (String, Option<u16>, String, String, Vec<String>, Vec<String>, Vec<String>);

/// The rules that lessons suggest. Only corrections by models suggest rules; all lessons judge them. A rule that would have
/// harmed one of them is not proposed.
pub fn propose_rules(lessons: &[Lesson]) -> Vec<LearnedRule> {
    let mut kinds: BTreeMap<LessonKind, Vec<&Lesson>> = BTreeMap::new();
    for lesson in lessons.iter().filter(|lesson| lesson.is_by_model()) {
        kinds.entry(kind_of(lesson)).or_default().push(lesson);
    }
    kinds.values().flat_map(|group| rules_of_kind(group, lessons)).collect()
}

fn kind_of(lesson: &Lesson) -> LessonKind {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let (changed, removed) = (lesson.changed(), lesson.removed());
    let error = ErrorPattern::of(&lesson.call, &[changed.as_slice(), removed.as_slice()].concat());
    let absent = changed.iter().filter(|name| !lesson.call.parameters.contains_key(name)).copied().collect();
    let capability = lesson.call.capability.clone();
    (capability, error.status, error.code, error.message, owned(changed), owned(absent), owned(removed))
}

/// The rules for lessons of one kind: the one that explains the most of them, then the one that explains the most of the rest.
fn rules_of_kind(group: &[&Lesson], all: &[Lesson]) -> Vec<LearnedRule> {
    let mut candidates: Vec<LearnedRule> = Vec::new();
    for lesson in group {
        for rule in candidate_rules(lesson) {
            match candidates.iter_mut().find(|known| merges(known, &rule)) {
                Some(known) => merge_maps(known, &rule),
                None => candidates.push(rule),
            }
        }
    }
    let judged = candidates.into_iter().map(|rule| {
        let rule = without_harmful_entries(rule, all).with_computed_id();
        let evidence = rule.evaluate(all);
        (rule, evidence)
    });
    let mut harmless: Vec<(LearnedRule, RuleEvidence)> =
        judged.filter(|(_, found)| found.harms.is_empty() && !found.helps.is_empty()).collect();
    // A map states a value for each entry, so it explains only the lessons beyond them. The sort is stable: of two rules that
    // explain the same, the more likely one comes first.
    harmless.sort_by_key(|(rule, found)| std::cmp::Reverse(found.helps.len().saturating_sub(stated_values(rule))));
    let mut chosen: Vec<(LearnedRule, RuleEvidence)> = Vec::new();
    for (rule, found) in harmless {
        let is_explained = |place: &String| chosen.iter().any(|(_, known)| known.helps.contains(place));
        if !found.helps.iter().all(is_explained) {
            chosen.push((rule, found));
        }
    }
    chosen.into_iter().map(|(rule, found)| rule.with_evidence(found)).collect()
}

/// The rule without the entries of its maps for which other values were right.
fn without_harmful_entries(mut rule: LearnedRule, all: &[Lesson]) -> LearnedRule {
    for lesson in all {
        let harms = rule.apply(&lesson.call).is_some_and(|fix| fix.parameters != lesson.corrected);
        for (name, value) in rule.change.iter_mut().filter(|_| harms) {
            let sent = lesson.call.parameters.get(name).and_then(Value::as_str);
            if let (Some(map), Some(sent)) = (&mut value.map, sent) {
                map.remove(sent);
            }
        }
    }
    rule
}

/// How many values a rule learned by heart: one of an expression, and each of a map.
fn stated_values(rule: &LearnedRule) -> usize {
    rule.change.values().map(|value| value.map.as_ref().map_or(1, Object::len)).max().unwrap_or(1)
}

/// Whether two rules differ only in the entries of their maps, and no entry contradicts another.
fn merges(known: &LearnedRule, other: &LearnedRule) -> bool {
    let agree = |(one, other): (&RuleValue, &RuleValue)| {
        let maps_agree = match (&one.map, &other.map) {
            (Some(map), Some(others)) => others.iter().all(|(from, to)| map.get(from).is_none_or(|known| known == to)),
            (one, other) => one == other,
        };
        one.of == other.of && maps_agree
    };
    known.error == other.error
        && known.results == other.results
        && known.change.keys().eq(other.change.keys())
        && known.change.values().zip(other.change.values()).all(agree)
}

fn merge_maps(known: &mut LearnedRule, other: &LearnedRule) {
    for (value, others) in known.change.values_mut().zip(other.change.values()) {
        if let (Some(map), Some(others)) = (&mut value.map, &others.map) {
            for (from, to) in others {
                map.insert(from, to.clone());
            }
        }
    }
}
