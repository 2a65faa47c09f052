//! `reknit runs approve`, `reknit runs deny` and `reknit runs settle`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use reknit_engine::Decision;
use reknit_protocol::Value;
use reknit_runtime::operations::{self, QuestionDecision};
use reknit_runtime::{DecisionOutcome, Refusal, system_ms};

use super::open_run;
use crate::drive::ParameterEdit;
use crate::output::{
    ApprovalRequest, Failure, Input, decision_detail, inbox, pending_approvals, print_data, print_message,
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
        return Err(Refusal::Parked(run).into());
    }
    let saved = load_run(&journal, &run).await?;
    let approvals = pending_approvals(&saved.machine, &inbox(&journal, &run).await?);
    let (chosen, others): (Vec<ApprovalRequest>, Vec<ApprovalRequest>) =
        approvals.into_iter().partition(|approval| step.is_none_or(|step| step == approval.ask.step.as_str()));
    if chosen.is_empty() {
        operations::unended(&journal, &run).await?;
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
    let decision = choice.into_decision(step, &chosen)?;
    let (mut is_decided, mut refusals) = (false, Vec::new());
    for approval in chosen {
        let decided = QuestionDecision::about(&approval.ask, decision.clone());
        let heading = match operations::decide(&journal, &run, decided, system_ms()).await {
            Ok(DecisionOutcome::Made) => decision.as_str().to_owned(),
            Ok(DecisionOutcome::AlreadyMade) => format!("already {}", decision.as_str()),
            Err(refusal) => {
                refusals.push(refusal);
                continue;
            }
        };
        is_decided = true;
        let detail = decision_detail(&decision).map_or_else(String::new, |detail| format!("  {detail}\n"));
        print_data(&format!("{heading}:\n  {}\n{detail}", approval.description("  ")))?;
    }
    let is_refused = !refusals.is_empty();
    for refusal in refusals {
        // If nothing was decided, the first refusal is the error.
        if !is_decided {
            return Err(refusal.into());
        }
        print_warning(&refusal.to_string());
    }
    print_message(&format!("\nhint: continue with `reknit runs resume {run}`\n"));
    Ok(if is_refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Choice {
    /// The decision about the chosen calls. Fails if it can be about one of them only, and there are several.
    fn into_decision(self, step: Option<&str>, chosen: &[ApprovalRequest]) -> Result<Decision, Failure> {
        match self {
            Self::Edit(edit) => {
                let approval = only_one(chosen, "name the step whose parameters change")?;
                let current = approval.ask.question.call().map(|call| call.parameters.clone()).unwrap_or_default();
                Ok(Decision::Edit { parameters: edit.apply(&current) })
            }
            Self::Decision(decision) => {
                if matches!(&decision, Decision::Happened { result } if step.is_none() && !result.is_null()) {
                    only_one(chosen, "name the step that has this result")?;
                }
                Ok(decision)
            }
        }
    }
}

/// The only call that was chosen. Fails with what to name if there are several.
fn only_one<'a>(chosen: &'a [ApprovalRequest], hint: &str) -> Result<&'a ApprovalRequest, Failure> {
    if let [approval] = chosen {
        return Ok(approval);
    }
    let steps: Vec<&str> = chosen.iter().map(|approval| approval.ask.step.as_str()).collect();
    Err(Failure::usage("several calls wait for a decision", format!("{hint}: {}", steps.join(", "))))
}
