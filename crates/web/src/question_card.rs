//! A question to a person as a card: what was refused, what changes, why, what will be sent, and what each button does.

use maud::{Markup, html};
use reknit_engine::{AskPerson, ItemCall, PreviewedCall, Question};
use reknit_expressions::Provenance;
use reknit_protocol::{CallTool, Object, Value, json_without_hidden, percent_encoded};

use crate::frame::PageFrame;
use crate::marks::{NEEDS_YOU, badge};
use crate::outside_text::{block, exact_line, exact_text, has_hidden, one_line};
use crate::parameter_diff::diff;
use crate::sourced_value::origin;
use crate::words::{between, count, run_path, step_path};

/// A value with more characters has a block of its own.
const SHORT_VALUE: usize = 299;

/// A question to a person, with what its card needs beside it.
#[derive(Debug, Clone)]
pub struct AskedQuestion {
    pub run: String,
    pub request: String,
    pub ask: AskPerson,
    /// The parameters of the call before, if there was one.
    pub before: Option<Object>,
    /// The decision that the run has not read yet, if there is one.
    pub decided: Option<String>,
}

impl AskedQuestion {
    fn action(&self) -> String {
        format!("{}/decisions/{}", run_path(&self.run), percent_encoded(&self.ask.id.to_string()))
    }
}

/// The card. `names_run` adds which run asks, for a page that is not about this run.
pub(crate) fn question_card(frame: &PageFrame<'_>, question: &AskedQuestion, names_run: bool) -> Markup {
    let ask = &question.ask;
    html! {
        article.card.ask id={"question-" (question.run) "-" (ask.id.to_string())} {
            header {
                (badge(NEEDS_YOU)) " "
                a href=(step_path(&question.run, ask.step.as_str())) { (exact_line(ask.step.as_str(), 60)) }
                " " strong { (title(&ask.question)) }
            }
            @if names_run {
                p { a href=(run_path(&question.run)) { (exact_line(&question.request, 160)) } }
            }
            (facts(question))
            // Empty for most questions: what a tool wrote must not decide which elements a page has.
            p.problem { (hidden_note(&ask.question)) }
            @if let Some(decided) = &question.decided {
                p { "Decided: " strong { (one_line(decided, 40)) } ". The run reads it when it goes on." }
            } @else if frame.may_approve {
                (decisions(question))
            } @else {
                p.muted { "Your token may not decide: it does not have the scope " code { "approve" } "." }
            }
            footer.muted {
                "Your decision counts only for exactly this. Hash " code { (one_line(&ask.hash, 16)) }
                ". Without a decision it counts as denied in " (between(frame.now_ms, ask.expires_ms)) "."
            }
        }
    }
}

fn title(question: &Question) -> &'static str {
    match question {
        Question::SendCall { .. } => "May this call be sent?",
        Question::RunPlan { .. } => "May this plan be run?",
        Question::SendItems { .. } => "May these calls be sent?",
        Question::SendAgain { .. } => "A call may have taken effect. Send it again?",
        Question::SendCorrected { .. } => "A call was refused. Send it corrected?",
    }
}

fn facts(question: &AskedQuestion) -> Markup {
    match &question.ask.question {
        Question::SendCall { call, reason, change } => html! {
            p { (asked_because(reason)) }
            @if !change.is_empty() { p.sub { "How it differs from what was written" } (block(&exact_text(change))) }
            (sent(question, call))
        },
        Question::SendItems { tool, capability, side_effect, calls, reason } => html! {
            p { (asked_because(reason)) " The answer counts for all of them." }
            p.sub {
                "What will be sent to " (exact_line(tool.as_str(), 60)) "/" (exact_line(capability.as_str(), 60))
                " " span.class title="What each call changes" { (side_effect.as_str()) }
            }
            ol.calls { @for call in calls { li { (item(call)) } } }
        },
        Question::SendAgain { call, error, check } => html! {
            p.sub { "What happened" } (block(&exact_text(error)))
            @if let Some(check) = check { p.sub { "What the check found" } (block(&exact_text(check))) }
            (sent(question, call))
        },
        Question::SendCorrected { call, error, change, reason, .. } => html! {
            p.sub { "What was refused" } (block(&exact_text(error)))
            @if question.before.is_some() || !change.is_empty() { p.sub { "The change" } }
            @match &question.before {
                Some(before) => (diff(before, &call.parameters)),
                None if change.is_empty() => {},
                None => (block(&exact_text(change))),
            }
            p.sub { "Why" } (block(&exact_text(reason)))
            (sent(question, call))
        },
        Question::RunPlan { calls, tool_calls, money } => html! {
            p {
                "At most " (tool_calls) " calls of tools"
                @if let Some(money) = money { ", models for at most " (money) }
                "."
            }
            p.sub { "What will be called" }
            ol.calls { @for call in calls { li { (preview(call)) } } }
        },
    }
}

/// Why a person is asked, as a sentence. Rules are named as `rule: shop/pay`.
fn asked_because(reason: &str) -> String {
    match reason.strip_prefix("rule: ") {
        Some(rule) => format!("The rule {} asks for your approval.", exact_text(rule)),
        None => format!("Asked because {}.", exact_text(reason)),
    }
}

/// A value that a person decides about: all of it, also if it is long.
fn whole(value: &Value) -> Markup {
    let text = exact_text(&value.to_string());
    if text.chars().count() <= SHORT_VALUE {
        html! { code.value { (text) } }
    } else {
        block(&text)
    }
}

fn values(parameters: &Object) -> Markup {
    html! { dl.values { @for (name, value) in parameters { dt { (exact_text(name)) } dd { (whole(value)) } } } }
}

