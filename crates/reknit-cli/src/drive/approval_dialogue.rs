//! Decides about the calls of a run that waits: by `--yes`, or by a person at the terminal.

use std::io::{self, BufRead, IsTerminal as _, Write};

use reknit_engine::{DecidedBy, Decision, Machine, Question};
use reknit_journal::Journal;
use reknit_protocol::{Object, RunId, Value};
use reknit_runtime::operations::{self, QuestionDecision};
use reknit_runtime::{Refusal, system_ms};
use tokio::sync::oneshot;

use crate::output::{ApprovalRequest, Failure, one_line, pending_approvals, print_warning};
use crate::setup::{ApprovalArguments, EndSignals, load_run};

/// Decides about the calls of a run that waits, as far as `--yes` or the person at the terminal does. Returns the calls if nobody has
/// decided about any of them.
pub(super) async fn undecided(
    journal: &Journal,
    run: &RunId,
    arguments: &ApprovalArguments,
) -> Result<Option<Vec<ApprovalRequest>>, Failure> {
    let saved = load_run(journal, run).await?;
    let approvals = pending_approvals(&saved.machine, &[]);
    let mut is_decided = false;
    if arguments.yes {
        for approval in approvals.iter().filter(|approval| approval.ask.question.is_asked_by_rules()) {
            let decided = QuestionDecision::about(&approval.ask, Decision::Approve);
            let decided = QuestionDecision { by: DecidedBy::YesFlag, ..decided };
            is_decided |= decide_first(journal, run, decided).await?;
        }
    } else if io::stdin().is_terminal() && io::stderr().is_terminal() {
        for approval in &approvals {
            let Some(decision) = ask_at_terminal(approval.clone(), saved.machine.clone()).await? else { break };
            is_decided |= decide_first(journal, run, QuestionDecision::about(&approval.ask, decision)).await?;
        }
    }
    Ok((!is_decided).then_some(approvals))
}

/// Decides a question. If somebody else was faster, that decision counts, and a warning says so.
async fn decide_first(journal: &Journal, run: &RunId, decided: QuestionDecision) -> Result<bool, Failure> {
    match operations::decide(journal, run, decided, system_ms()).await {
        Ok(_) => {}
        Err(refusal @ Refusal::AlreadyDecided { .. }) => print_warning(&refusal.to_string()),
        Err(refusal) => return Err(refusal.into()),
    }
    Ok(true)
}

/// Asks at the terminal. Returns `None` if the person decides later, or presses Ctrl-C.
async fn ask_at_terminal(approval: ApprovalRequest, machine: Machine) -> Result<Option<Decision>, Failure> {
    let (answered, answer) = oneshot::channel();
    // A thread of its own: the runtime would wait for it when the program ends after Ctrl-C.
    std::thread::spawn(move || {
        let _ = answered.send(dialogue(&approval, &machine, &mut io::stdin().lock(), &mut io::stderr()));
    });
    let mut signals = EndSignals::new().map_err(Failure::start("the signal handler"))?;
    tokio::select! {
        decided = answer => decided.unwrap_or(Ok(None)).map_err(Failure::Write),
        _ = signals.next() => Ok(None),
    }
}

/// Shows a question and reads the answer, again until it is one.
fn dialogue(
    approval: &ApprovalRequest,
    machine: &Machine,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Option<Decision>> {
    let subject = match approval.ask.question {
        Question::RunPlan { .. } => "the plan".to_owned(),
        _ => format!("step {}", one_line(approval.ask.step.as_str(), usize::MAX)),
    };
    writeln!(output, "\n{subject} waits for approval:\n  {}", approval.description("  "))?;
    let can_edit =
        approval.ask.question.call().is_some() && !matches!(approval.ask.question, Question::SendAgain { .. });
    let what = match &approval.ask.question {
        Question::SendItems { calls, .. } => format!("send all {}", calls.len()),
        _ => "send it".to_owned(),
    };
    let choices = if can_edit { "yes, no, edit or later" } else { "yes, no or later" };
    loop {
        let Some(line) = prompt(&format!("{what}? ({choices}) "), input, output)? else { return Ok(None) };
        match line.to_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(Decision::Approve)),
            "n" | "no" => {
                let reason = prompt("why not? (may be empty) ", input, output)?;
                return Ok(Some(Decision::Deny { reason: reason.filter(|reason| !reason.is_empty()) }));
            }
            "e" | "edit" if can_edit => {
                if let Some(parameters) = read_edit(approval, machine, input, output)? {
                    return Ok(Some(Decision::Edit { parameters }));
                }
            }
            "l" | "later" => return Ok(None),
            _ => writeln!(output, "write {choices}")?,
        }
    }
}

