//! A rule with what speaks for and against it, and what it saves.

use std::fmt::Write as _;

use reknit_engine::write_rule_file;
use reknit_mend::{LearnedRule, Lesson, RuleBook, RuleEvidence};
use reknit_protocol::{Object, Value};
use reknit_runtime::{RuleReview, RuleSavings};

use super::known::KnownRules;
use super::listed::ListedRule;
use crate::output::one_line;

const MAX_SHOWN: usize = 10;

const MAX_PARAMETERS: usize = 160;

pub(super) fn page(rule: &ListedRule, known: &KnownRules) -> String {
    let rule = match rule {
        ListedRule::Mapping(_) => return rule.line() + "\n",
        ListedRule::Rule(rule) => rule,
    };
    let verdicts = rule.evaluate(&known.review.lessons);
    let mut text = definition(rule);
    if let Some(reason) = &rule.evidence.retired {
        let _ = writeln!(text, "\nRetired: {}", one_line(reason, usize::MAX));
    }
    let _ = writeln!(text, "\nWould have made the correction that succeeded: {}", verdicts.helps.len());
    for place in verdicts.helps.iter().take(MAX_SHOWN) {
        text.extend(known.review.lesson(place).map(help));
    }
    let _ = writeln!(text, "Would have sent other values: {}", verdicts.harms.len());
    for place in verdicts.harms.iter().take(MAX_SHOWN) {
        text += &harm(rule, place, &known.review);
    }
    let RuleSavings { model_calls, uses, saved } = known.review.savings(rule);
    let _ = writeln!(
        text,
        "Model calls that these corrections needed: {model_calls}; used {uses} times since, which saved about {saved}"
    );
    text
}

/// The rule as its file has it, without the evidence.
fn definition(rule: &LearnedRule) -> String {
    let evidence = RuleEvidence::default();
    let text = write_rule_file(&RuleBook { rules: vec![LearnedRule { evidence, ..rule.clone() }] });
    let lines = text.lines().filter(|line| !line.starts_with('#') && *line != "rules:");
    let lines = lines.map(|line| {
        let line = line.strip_prefix("  - ").or_else(|| line.strip_prefix("    ")).unwrap_or(line);
        one_line(line, usize::MAX)
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn help(lesson: &Lesson) -> String {
    format!("  {}: {} -> {}\n", lesson.place, parameters(&lesson.call.parameters), parameters(&lesson.corrected))
}

/// What a rule would have sent in one place, and what was right.
pub(super) fn harm(rule: &LearnedRule, place: &str, review: &RuleReview) -> String {
    let Some(lesson) = review.lesson(place) else { return String::new() };
    let sent = rule.apply(&lesson.call).map(|fix| parameters(&fix.parameters)).unwrap_or_default();
    format!("  {place}: would have sent {sent}, right was {}\n", parameters(&lesson.corrected))
}

fn parameters(object: &Object) -> String {
    one_line(&Value::Object(object.clone()).to_string(), MAX_PARAMETERS)
}
