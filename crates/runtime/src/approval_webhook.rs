//! The approval webhook, to which questions to a person are sent.

#[cfg(not(feature = "http"))]
#[path = "approval_webhook/none.rs"]
mod sender;
#[cfg(feature = "http")]
#[path = "approval_webhook/signed.rs"]
mod sender;

pub(crate) use sender::ApprovalWebhook;

/// What became of the questions of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookReport {
    /// How many decisions the webhook made.
    pub decided: usize,
    /// Why questions could not be sent, or decisions could not be used.
    pub problems: Vec<String>,
}
