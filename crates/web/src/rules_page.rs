//! Learned rules: what speaks for and against each, what it saves, and forms to accept or reject it.

use maud::{Markup, html};
use reknit_mend::{AcceptedBy, LearnedRule, RuleState};
use reknit_protocol::{Object, Value, percent_encoded};

use crate::frame::{PageFrame, Tab, framed, table};
use crate::marks::{Mark, badge, mark};
use crate::outside_text::{exact_line, exact_text, one_line, plain_text};
use crate::words::{count, step_path};

const MAX_PARAMETERS: usize = 300;

#[derive(Debug, Clone, Default)]
pub struct RuleList {
    /// The rules, accepted ones first.
    pub rules: Vec<ListedRule>,
    /// The file with accepted rules; `None` if none is configured, and then nothing can be accepted.
    pub file: Option<String>,
    /// Over how many of the newest runs the rules are judged.
    pub runs: u32,
    /// How many of them cannot be restored and count for nothing.
    pub unread: u64,
}

/// A rule, and what it would have done to earlier calls.
#[derive(Debug, Clone)]
pub struct ListedRule {
    pub rule: LearnedRule,
    /// How often it would have made the correction that succeeded, and some of these cases.
    pub helps: (usize, Vec<RuleCase>),
    /// How often it would have sent other values than those that succeeded, and some of these cases.
    pub harms: (usize, Vec<RuleCase>),
    /// How many model calls the corrections needed from which it was learned.
    pub model_calls: u32,
    pub uses: usize,
    /// How many model calls that saved, about.
    pub saved: usize,
}

/// A failed call, and the parameters with which it succeeded.
#[derive(Debug, Clone)]
pub struct RuleCase {
    pub run: String,
    pub step: String,
    pub rejected: Object,
    pub accepted: Object,
    pub by_rule: Object,
}

pub fn rules_page(frame: &PageFrame<'_>, list: &RuleList) -> Markup {
    let content = html! {
        h1 { "Rules" }
        p.muted {
            "When a model corrects a call and the tool accepts it, the correction becomes a proposal. Accepted, it corrects the same kind \
             of error without a model. What speaks for and against is from the newest " (count(list.runs, "run")) "."
            @if list.unread > 0 { " " (count(list.unread, "run")) " cannot be restored by this build and count for nothing." }
        }
        @match &list.file {
            Some(file) => { p.muted { "Accepted rules are in " code { (one_line(file, 120)) } ", which you can review and commit." } },
            None => { (without_file()) },
        }
        @if list.rules.is_empty() {
            section.empty {
                h2 { "No rules yet" }
                p { "No run has corrected a call with a model in a way that holds for other calls." }
            }
        }
        @for (index, rule) in list.rules.iter().enumerate() { (card(index, rule, list.file.is_some())) }
    };
    framed(frame, "Rules", Tab::Rules, None, &content)
}

fn without_file() -> Markup {
    html! {
        section.card aria-labelledby="no-file" {
            h2 #no-file { "No file for rules" }
            p {
                "Nothing can be accepted yet. Write " code { "file = \"reknit-rules.yaml\"" } " under " code { "[rules]" }
                " in " code { "reknit.toml" } " and start the server again."
            }
        }
    }
}

fn state_mark(rule: &LearnedRule) -> Mark {
    match (rule.state, rule.accepted_by) {
        (RuleState::Proposed, _) => mark("ask", "?", "proposed"),
        (RuleState::Accepted, Some(AcceptedBy::Confirmations)) => {
            mark("done", "●", "accepted by confirmations, for reads")
        }
        (RuleState::Accepted, _) => mark("done", "●", "accepted"),
        (RuleState::Retired, _) => mark("failed", "✗", "retired"),
    }
}

