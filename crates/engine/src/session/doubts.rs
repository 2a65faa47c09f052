//! Doubts about a report: figures in it that neither the request nor a result states.

use reknit_model_api::Message;

use super::Session;
use crate::report::ReportStatus;
use crate::synthesis::numbers_in_text::unexplained_numbers;

impl Session {
    /// The doubts about the text of a report.
    pub(super) fn doubts(&self, content: &str) -> Vec<String> {
        let known = self.state.history.iter().filter(|message| !matches!(message, Message::Assistant { .. }));
        let known = known.map(Message::text).chain(self.state.stored_results.texts());
        let counted = usize::try_from(self.state.successful_calls).unwrap_or(usize::MAX);
        let numbers = unexplained_numbers(content, known, counted);
        if numbers.is_empty() {
            return Vec::new();
        }
        vec![format!("the report says {}, which no result states", numbers.join(", "))]
    }

    /// The status of a report. It is no success if a call may have taken effect, nor if it has doubts and no tool call succeeded
    /// although there are tools: then its figures are invented.
    pub(super) fn checked_status(&self, status: ReportStatus, doubts: &[String]) -> ReportStatus {
        let invented = !doubts.is_empty() && self.state.successful_calls == 0 && self.setup.toolbox.has_tools();
        let is_open = !self.state.in_doubt.is_empty();
        if status == ReportStatus::Success && (invented || is_open) { ReportStatus::Partial } else { status }
    }
}
