//! What a run waits for now.

use reknit_engine::{Decision, Question, StepState, StepView};
use reknit_protocol::RunId;

use crate::output::ApprovalRequest;

/// The parts of a run's state that are not in its events: who drives it, and which decisions wait in its inbox.
pub(super) struct CurrentState<'a> {
    /// The status word of `reknit runs list`.
    pub(super) status: &'a str,
    pub(super) approvals: Vec<ApprovalRequest>,
}

impl CurrentState<'_> {
    /// The status, and the command that continues the run.
    pub(super) fn status_text(&self, run: &RunId) -> String {
        let resume = format!("continue with `reknit runs resume {run}`");
        let decided: Vec<&str> =
            self.approvals.iter().filter_map(|approval| approval.decided.as_ref()).map(Decision::as_str).collect();
        match (self.status, decided.as_slice()) {
            ("waiting", []) => "waiting for approval".to_owned(),
            ("waiting", decided) => format!("waiting for approval: {}; {resume}", decided.join(" and ")),
            ("stopped", _) => format!("stopped; {resume}"),
            (status, _) => status.to_owned(),
        }
    }

    pub(super) fn approvals_of_plan(&self) -> impl Iterator<Item = &ApprovalRequest> {
        self.approvals.iter().filter(|approval| matches!(approval.ask.question, Question::RunPlan { .. }))
    }

    pub(super) fn approval_of(&self, step: &StepView) -> Option<&ApprovalRequest> {
        let StepState::AwaitingApproval(ask) = &step.state else { return None };
        self.approvals.iter().find(|approval| approval.ask.id == ask.id)
    }
}
