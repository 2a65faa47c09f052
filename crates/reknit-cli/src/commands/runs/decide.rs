//! `reknit runs approve`, `reknit runs deny` and `reknit runs settle`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use reknit_engine::{Decision, Machine, Question};
use reknit_protocol::{RunId, Value};

use super::open_run;
use crate::drive::{ParameterEdit, check_edit};
use crate::output::{
    ApprovalRequest, Failure, Input, decision_detail, inbox, parked_hint, pending_approvals, print_data, print_message,
    print_warning,
};
use crate::setup::{FileArguments, RunArgument, load_run};

const APPROVE_EXAMPLES: &str = "\
Examples:
  reknit runs approve last
  reknit runs approve last pay --set amount=50
  reknit runs approve last pay --edit '{\"amount\": 50, \"to\": \"ann\"}'";

const SETTLE_EXAMPLES: &str = "\
Examples:
  reknit runs settle last --happened --result '{\"refund_id\": 7}'
  curl https://shop.example/refunds/7 | reknit runs settle last refund --happened --result-file -
  reknit runs settle last --did-not-happen
  reknit runs settle last --check";

#[derive(Debug, Args)]
pub(crate) struct DecideArguments {
    #[command(flatten)]
    run: RunArgument,
    /// Decide only about this step
    #[arg(value_name = "STEP")]
    step: Option<String>,
    #[command(flatten)]
    files: FileArguments,
}

