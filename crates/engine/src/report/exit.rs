//! Exit codes of sessions. Their names are stable.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionExit {
    /// The model gave its report.
    FinalAnswer,
    /// The model gave its report in the final turn, because the turns were used up.
    MaxTurnsWithResponse,
    /// The conversation was too long, with or without a report.
    TokenLimit,
    /// The user stopped the session, with or without a report.
    UserStop,
    /// The session was cancelled.
    SignalReceived,
    /// A provider rejected the API key.
    AuthFailure,
    /// The quota of an account is used up.
    QuotaExceeded,
    /// There is no model to ask.
    NoProviders,
    /// Every attempt of a turn failed, and so did the final turn.
    MaxRetries,
    /// The turns were used up without a report.
    MaxTurnsNoResponse,
    /// A limit on calls or cost was reached.
    BudgetExhausted,
    /// The time limit was reached.
    TimeLimit,
    /// The machine itself failed.
    InternalError,
}

impl SessionExit {
    /// All exits.
    pub const ALL: [Self; 13] = [
        Self::FinalAnswer,
        Self::MaxTurnsWithResponse,
        Self::TokenLimit,
        Self::UserStop,
        Self::SignalReceived,
        Self::AuthFailure,
        Self::QuotaExceeded,
        Self::NoProviders,
        Self::MaxRetries,
        Self::MaxTurnsNoResponse,
        Self::BudgetExhausted,
        Self::TimeLimit,
        Self::InternalError,
    ];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FinalAnswer => "EXIT-FINAL-ANSWER",
            Self::MaxTurnsWithResponse => "EXIT-MAX-TURNS-WITH-RESPONSE",
            Self::TokenLimit => "EXIT-TOKEN-LIMIT",
            Self::UserStop => "EXIT-USER-STOP",
            Self::SignalReceived => "EXIT-SIGNAL-RECEIVED",
            Self::AuthFailure => "EXIT-AUTH-FAILURE",
            Self::QuotaExceeded => "EXIT-QUOTA-EXCEEDED",
            Self::NoProviders => "EXIT-NO-PROVIDERS",
            Self::MaxRetries => "EXIT-MAX-RETRIES",
            Self::MaxTurnsNoResponse => "EXIT-MAX-TURNS-NO-RESPONSE",
            Self::BudgetExhausted => "EXIT-BUDGET-EXHAUSTED",
            Self::TimeLimit => "EXIT-TIME-LIMIT",
            Self::InternalError => "EXIT-INTERNAL-ERROR",
        }
    }
}

impl fmt::Display for SessionExit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
