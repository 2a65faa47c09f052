//! A build without HTTP, which sends no questions.

use std::sync::Arc;

use reknit_config::{Config, ConfigError};
use reknit_engine::Effect;
use reknit_journal::Journal;
use reknit_protocol::RunId;

use super::WebhookReport;
use crate::callbacks::without_http;

/// Sends questions to a person. There is none without the feature `http`.
#[derive(Debug)]
pub(crate) enum ApprovalWebhook {}

impl ApprovalWebhook {
    /// Fails if the configuration has a webhook.
    pub(crate) fn configured(config: &Config) -> Result<Option<Self>, ConfigError> {
        match config.webhook.url {
            Some(_) => Err(without_http(config, "approvals.webhook")),
            None => Ok(None),
        }
    }

    pub(crate) fn send_questions(self: &Arc<Self>, _run: &RunId, _pending: &[Effect], _journal: &Journal) {
        match **self {}
    }

    pub(crate) async fn settle(&self, _run: &RunId) -> WebhookReport {
        match *self {}
    }
}