#[derive(Debug, Args)]
#[command(after_help = APPROVE_EXAMPLES)]
pub(crate) struct ApproveArguments {
    #[command(flatten)]
    decide: DecideArguments,
    /// Approve the call with all its parameters replaced by these
    #[arg(long, value_name = "JSON", conflicts_with = "set")]
    edit: Option<String>,
    /// Approve the call with this parameter changed
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DenyArguments {
    #[command(flatten)]
    decide: DecideArguments,
    /// Why not: part of the answer, and an agent's model reads it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = SETTLE_EXAMPLES)]
pub(crate) struct SettleArguments {
    #[command(flatten)]
    decide: DecideArguments,
    #[command(flatten)]
    outcome: OutcomeArguments,
    /// The result of the call, as JSON; without one, the step has the result null
    #[arg(long, value_name = "JSON", conflicts_with_all = ["did_not_happen", "check"])]
    result: Option<String>,
    /// The file with the result of the call; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["result", "did_not_happen", "check"], value_hint = ValueHint::FilePath)]
    result_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct OutcomeArguments {
    /// The call took effect: its step is done
    #[arg(long)]
    happened: bool,
    /// The call did not take effect: it is sent again
    #[arg(long)]
    did_not_happen: bool,
    /// Ask the tool again whether the call took effect, as `[[checks]]` in the configuration says
    #[arg(long)]
    check: bool,
}

pub(super) async fn approve(arguments: &ApproveArguments) -> Result<ExitCode, Failure> {
    let edit = match &arguments.edit {
        Some(text) => Some(ParameterEdit::whole(text)?),
        None if arguments.set.is_empty() => None,
        None => Some(ParameterEdit::some(&arguments.set)?),
    };
    match edit {
        Some(edit) => run(&arguments.decide, Choice::Edit(edit)).await,
        None => run(&arguments.decide, Choice::Decision(Decision::Approve)).await,
    }
}

pub(super) async fn deny(arguments: &DenyArguments) -> Result<ExitCode, Failure> {
    let reason = arguments.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned);
    run(&arguments.decide, Choice::Decision(Decision::Deny { reason })).await
}

/// What a person decides about the calls that wait.
enum Choice {
    Decision(Decision),
    /// The parameters follow from those of the call.
    Edit(ParameterEdit),
}

/// Says what became of a call that may have taken effect.
pub(super) async fn settle(arguments: &SettleArguments) -> Result<ExitCode, Failure> {
    let decision = if arguments.outcome.happened {
        Decision::Happened { result: result(arguments)? }
    } else if arguments.outcome.did_not_happen {
        Decision::DidNotHappen
    } else {
        Decision::Check
    };
    run(&arguments.decide, Choice::Decision(decision)).await
}

fn result(arguments: &SettleArguments) -> Result<Value, Failure> {
    let text = match (&arguments.result, &arguments.result_file) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => Input::new(Some(path)).read_text()?,
        (None, None) => return Ok(Value::Null),
    };
    Value::parse(&text).map_err(|error| {
        Failure::usage(
            format!("the result is not JSON: {error}"),
            "a text needs quotes of its own: `--result '\"done\"'`; `reknit repair` reads damaged JSON".to_owned(),
        )
    })
}

async fn run(arguments: &DecideArguments, choice: Choice) -> Result<ExitCode, Failure> {
    let step = arguments.step.as_deref();
    let (journal, run) = open_run(&arguments.files, &arguments.run).await?;
    if journal.summary(&run).await.map_err(Failure::journal)?.parked.is_some() {
        return Err(Failure::usage(format!("run `{run}` is parked"), parked_hint(&run)));
    }
    let saved = load_run(&journal, &run).await?;
    let approvals = pending_approvals(&saved.machine, &inbox(&journal, &run).await?);
    let (chosen, others): (Vec<ApprovalRequest>, Vec<ApprovalRequest>) =
        approvals.into_iter().partition(|approval| step.is_none_or(|step| step == approval.ask.step.as_str()));
    if chosen.is_empty() {
        let steps: Vec<&str> = others.iter().map(|approval| approval.ask.step.as_str()).collect();
        return Err(match step {
            Some(step) if !steps.is_empty() => Failure::usage(
                format!("step `{step}` of run `{run}` does not wait for approval"),
                format!("these steps do: {}", steps.join(", ")),
            ),
            _ => Failure::usage(
                format!("run `{run}` does not wait for approval"),
                format!("see its status with `reknit runs show {run}`"),
            ),
        });
    }
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let chosen = still_open(&run, chosen, now_ms)?;
    let decision = match choice {
        Choice::Edit(edit) => {
            let [approval] = chosen.as_slice() else {
                let steps: Vec<&str> = chosen.iter().map(|approval| approval.ask.step.as_str()).collect();
                let hint = format!("name the step whose parameters change: {}", steps.join(", "));
                return Err(Failure::usage("several calls wait for a decision", hint));
            };
            let current = approval.ask.question.call().map(|call| call.parameters.clone()).unwrap_or_default();
            let parameters = edit.apply(&current);
            check_edit(&saved.machine, &approval.ask, &parameters).map_err(|reason| {
                Failure::usage(reason, "change the parameters and approve again; nothing was sent")
            })?;
            Decision::Edit { parameters }
        }
        Choice::Decision(decision) => {
            if decision.settles_outcome() {
                check_that_outcome_is_open(&chosen, &decision, step, &saved.machine)?;
            }
            decision
        }
    };
    for approval in chosen {
        // Print the call before sending the decision: the hash makes the decision valid for this call only.
        let detail = decision_detail(&decision).map_or_else(String::new, |detail| format!("  {detail}\n"));
        let heading = heading(approval.decided.as_ref(), &decision);
        print_data(&format!("{heading}:\n  {}\n{detail}", approval.description("  ")))?;
        if approval.decided.as_ref() != Some(&decision) {
            let signal = reknit_runtime::signals::decide(approval.ask.id, approval.ask.hash, decision.clone());
            journal.send(&run, signal, now_ms).await?;
        }
    }
    print_message(&format!("\nhint: continue with `reknit runs resume {run}`\n"));
    Ok(ExitCode::SUCCESS)
}

/// The questions whose time is not over. Says which are left out, and fails if none is left.
fn still_open(run: &RunId, chosen: Vec<ApprovalRequest>, now_ms: i64) -> Result<Vec<ApprovalRequest>, Failure> {
    let (expired, open): (Vec<ApprovalRequest>, Vec<ApprovalRequest>) =
        chosen.into_iter().partition(|approval| approval.ask.has_expired(now_ms));
    let steps: Vec<String> = expired.iter().map(|approval| format!("`{}`", approval.ask.step)).collect();
    let message =
        format!("the time for a decision about {} of run `{run}` is over, so the answer is no", steps.join(", "));
    match (expired.as_slice(), open.as_slice()) {
        ([], _) => {}
        (_, []) => {
            return Err(Failure::usage(message, format!("let the run go on with `reknit runs resume {run}`")));
        }
        _ => print_warning(&message),
    }
    Ok(open)
}

/// The decision, compared with an earlier one that the run has not read yet.
fn heading(before: Option<&Decision>, now: &Decision) -> String {
    match before {
        None => now.as_str().to_owned(),
        Some(before) if before == now => format!("already {}", now.as_str()),
        Some(before) => format!("{} (was {})", now.as_str(), before.as_str()),
    }
}

/// Fails unless each chosen question is about a call that may have taken effect. A result belongs to one call.
fn check_that_outcome_is_open(
    chosen: &[ApprovalRequest],
    decision: &Decision,
    step: Option<&str>,
    machine: &Machine,
) -> Result<(), Failure> {
    if let (Decision::Happened { result }, None, [_, _, ..]) = (decision, step, chosen)
        && !result.is_null()
    {
        let steps: Vec<&str> = chosen.iter().map(|approval| approval.ask.step.as_str()).collect();
        let hint = format!("name the step that has this result: {}", steps.join(", "));
        return Err(Failure::usage("several calls wait for a decision".to_owned(), hint));
    }
    for approval in chosen {
        let Question::SendAgain { call, .. } = &approval.ask.question else {
            let problem = match approval.ask.question {
                Question::SendCall { .. } => format!("the call of step `{}` was not sent yet", approval.ask.step),
                Question::SendItems { .. } => format!("the calls of step `{}` were not sent yet", approval.ask.step),
                _ => format!("the call of step `{}` was refused, so it had no effect", approval.ask.step),
            };
            return Err(Failure::usage(problem, "decide with `reknit runs approve` or `reknit runs deny`".to_owned()));
        };
        let (agent, capability) = (call.tool.as_str(), call.capability.as_str());
        if *decision == Decision::Check && machine.policy().effects.check(agent, capability).is_none() {
            let problem = format!("no check was configured for `{agent}/{capability}` when the run started");
            let hint = "look yourself, then settle with `--happened` or `--did-not-happen`; `[[checks]]` in the \
                        configuration names a check for later runs"
                .to_owned();
            return Err(Failure::usage(problem, hint));
        }
    }
    Ok(())
}