fn card(index: usize, listed: &ListedRule, has_file: bool) -> Markup {
    let rule = &listed.rule;
    let heading = format!("rule-{index}");
    html! {
        section.card.rule aria-labelledby=(heading) data-item {
            header {
                h2 id=(heading) { (exact_line(&rule.capability, 120)) " after " (error_words(rule)) }
                p { (badge(state_mark(rule))) " " code.muted { (exact_line(&rule.id, 60)) } }
            }
            @if let Some(reason) = &rule.evidence.retired { p.problem { "Retired: " (plain_text(reason)) } }
            (definition(rule))
            ul.figures {
                li { "would have helped " (count(listed.helps.0, "time")) }
                li { "would have harmed " @if listed.harms.0 > 0 { strong.problem { (count(listed.harms.0, "time")) } } @else { "0 times" } }
                li { "learned from " (count(listed.model_calls, "model call")) }
                li { "used " (count(listed.uses, "time")) ", which saved about " (count(listed.saved, "model call")) }
            }
            (cases("For it: it would have made the correction that succeeded", &listed.helps, false))
            (cases("Against it: it would have sent other values", &listed.harms, true))
            @if has_file { (decisions(rule)) }
        }
    }
}

fn error_words(rule: &LearnedRule) -> Markup {
    let error = &rule.error;
    html! {
        @if let Some(status) = error.status { (status) " " }
        @if !error.code.is_empty() { (exact_line(&error.code, 60)) " " }
        "“" (exact_line(&error.message, 200)) "”"
    }
}

/// What the rule does, all of it: a person decides about it.
fn definition(rule: &LearnedRule) -> Markup {
    html! {
        dl.values {
            @for (name, value) in &rule.change {
                dt { (exact_text(name)) }
                dd { code.value { (exact_text(&value.to_string())) } @if rule.absent.contains(name) { div.origin { "if the call has none" } } }
            }
            @for name in &rule.remove { dt { (exact_text(name)) } dd { "left out" } }
        }
        @if !rule.error.fields.is_empty() {
            p.muted { "Only if the error is about " code { (exact_text(&rule.error.fields.join(", "))) } "." }
        }
        @for (name, capability) in &rule.results {
            p.muted { code { (exact_text(name)) } " is the result of " (exact_line(capability, 120)) "." }
        }
    }
}

fn cases(words: &str, (number, shown): &(usize, Vec<RuleCase>), is_against: bool) -> Markup {
    let columns = ["Where", "Rejected", "Accepted", "The rule would have sent"];
    let columns = columns.get(..if is_against { 4 } else { 3 }).unwrap_or_default();
    html! {
        @if !shown.is_empty() {
            details.folded open[is_against] {
                summary { (words) " (" (number) ")" }
                (table("plain", columns, &html! { @for case in shown { (row(case, is_against)) } }))
                @if *number > shown.len() { p.muted { "The first " (shown.len()) " of " (number) "." } }
            }
        }
    }
}

fn row(case: &RuleCase, is_against: bool) -> Markup {
    let parameters = |object: &Object| exact_line(&Value::Object(object.clone()).to_string(), MAX_PARAMETERS);
    html! {
        tr {
            td { a href=(step_path(&case.run, &case.step)) { (one_line(&case.run, 40)) " " (one_line(&case.step, 40)) } }
            td { code { (parameters(&case.rejected)) } }
            td { code { (parameters(&case.accepted)) } }
            @if is_against { td { code { (parameters(&case.by_rule)) } } }
        }
    }
}

fn decisions(rule: &LearnedRule) -> Markup {
    // A rule that somebody changed, or a tool rejected, since the page was shown is not accepted.
    let form = |verb: &str, class: &str, words: &str| {
        html! {
            form method="post" action={"/rules/" (percent_encoded(&rule.id)) "/" (verb)} {
                input type="hidden" name="seen" value=(rule.version());
                button class=(class) type="submit" aria-label={(words) " of " (exact_line(&rule.capability, 120)) " " (exact_line(&rule.id, 60))} {
                    (words)
                }
            }
        }
    };
    html! {
        div.decisions {
            @if rule.state != RuleState::Accepted { (form("accept", "main", "Accept this rule")) }
            @else if rule.accepted_by == Some(AcceptedBy::Confirmations) { (form("accept", "main", "Accept this rule for all calls")) }
            @if rule.state != RuleState::Retired { (form("reject", "danger", "Reject this rule")) }
        }
    }
}
