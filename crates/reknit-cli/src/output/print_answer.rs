//! Prints the answer of a run: the answer on standard output, a summary on standard error.

use std::process::ExitCode;

use reknit_engine::{Answer, AnswerAuthor, Outcome, Question, Status, StepReport};
use reknit_mend::MendAction;
use reknit_protocol::{Object, RunId, Value};

use serde::Serialize;

use crate::output::{
    ApprovalRequest, Failure, are_messages_hidden, count, escape_controls, json_value, one_line, print_data,
    print_failure, print_message, print_text, seconds, usage_summary, with_decimal_costs,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultFormat {
    Text,
    Json,
    /// As the last of many lines of JSON; `event` says which it is.
    Event,
}

/// The exit status of a run that waits for approval.
const WAITING_FOR_APPROVAL: u8 = 6;

/// The exit status of an ended run.
fn exit_code(status: Status) -> ExitCode {
    ExitCode::from(match status {
        Status::Complete => 0,
        Status::Failed => 1,
        Status::Partial => 3,
        Status::Impossible => 4,
        Status::BudgetExhausted => 5,
        Status::Cancelled => 130,
    })
}

/// The exit status of an ended run, by the status in the journal.
pub(crate) fn exit_code_of(status: &str) -> ExitCode {
    Status::from_word(status).map_or(ExitCode::FAILURE, exit_code)
}

/// Prints the answer and returns the exit status. Of the results as JSON, only that of `only_step` is printed, if there is one.
pub(crate) fn print_answer(
    run: &RunId,
    answer: &Answer,
    format: ResultFormat,
    only_step: Option<&str>,
) -> Result<ExitCode, Failure> {
    let result = only_step.filter(|_| answer.written_by == AnswerAuthor::Raw).and_then(|step| {
        let results = Value::parse(&answer.text).ok()?;
        results.get(step).map(ToString::to_string)
    });
    let text = match result {
        _ if format != ResultFormat::Text => ResultText::Data(result_line(result_json(run, answer)?, "answer", format)),
        Some(result) => ResultText::Data(escape_controls(&result)),
        None if answer.written_by == AnswerAuthor::Raw => ResultText::Data(escape_controls(&answer.full_text())),
        None => ResultText::Prose(escape_controls(&answer.full_text())),
    };
    let changes = only_step.map_or_else(String::new, |step| change_note(answer, step));
    let summary = summary(run, answer, &changes);
    if answer.status == Status::Failed && format == ResultFormat::Text {
        // Also with `--quiet`: the results alone do not say that the run failed, and why.
        print_result(&text)?;
        let is_reason_missing = are_messages_hidden() && answer.written_by == AnswerAuthor::Raw;
        let failures = if is_reason_missing { failed_steps(answer) } else { String::new() };
        print_failure(&escape_controls(&format!("{failures}{summary}")));
    } else {
        print_with_summary(&text, &summary, &doubt_notes(&answer.doubts))?;
    }
    Ok(exit_code(answer.status))
}

fn failed_steps(answer: &Answer) -> String {
    let line = |step: &StepReport| match &step.outcome {
        Outcome::Failed { reason, .. } => Some(format!("{} failed: {}\n", step.step, one_line(reason, usize::MAX))),
        Outcome::Done(_) | Outcome::Unconfirmed { .. } | Outcome::Skipped { .. } => None,
    };
    answer.steps.iter().filter_map(line).collect()
}

/// A result as a line of JSON; among events it says which it is.
pub(crate) fn result_line(result: Object, event: &str, format: ResultFormat) -> String {
    let event = (format == ResultFormat::Event).then(|| ("event".to_owned(), Value::from(event)));
    Value::Object(event.into_iter().chain(result).collect()).to_string()
}

#[derive(Debug)]
pub(crate) enum ResultText {
    /// For programs: its lines stay as they are.
    Data(String),
    /// For people: a terminal gets it broken between words.
    Prose(String),
}

/// Prints a result on standard output and its summary on standard error.
/// Prints a result and its summary. With `--quiet`, only the `warnings` of the summary are printed.
pub(crate) fn print_with_summary(result: &ResultText, summary: &str, warnings: &str) -> Result<(), Failure> {
    print_result(result)?;
    match (are_messages_hidden(), warnings) {
        (true, "") => {}
        (true, warnings) => print_failure(&escape_controls(warnings)),
        (false, _) => print_message(&escape_controls(summary)),
    }
    Ok(())
}

fn print_result(result: &ResultText) -> Result<(), Failure> {
    let printed = match result {
        ResultText::Data(text) => print_data(&format!("{text}\n")),
        ResultText::Prose(text) => print_text(&format!("{text}\n")),
    };
    match printed {
        // The exit status still tells how the run ended.
        Err(failure) if failure.is_broken_pipe() => Ok(()),
        printed => printed,
    }
}

/// Prints which calls of a run wait for approval, and how to approve them.
pub(crate) fn print_waiting(
    run: &RunId,
    approvals: &[ApprovalRequest],
    format: ResultFormat,
) -> Result<ExitCode, Failure> {
    if format != ResultFormat::Text {
        let object = Object::from([
            ("run", run.as_str().into()),
            ("status", "waiting".into()),
            ("asks", approvals.iter().map(ApprovalRequest::to_value).collect()),
        ]);
        print_data(&format!("{}\n", result_line(object, "waiting", format)))?;
    }
    let call = |approval: &ApprovalRequest| {
        format!("- {}: {}", one_line(approval.ask.step.as_str(), usize::MAX), approval.description("  "))
    };
    let calls: Vec<String> = approvals.iter().map(call).collect();
    let is_open = approvals.iter().any(|approval| matches!(approval.ask.question, Question::SendAgain { .. }));
    let settle = if is_open { "; `reknit runs settle --help` if you know what became of a call" } else { "" };
    // Also with `--quiet`: a person must act.
    print_failure(&format!(
        "\nwaiting for approval:\n{}\n\nhint: decide with `reknit runs approve {run}` or `reknit runs deny {run}`, then continue with \
         `reknit runs resume {run}`{settle}\n",
        calls.join("\n")
    ));
    Ok(ExitCode::from(WAITING_FOR_APPROVAL))
}

/// An answer or a report as a JSON object, with the id of its run.
pub(crate) fn result_json(run: &RunId, result: &impl Serialize) -> Result<Object, Failure> {
    let mut object = Object::from([("run", Value::from(run.as_str()))]);
    if let Value::Object(fields) = json_value(result)? {
        for (name, value) in fields {
            let value = if name == "spent" { with_decimal_costs(value) } else { value };
            object.insert(if name == "text" { "answer".to_owned() } else { name }, value);
        }
    }
    Ok(object)
}

/// The doubts of an answer or a report, a line each.
pub(crate) fn doubt_notes(doubts: &[String]) -> String {
    doubts.iter().map(|doubt| format!("note: {}\n", one_line(doubt, usize::MAX))).collect::<Vec<_>>().concat()
}

/// How the one call that a person made was changed before it was sent.
fn change_note(answer: &Answer, step: &str) -> String {
    let mends = answer.steps.iter().filter(|report| report.step.as_str() == step).flat_map(|report| &report.mends);
    let changes: Vec<&str> =
        mends.filter(|mend| mend.action() == MendAction::Changed).map(|mend| mend.description.as_str()).collect();
    if changes.is_empty() {
        return String::new();
    }
    format!("note: changed before it was sent: {}\n", one_line(&changes.join("; "), usize::MAX))
}

fn summary(run: &RunId, answer: &Answer, changes: &str) -> String {
    let done = answer.steps.iter().filter(|step| matches!(step.outcome, Outcome::Done(_))).count();
    let spent = &answer.spent;
    let author_note = match &answer.written_by {
        AnswerAuthor::TemplateInstead(reason) => {
            format!("note: the answer was built from a template: {}\n", one_line(reason, usize::MAX))
        }
        AnswerAuthor::Model | AnswerAuthor::Template | AnswerAuthor::Raw => String::new(),
    };
    let doubts = doubt_notes(&answer.doubts);
    let reason = answer.reason.as_ref().filter(|_| !answer.steps.is_empty());
    let reason = reason.map_or_else(String::new, |reason| format!(" ({})", one_line(reason, usize::MAX)));
    format!(
        "\n{author_note}{changes}{doubts}{}{reason}: {done} of {} done, {}, {}\n\nhint: see each attempt with `reknit runs show {run}`\n",
        answer.status.as_str().replace('_', " "),
        count(answer.steps.len(), "step"),
        usage_summary(spent),
        seconds(spent.active_ms),
    )
}
