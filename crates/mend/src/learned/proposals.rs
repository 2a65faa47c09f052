//! Proposals: the rules that many lessons have in common, judged by all of them.

use std::collections::BTreeMap;

use reknit_protocol::{Object, Value};

use super::candidates::candidate_rules;
use super::{ErrorPattern, LearnedRule, Lesson, RuleEvidence, RuleValue};

/// The most places that evidence lists.
const MAX_LISTED: usize = 50;

/// What a rule would have done to earlier calls, each as its place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdicts {
    /// It would have made the correction that succeeded.
    pub helps: Vec<String>,
    /// It would have sent other values than those that succeeded.
    pub harms: Vec<String>,
    /// Those of `helps` whose values are supported by more than the word of a model.
    pub confirmations: Vec<String>,
    /// How many model calls the corrections in `helps` needed.
    pub model_calls: u32,
}

impl LearnedRule {
    /// What the rule would have done to earlier calls. It does nothing to calls that it is not about.
    pub fn evaluate<'a>(&self, lessons: impl IntoIterator<Item = &'a Lesson>) -> Verdicts {
        let mut verdicts = Verdicts::default();
        for lesson in lessons {
            let Some(fix) = self.apply(&lesson.call) else { continue };
            if fix.parameters != lesson.corrected {
                verdicts.harms.push(lesson.place.clone());
                continue;
            }
            verdicts.helps.push(lesson.place.clone());
            verdicts.model_calls += lesson.model_calls;
            if self.is_confirmed_by(lesson) {
                verdicts.confirmations.push(lesson.place.clone());
            }
        }
        verdicts
    }

    /// The rule with evidence.
    #[must_use]
    pub fn with_evidence(self, verdicts: &Verdicts) -> Self {
        let listed = |places: &[String]| places.iter().take(MAX_LISTED).cloned().collect();
        let evidence = RuleEvidence {
            helps: listed(&verdicts.helps),
            harms: listed(&verdicts.harms),
            confirmations: listed(&verdicts.confirmations),
            model_calls: verdicts.model_calls,
            rejections: self.evidence.rejections.clone(),
            retired: self.evidence.retired.clone(),
        };
        Self { evidence, ..self }
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
    let mut proposals: Vec<LearnedRule> = Vec::new();
    for group in kinds.values() {
        proposals.extend(rules_of_kind(group, lessons));
    }
    proposals
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
        let verdicts = rule.evaluate(all);
        (rule, verdicts)
    });
    let mut harmless: Vec<(LearnedRule, Verdicts)> =
        judged.filter(|(_, verdicts)| verdicts.harms.is_empty() && !verdicts.helps.is_empty()).collect();
    // A map states a value for each entry, so it explains only the lessons beyond them. The sort is stable: of two rules that
    // explain the same, the more likely one comes first.
    harmless
        .sort_by_key(|(rule, verdicts)| std::cmp::Reverse(verdicts.helps.len().saturating_sub(stated_values(rule))));
    let mut chosen: Vec<(LearnedRule, Verdicts)> = Vec::new();
    for (rule, verdicts) in harmless {
        let is_explained = |place: &String| chosen.iter().any(|(_, known)| known.helps.contains(place));
        if !verdicts.helps.iter().all(is_explained) {
            chosen.push((rule, verdicts));
        }
    }
    chosen.into_iter().map(|(rule, verdicts)| rule.with_evidence(&verdicts)).collect()
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

/// Whether two rules are the same but for the entries of their maps, and no entry contradicts another.
fn merges(known: &LearnedRule, other: &LearnedRule) -> bool {
    let agree = |(one, other): (&RuleValue, &RuleValue)| match (&one.map, &other.map) {
        (None, None) => one.of == other.of,
        (Some(map), Some(others)) => {
            one.of == other.of && others.iter().all(|(from, to)| map.get(from).is_none_or(|known| known == to))
        }
        _ => false,
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
