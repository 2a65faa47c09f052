//! A build without HTTP, which sends no questions.

use std::sync::Arc;

use reknit_engine::Effect;
use reknit_journal::Journal;
use reknit_protocol::RunId;

use super::WebhookReport;

/// Sends questions to a person. There is none without the feature `http`.
#[derive(Debug)]
pub(crate) enum ApprovalWebhook {}

impl ApprovalWebhook {
    pub(crate) fn send_questions(self: &Arc<Self>, _run: &RunId, _pending: &[Effect], _journal: &Journal) {
        match **self {}
    }

    pub(crate) async fn settle(&self, _run: &RunId) -> WebhookReport {
        match *self {}
    }
}