/// Reads changed parameters; `None` if the call cannot be sent with them.
fn read_edit(
    approval: &ApprovalRequest,
    machine: &Machine,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Option<Object>> {
    let question = "write one `NAME=VALUE`, or all parameters as JSON: ";
    let Some(line) = prompt(question, input, output)? else { return Ok(None) };
    let edit = if line.starts_with('{') { ParameterEdit::whole(&line) } else { ParameterEdit::some(&[line]) };
    let edited = edit.map_err(|failure| failure.to_string()).and_then(|edit| {
        let current = approval.ask.question.call().map(|call| call.parameters.clone()).unwrap_or_default();
        let parameters = edit.apply(&current);
        let edit = Decision::Edit { parameters: parameters.clone() };
        let checked = operations::check_decision(machine, &approval.ask, &edit);
        checked.map(|()| parameters).map_err(|refusal| refusal.to_string())
    });
    match edited {
        Ok(parameters) => Ok(Some(parameters)),
        Err(problem) => {
            writeln!(output, "{}", one_line(&problem, usize::MAX))?;
            Ok(None)
        }
    }
}

/// Reads a line; `None` at the end of the input.
fn prompt(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Option<String>> {
    write!(output, "{question}")?;
    output.flush()?;
    let mut line = String::new();
    let is_end = input.read_line(&mut line)? == 0;
    Ok((!is_end).then(|| line.trim().to_owned()))
}

/// What a person changes in the parameters of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ParameterEdit {
    /// All parameters are replaced.
    Whole(Object),
    /// These parameters are set, the others stay.
    Some(Vec<(String, Value)>),
}

impl ParameterEdit {
    /// Parses `--edit`.
    pub(crate) fn whole(text: &str) -> Result<Self, Failure> {
        let hint = "write all parameters as a JSON object, or change one with `--set NAME=VALUE`";
        match Value::parse(text) {
            Ok(Value::Object(parameters)) => Ok(Self::Whole(parameters)),
            Ok(other) => Err(Failure::usage(format!("the parameters are {}, not an object", other.kind()), hint)),
            Err(error) => Err(Failure::usage(format!("the parameters are not JSON: {error}"), hint)),
        }
    }

    /// Parses the values of `--set`: JSON, or else text.
    pub(crate) fn some(texts: &[String]) -> Result<Self, Failure> {
        let pair = |text: &String| {
            let (name, value) = text
                .split_once('=')
                .filter(|(name, _)| !name.trim().is_empty())
                .ok_or_else(|| Failure::usage(format!("`{text}` is not NAME=VALUE"), "write `amount=50`"))?;
            Ok((name.trim().to_owned(), Value::parse(value).unwrap_or_else(|_| value.into())))
        };
        Ok(Self::Some(texts.iter().map(pair).collect::<Result<_, Failure>>()?))
    }

    /// The parameters of a call after the change.
    pub(crate) fn apply(self, current: &Object) -> Object {
        match self {
            Self::Whole(parameters) => parameters,
            Self::Some(pairs) => {
                let mut parameters = current.clone();
                parameters.extend(pairs);
                parameters
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use reknit_engine::{ApprovalPolicy, AskScope, Policy};
    use reknit_plan::CatalogueEntry;
    use reknit_protocol::{Capability, SideEffect, Step};

    use super::*;
    use crate::test_run::started;

    /// A run whose only call waits for its first approval.
    fn waiting() -> Machine {
        let mut pay = Capability::new("pay");
        pay.effect = SideEffect::Unsafe;
        let schema = r#"{"type": "object", "properties": {"amount": {"type": "number", "minimum": 1}}}"#;
        let entry = CatalogueEntry::new(pay, Some(Value::parse(schema).unwrap())).unwrap();
        let step = Step::new("pay", "shop", "pay", "").with_parameters(Object::from([("amount", 150.into())]));
        let approvals = ApprovalPolicy { ask: AskScope::All, ..ApprovalPolicy::default() };
        let policy = Policy { approvals, ..Policy::default() };
        Machine::begin(&started("shop", entry, vec![step], policy)).unwrap().0
    }

    /// The decision of a person who writes these lines, and what they are shown.
    fn decided(lines: &str) -> (Option<Decision>, String) {
        let machine = waiting();
        let [approval] = pending_approvals(&machine, &[]).try_into().unwrap();
        let mut shown = Vec::new();
        let decision = dialogue(&approval, &machine, &mut lines.as_bytes(), &mut shown).unwrap();
        (decision, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn a_person_at_the_terminal_approves_rejects_edits_or_decides_later() {
        assert_eq!(decided("yes\n").0, Some(Decision::Approve));
        assert_eq!(decided("perhaps\nY\n").0, Some(Decision::Approve));
        assert_eq!(decided("n\ntoo much\n").0, Some(Decision::Deny { reason: Some("too much".to_owned()) }));
        assert_eq!(decided("no\n\n").0, Some(Decision::Deny { reason: None }));
        let parameters = Object::from([("amount", 50.into())]);
        assert_eq!(decided("e\namount=50\n").0, Some(Decision::Edit { parameters: parameters.clone() }));
        assert_eq!(decided("edit\n{\"amount\": 50}\n").0, Some(Decision::Edit { parameters }));
        assert_eq!(decided("later\n").0, None);
        assert_eq!(decided("").0, None, "the end of the input decides nothing");
    }

    #[test]
    fn the_question_shows_the_call_its_reason_and_its_values_and_why_an_edit_is_refused() {
        insta::assert_snapshot!(decided("edit\namount=0\nlater\n").1, @r#"

        step pay waits for approval:
          call:   `pay` of `shop` (unsafe) with {"amount":150}
          reason: every call that does not only read needs approval
          values: amount from the plan
        send it? (yes, no, edit or later) write one `NAME=VALUE`, or all parameters as JSON: the corrected parameters do not fit the schema: `$.amount`: expected at least 1, found 0
        send it? (yes, no, edit or later)
        "#);
    }
}
