//! Why a session ended, under names that programs can rely on.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With a report, in its own time.
    FinalAnswer,
    /// With a report, in the last turn.
    MaxTurnsWithResponse,
    /// Because the conversation was too long, with or without a report.
    TokenLimit,
    /// Because somebody stopped it, with or without a report.
    UserStop,
    /// Because somebody cancelled it.
    SignalReceived,
    /// Because a key was refused.
    AuthFailure,
    /// Because an account has nothing left to spend.
    QuotaExceeded,
    /// Because there is no model to ask.
    NoProviders,
    /// Because no attempt of a turn, nor of the turn after it, brought anything.
    MaxRetries,
    /// Because the turns were used up without a report.
    MaxTurnsNoResponse,
    /// Because a limit of calls was reached.
    BudgetExhausted,
    /// Because its time was over.
    TimeLimit,
}

impl Exit {
    /// Every exit there is.
    pub const ALL: [Self; 12] = [
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
    ];

    /// The name for programs.
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
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
