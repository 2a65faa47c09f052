//! The deterministic id of an effect: something a machine asks its driver to do.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::StepId;

/// Identifies one effect within a run or session.
///
/// The id follows from the events alone, so a machine that is replayed asks for the same effects under the same ids. Its text
/// form is `<scope>/<owner>/<kind>/<ordinal>`: `step-1/call/2`, `plan/ask/1`, `turn-3/call-1/plan/ask/1`. A `/` in a step id is
/// written as `%2F`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EffectId {
    scope: Vec<ScopeLevel>,
    owner: EffectOwner,
    kind: EffectKind,
    ordinal: u32,
}

/// One level of nesting: the machine that an effect belongs to runs inside another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeLevel {
    /// The run that makes the tool calls of a session's turn.
    Turn(u32),
    /// The plan or agent that one tool call of a turn has started.
    Call(u32),
}

/// The part of a machine that requests an effect.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectOwner {
    /// The run or session as a whole.
    Run,
    /// Planning, tool selection included.
    Plan,
    Step(StepId),
    Answer,
    Turn(u32),
}

crate::word_enum! {
    /// What an effect is for. Its word is the kind in the text form of an id.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum EffectKind {
        /// A question to a model: for a plan, for the answer, or for the next move of a turn.
        Ask = "ask",
        AskWait = "ask-wait",
        /// A question to a model: which tools the planner needs to see.
        Select = "select",
        SelectWait = "select-wait",
        CountTokens = "count",
        /// A tool call.
        Call = "call",
        RetryWait = "retry-wait",
        /// The wait until an open circuit breaker admits a call.
        BreakerWait = "breaker-wait",
        /// The wait while another run does the deed of a call.
        KeyWait = "key-wait",
        /// The wait before a call with `until` is made again.
        PollWait = "poll-wait",
        /// A call that tells whether an earlier call took effect.
        Check = "check",
        /// A read call that tells whether the call of a step had the wished effect.
        Verify = "verify",
        VerifyWait = "verify-wait",
        Job = "job",
        JobWait = "job-wait",
        Approval = "approval",
        /// The moment at which an approval counts as denied.
        ApprovalExpiry = "approval-expiry",
        PlanApproval = "plan-approval",
        PlanApprovalExpiry = "plan-approval-expiry",
        /// A question to a model: where to find the missing values of a step.
        Resolution = "resolution",
        ResolutionWait = "resolution-wait",
        /// A question to a model: how to correct a call, shown its error.
        Feedback = "feedback",
        FeedbackWait = "feedback-wait",
        /// A question to a model: how to correct a call, shown everything known about it.
        Context = "context",
        ContextWait = "context-wait",
        /// The end of a run's active time.
        Deadline = "deadline",
    }
}

impl EffectKind {
    /// For a question to a model, the wait before it is asked again; other kinds have none.
    #[must_use]
    pub fn wait(self) -> Option<Self> {
        match self {
            Self::Ask => Some(Self::AskWait),
            Self::Select => Some(Self::SelectWait),
            Self::Resolution => Some(Self::ResolutionWait),
            Self::Feedback => Some(Self::FeedbackWait),
            Self::Context => Some(Self::ContextWait),
            _ => None,
        }
    }

    fn is_of_step(self) -> bool {
        let is_of_run =
            matches!(self, Self::PlanApproval | Self::PlanApprovalExpiry | Self::Deadline | Self::CountTokens);
        let is_of_plan = matches!(self, Self::Ask | Self::AskWait | Self::Select | Self::SelectWait);
        !is_of_run && !is_of_plan
    }
}

impl EffectId {
    /// An effect of a machine that is not nested.
    pub fn new(owner: EffectOwner, kind: EffectKind, ordinal: u32) -> Self {
        Self { scope: Vec::new(), owner, kind, ordinal }
    }

    pub fn of_step(step: &StepId, kind: EffectKind, ordinal: u32) -> Self {
        Self::new(EffectOwner::Step(step.clone()), kind, ordinal)
    }

    /// The levels of nesting, the outermost first; empty for a machine that is not nested.
    pub fn scope(&self) -> &[ScopeLevel] {
        &self.scope
    }

    pub fn owner(&self) -> &EffectOwner {
        &self.owner
    }

    pub fn step(&self) -> Option<&StepId> {
        if let EffectOwner::Step(step) = &self.owner { Some(step) } else { None }
    }

    /// The scope and the owner as text, without the kind and the ordinal: `turn-3/call-1`. It is the same for all effects of a
    /// step.
    pub fn owner_text(&self) -> String {
        let levels = self.scope.iter().map(ToString::to_string);
        levels.chain([self.owner.to_string()]).collect::<Vec<_>>().join("/")
    }

    pub fn kind(&self) -> EffectKind {
        self.kind
    }