fn item(call: &ItemCall) -> Markup {
    html! {
        code { (exact_line(call.step.as_str(), 60)) }
        (values(&call.parameters))
    }
}

fn preview(call: &PreviewedCall) -> Markup {
    html! {
        code { (exact_line(call.step.as_str(), 60)) } " "
        (exact_line(call.tool.as_str(), 60)) "/" (exact_line(call.capability.as_str(), 60))
        " " span.class { (call.side_effect.as_str()) }
        @if let Some(list) = &call.foreach { " for each item of " code { (exact_line(list, 80)) } }
        (values(&call.parameters))
    }
}

fn sent(question: &AskedQuestion, call: &CallTool) -> Markup {
    let provenance = |name: &str| question.ask.provenance.iter().find(|(known, _)| known == name).map(|(_, from)| from);
    html! {
        p.sub {
            "What will be sent to " (exact_line(call.tool.as_str(), 60)) "/" (exact_line(call.capability.as_str(), 60))
            " " span.class title="What the call changes" { (call.side_effect.as_str()) }
        }
        dl.values {
            @for (name, value) in &call.parameters {
                dt { (exact_text(name)) }
                dd {
                    (whole(value))
                    @if let Some(from) = provenance(name) {
                        div.origin {
                            @if question.ask.is_of_agent() && *from == Provenance::Literal { "written by the agent" }
                            @else { (origin(&question.run, from)) }
                        }
                    }
                }
            }
        }
    }
}

/// A value in a few characters.
fn short(value: &Value) -> String {
    exact_line(&value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned), 24)
}

/// What characters that do not show look like on the card, if there are any.
fn hidden_note(question: &Question) -> &'static str {
    let has = |parameters: &Object| has_hidden(&parameters.to_string());
    let has_any = match question {
        Question::SendCall { call, .. } | Question::SendAgain { call, .. } | Question::SendCorrected { call, .. } => {
            has(&call.parameters)
        }
        Question::SendItems { calls, .. } => calls.iter().any(|call| has(&call.parameters)),
        Question::RunPlan { calls, .. } => calls.iter().any(|call| has(&call.parameters)),
    };
    if has_any { "What will be sent has characters that do not show. They are written as \\u{…} here." } else { "" }
}

/// The consequence of sending, on the button: `Send with amount 375, to KRW`.
fn send_words(verb: &str, parameters: &Object) -> String {
    let shown: Vec<String> =
        parameters.iter().take(3).map(|(name, value)| format!("{} {}", exact_line(name, 24), short(value))).collect();
    let more = if parameters.len() > 3 { ", …" } else { "" };
    if shown.is_empty() { verb.to_owned() } else { format!("{verb} with {}{more}", shown.join(", ")) }
}

fn decisions(question: &AskedQuestion) -> Markup {
    let button = |decision: &str, words: &str, class: &str| {
        html! {
            form method="post" action=(question.action()) {
                (hidden(question, decision))
                button class=(class) type="submit" { (words) }
            }
        }
    };
    let buttons = match &question.ask.question {
        Question::RunPlan { calls, .. } => html! {
            (button("approve", &format!("Run the plan: {}", count(calls.len(), "call")), "main"))
            (deny(question, "Do not run it"))
        },
        Question::SendItems { calls, .. } => html! {
            (button("approve", &format!("Send all: {}", count(calls.len(), "call")), "main"))
            (deny(question, "Send none of them"))
        },
        Question::SendCall { call, .. } | Question::SendCorrected { call, .. } => html! {
            (button("approve", &send_words("Send", &call.parameters), "main"))
            (deny(question, "Do not send"))
            (edit(question, call))
        },
        Question::SendAgain { call, check, .. } => html! {
            (button("approve", &send_words("Send again", &call.parameters), "main"))
            (button("did_not_happen", "It did not happen: send it", ""))
            @if check.is_some() { (button("check", "Check again", "")) }
            (deny(question, "Do not send again"))
            (happened(question))
        },
    };
    html! { div.decisions { (buttons) } }
}

fn hidden(question: &AskedQuestion, decision: &str) -> Markup {
    html! {
        input type="hidden" name="hash" value=(question.ask.hash);
        input type="hidden" name="decision" value=(decision);
    }
}

/// A folded form that decides with one more field.
fn choice(
    question: &AskedQuestion,
    decision: &str,
    summary: &str,
    field: &Markup,
    (class, words): (&str, &str),
) -> Markup {
    html! {
        details.choice {
            summary { (summary) "…" }
            form.stack method="post" action=(question.action()) {
                (hidden(question, decision))
                (field)
                button class=(class) type="submit" { (words) }
            }
        }
    }
}

fn deny(question: &AskedQuestion, words: &str) -> Markup {
    let field = html! {
        label { "Why not (optional; a model that made the call reads it)" input type="text" name="reason" maxlength="1000"; }
    };
    choice(question, "deny", words, &field, ("danger", words))
}

fn edit(question: &AskedQuestion, call: &CallTool) -> Markup {
    let text = json_without_hidden(&Value::Object(call.parameters.clone()).to_pretty());
    let field = html! {
        label { "All parameters, as JSON" textarea name="parameters" rows="6" spellcheck="false" { (text) } }
    };
    choice(question, "edit", "Send with other parameters", &field, ("main", "Send these parameters"))
}

fn happened(question: &AskedQuestion) -> Markup {
    let field = html! { label { "Its result, as JSON" textarea name="result" rows="4" spellcheck="false" { "{}" } } };
    choice(question, "happened", "It happened", &field, ("main", "It happened: do not send it, use this result"))
}
