//! `reknit runs approve` and `reknit runs deny`.

use std::process::ExitCode;

use reknit_engine::Decision;

use super::open_run;
use crate::approvals::{ApprovalRequest, inbox, pending_approvals};
use crate::cli::DecideArguments;
use crate::failure::Failure;
use crate::print::{print_data, print_message};
use crate::saved_run::load_run;

pub(super) async fn run(arguments: &DecideArguments, decision: Decision) -> Result<ExitCode, Failure> {
    let step = arguments.step.as_deref();
    let (journal, run) = open_run(&arguments.files, &arguments.run).await?;
    let saved = load_run(&journal, &run).await?;
    let approvals = pending_approvals(&saved.run, &inbox(&journal, &run).await?);
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
    for approval in chosen {
        // Print the call before sending the decision: the hash makes the decision valid for this call only.
        print_data(&format!("{}:\n  {}\n", heading(approval.decided, decision), approval.description("  ")))?;
        if approval.decided != Some(decision) {
            let signal = reknit_runtime::signals::decide(approval.ask.id, approval.ask.hash, decision);
            let now_ms = jiff::Timestamp::now().as_millisecond();
            journal.send(&run, signal, now_ms).await?;
        }
    }
    print_message(&format!("\nhint: continue with `reknit runs resume {run}`\n"));
    Ok(ExitCode::SUCCESS)
}

/// The decision, compared with an earlier one that the run has not read yet.
fn heading(before: Option<Decision>, now: Decision) -> String {
    match before {
        None => now.as_str().to_owned(),
        Some(before) if before == now => format!("already {}", now.as_str()),
        Some(before) => format!("{} (was {})", now.as_str(), before.as_str()),
    }
}