    /// The number of the effect among those of its owner and kind, from 1.
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    #[must_use]
    pub fn with_kind(&self, kind: EffectKind) -> Self {
        Self { kind, ..self.clone() }
    }

    /// The id that the enclosing machine uses for an effect of a machine nested at `scope`.
    #[must_use]
    pub fn nested_in(mut self, scope: &[ScopeLevel]) -> Self {
        self.scope.splice(0..0, scope.iter().copied());
        self
    }

    /// The id that the machine nested at `scope` uses for this effect; `None` if the effect belongs to another machine.
    pub fn within(&self, scope: &[ScopeLevel]) -> Option<Self> {
        let scope = self.scope.strip_prefix(scope)?.to_vec();
        Some(Self { scope, ..self.clone() })
    }
}

impl fmt::Display for ScopeLevel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(turn) => write!(out, "turn-{turn}"),
            Self::Call(call) => write!(out, "call-{call}"),
        }
    }
}

impl fmt::Display for EffectOwner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run => out.write_str("run"),
            Self::Plan => out.write_str("plan"),
            Self::Answer => out.write_str("answer"),
            Self::Turn(turn) => write!(out, "turn-{turn}"),
            Self::Step(step) => out.write_str(&escape(step.as_str())),
        }
    }
}

impl fmt::Display for EffectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}/{}", self.owner_text(), self.kind, self.ordinal)
    }
}

/// A text that is not the id of an effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of an effect, which looks like `step-1/call/2`")]
pub struct EffectIdError(String);

impl FromStr for EffectId {
    type Err = EffectIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| EffectIdError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<EffectId> {
    let mut parts = text.rsplit('/');
    let ordinal = parts.next()?.parse().ok()?;
    let kind = EffectKind::from_word(parts.next()?)?;
    let owner = match parts.next()? {
        step if kind.is_of_step() => EffectOwner::Step(StepId::new(unescape(step))),
        "run" => EffectOwner::Run,
        "plan" => EffectOwner::Plan,
        "answer" => EffectOwner::Answer,
        turn => EffectOwner::Turn(turn.strip_prefix("turn-")?.parse().ok()?),
    };
    let mut scope = parts.map(parse_level).collect::<Option<Vec<_>>>()?;
    scope.reverse();
    Some(EffectId { scope, owner, kind, ordinal })
}

fn parse_level(text: &str) -> Option<ScopeLevel> {
    let (name, number) = text.rsplit_once('-')?;
    let number = number.parse().ok()?;
    match name {
        "turn" => Some(ScopeLevel::Turn(number)),
        "call" => Some(ScopeLevel::Call(number)),
        _ => None,
    }
}

fn escape(text: &str) -> Cow<'_, str> {
    if text.contains(['/', '%']) { text.replace('%', "%25").replace('/', "%2F").into() } else { text.into() }
}

fn unescape(text: &str) -> Cow<'_, str> {
    if text.contains('%') { text.replace("%2F", "/").replace("%25", "%").into() } else { text.into() }
}

impl Serialize for EffectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EffectId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids() -> impl Strategy<Value = EffectId> {
        let levels = prop_oneof![any::<u32>().prop_map(ScopeLevel::Turn), any::<u32>().prop_map(ScopeLevel::Call)];
        let machine = prop_oneof![
            Just(EffectOwner::Run),
            Just(EffectOwner::Plan),
            Just(EffectOwner::Answer),
            any::<u32>().prop_map(EffectOwner::Turn),
        ];
        let kind = proptest::sample::select(EffectKind::ALL);
        (proptest::collection::vec(levels, 0..3), machine, "[a-z/%2F5-]{0,8}", kind, any::<u32>()).prop_map(
            |(scope, machine, step, kind, ordinal)| {
                let owner = if kind.is_of_step() { EffectOwner::Step(StepId::new(step)) } else { machine };
                EffectId { scope, owner, kind, ordinal }
            },
        )
    }

    proptest! {
        #[test]
        fn an_id_is_read_back_from_its_text(id in ids()) {
            prop_assert_eq!(id.to_string().parse(), Ok(id));
        }

        #[test]
        fn a_nested_id_is_found_again_by_the_nested_machine_alone(id in ids(), turn in 0..3u32, other in 0..3u32) {
            let (turn, other) = ([ScopeLevel::Turn(turn)], [ScopeLevel::Turn(other)]);
            let nested = id.clone().nested_in(&turn);
            prop_assert_eq!(nested.within(&turn), Some(id));
            prop_assert_eq!(nested.within(&other).is_some(), turn == other);
        }
    }

    #[test]
    fn a_text_that_is_not_an_id_is_refused() {
        for text in ["", "step-1", "call/1", "step-1/call/x", "step-1/dance/1", "hall-1/step-1/call/1", "step-1/ask/1"]
        {
            assert_eq!(text.parse::<EffectId>(), Err(EffectIdError(text.to_owned())));
        }
    }
}
