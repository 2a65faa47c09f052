//! Exit codes of sessions. Their names are stable.

use reknit_protocol::word_enum;
use serde::{Deserialize, Serialize};

word_enum! {
    /// Why a session ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SessionExit {
        /// The model gave its report.
        FinalAnswer = "EXIT-FINAL-ANSWER",
        /// The model gave its report in the final turn, because the turns were used up.
        MaxTurnsWithResponse = "EXIT-MAX-TURNS-WITH-RESPONSE",
        /// The conversation was too long, with or without a report.
        TokenLimit = "EXIT-TOKEN-LIMIT",
        /// The user stopped the session, with or without a report.
        UserStop = "EXIT-USER-STOP",
        /// The session was cancelled.
        SignalReceived = "EXIT-SIGNAL-RECEIVED",
        /// A provider rejected the API key.
        AuthFailure = "EXIT-AUTH-FAILURE",
        /// The quota of an account is used up.
        QuotaExceeded = "EXIT-QUOTA-EXCEEDED",
        /// There is no model to ask.
        NoProviders = "EXIT-NO-PROVIDERS",
        /// Every attempt of a turn failed, and so did the final turn.
        MaxRetries = "EXIT-MAX-RETRIES",
        /// The turns were used up without a report.
        MaxTurnsNoResponse = "EXIT-MAX-TURNS-NO-RESPONSE",
        /// A limit on calls or cost was reached.
        BudgetExhausted = "EXIT-BUDGET-EXHAUSTED",
        /// The time limit was reached.
        TimeLimit = "EXIT-TIME-LIMIT",
        /// The machine itself failed.
        InternalError = "EXIT-INTERNAL-ERROR",
    }
}
