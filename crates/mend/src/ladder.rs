//! The repair ladder: its rungs, and the record of what a rung did.

use reknit_protocol::word_enum;
use serde::{Deserialize, Serialize};

word_enum! {
    /// A rung of the repair ladder, cheapest first. The words are the names in events, telemetry and output.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Rung {
        /// Code made the parameters fit their schema.
        Schema = "schema",
        /// Code changed the parameters as the facts in the error determine.
        Facts = "facts",
        /// A rule that was learned in earlier runs changed the parameters.
        Rules = "rules",
        /// A model said where in the results a missing value is.
        Resolution = "resolution",
        /// The same call was sent again.
        Resend = "resend",
        /// A model was shown the error.
        Feedback = "feedback",
        /// A model was shown the error, the request and the results.
        Context = "context",
        /// A check or a person told whether a call with an unknown outcome took effect.
        Settlement = "settlement",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRung {
    Resolution,
    Feedback,
    Context,
}

impl Rung {
    /// Whether the rung changes the parameters of a call.
    pub fn changes_parameters(self) -> bool {
        !matches!(self, Self::Resend | Self::Settlement)
    }
}

impl ModelRung {
    pub fn as_str(self) -> &'static str {
        Rung::from(self).as_str()
    }
}

impl From<ModelRung> for Rung {
    fn from(rung: ModelRung) -> Self {
        match rung {
            ModelRung::Resolution => Self::Resolution,
            ModelRung::Feedback => Self::Feedback,
            ModelRung::Context => Self::Context,
        }
    }
}

/// One repair of a call, whether it helped or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mend {
    pub rung: Rung,
    pub effect: MendEffect,
    /// What was changed and why, for people and models.
    #[serde(rename = "words")]
    pub description: String,
}

impl Mend {
    /// Whether the call was changed, sent again or settled.
    pub fn is_applied(&self) -> bool {
        self.effect == MendEffect::Applied
    }

    /// What was done to the call. Whether that mended it is known only when the call has succeeded.
    pub fn action(&self) -> MendAction {
        match (self.effect, self.rung) {
            (MendEffect::NoHelp, _) => MendAction::NoHelp,
            (MendEffect::Applied, Rung::Resend) => MendAction::SentAgain,
            (MendEffect::Applied, Rung::Settlement) => MendAction::Settled,
            (MendEffect::Applied, _) => MendAction::Changed,
        }
    }
}

word_enum! {
    /// What a rung did to a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MendAction {
        Changed = "changed",
        SentAgain = "sent_again",
        /// It was found out whether the call took effect.
        Settled = "settled",
        NoHelp = "no_help",
    }
}

/// The changes and resends of a call that took place, of all that were decided about it: a stop can prevent the last resend.
pub fn applied(mends: &[Mend], calls: u32) -> impl Iterator<Item = &Mend> {
    let mut resends_left = calls.saturating_sub(1);
    mends.iter().filter(|mend| mend.is_applied()).filter(move |mend| {
        let is_made = mend.rung != Rung::Resend || resends_left > 0;
        resends_left = resends_left.saturating_sub(u32::from(mend.rung == Rung::Resend));
        is_made
    })
}

/// What was tried for a call that failed nevertheless, one line for each change and one for all resends.
pub fn tried_in_vain<'a>(call: &str, applied: impl IntoIterator<Item = (Rung, &'a str)>) -> Vec<String> {
    let mut resends = 0_u32;
    let mut lines = Vec::new();
    for (rung, description) in applied {
        if rung == Rung::Resend {
            resends += 1;
        } else {
            lines.push(format!("{call} by {}: {description}", rung.as_str()));
        }
    }
    match resends {
        0 => {}
        1 => lines.push(format!("{call}: sent again once, not answered")),
        times => lines.push(format!("{call}: sent again {times} times, not answered")),
    }
    lines
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MendEffect {
    /// The call was changed or sent again.
    Applied,
    /// The rung found no change to make.
    NoHelp,
}
