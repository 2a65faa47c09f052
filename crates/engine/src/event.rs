//! Events: everything that happens to a machine. Its state follows from its events alone.

use std::sync::Arc;

use reknit_expressions::ParameterMapping;
use reknit_model_api::{Attachment, BlockedBy, ModelAnswer, ModelFailure, Money, TargetName};
use reknit_plan::{Catalogue, PlanAuthor};
use reknit_protocol::{EffectId, Object, Plan, RunId, ScopeLevel, ToolReply, TransportFailure, Value, exact};
use serde::{Deserialize, Serialize};

use crate::business_key::{KeyHolder, KnownReceipt};
use crate::digest::seed_of;
use crate::guard::Earlier;
use crate::metadata::Metadata;
use crate::session_start::{SessionStarted, SubAgent};
use crate::stored::is_default;
use crate::trace_parent::{ForkOrigin, TraceParent};
use crate::{Policy, Templates};

/// The version of the state machine. Another version may decide differently for the same events.
pub const MACHINE_VERSION: u32 = 9;

/// Older versions whose events this machine applies. Where it decides otherwise for them, other effects become due than then, and
/// whoever replays them notices.
pub const REPLAYED_VERSIONS: &[u32] = &[8];

/// An event and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The time, in milliseconds since 1970.
    pub at_ms: i64,
    pub kind: EventKind,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A run started. Always the first event; it holds everything the machine ever knows besides later events.
    Started(Box<Started>),
    /// A session started. Always the first event.
    SessionStarted(Box<SessionStarted>),
    /// Another process took over. The time since the last event does not count as active.
    Resumed,
    /// A person wants a run that ended without all of its results to go on: what failed or was skipped gets new budgets. It changes
    /// nothing for a run that cannot be retried.
    Retried,
    /// Somebody else, or a later month, pays for the rest of a run or session. Written before the event that continues it.
    BudgetChanged {
        /// What it may cost from now on, besides the limits of its policy.
        budget: Option<Money>,
    },
    /// The user goes on with a session that has ended: the next message of a conversation. It changes nothing for one that has not.
    FollowedUp {
        input: String,
    },
    ModelAnswered {
        effect: EffectId,
        answer: ModelAnswer,
    },
    /// A model did not answer.
    ModelFailed {
        effect: EffectId,
        failure: ModelFailure,
    },
    /// A tool replied, with a success or an error.
    ToolAnswered {
        effect: EffectId,
        reply: ToolReply,
    },
    /// A tool call failed without a reply.
    ToolFailed {
        effect: EffectId,
        failure: TransportFailure,
    },
    /// The driver did not start an effect because a circuit breaker is open or a rate limit is reached. Nothing was
    /// sent.
    BreakerOpen {
        effect: EffectId,
        /// When it may be tried again, in milliseconds since 1970.
        until_ms: i64,
        #[serde(default, skip_serializing_if = "is_default")]
        by: BlockedBy,
    },
    /// The driver did not start a call because another one with the same business key has done the deed. Nothing was sent.
    ReceiptKnown {
        effect: EffectId,
        receipt: KnownReceipt,
    },
    /// The driver did not start a call because the outcome of another one with the same business key is not known. Nothing was
    /// sent.
    KeyHeld {
        effect: EffectId,
        holder: KeyHolder,
    },
    /// The tokens of a question were counted.
    TokensCounted {
        /// The effect that requested the count.
        effect: EffectId,
        /// The count; `None` if no tokenizer is known for the target.
        tokens: Option<u64>,
    },
    Woke {
        effect: EffectId,
    },
    PersonDecided {
        effect: EffectId,
        /// The hash of the question.
        hash: String,
        decision: Decision,
        #[serde(default, skip_serializing_if = "is_default")]
        by: DecidedBy,
    },
    /// The process of an effect ended or was told to stop: it is unknown how far the effect got.
    Interrupted {
        effect: EffectId,
    },
    Cancelled,
    /// The user asked for an early end. A session still writes its report.
    Stopped,
    /// A message to the run could not be read. It changes nothing, but is recorded.
    #[serde(rename = "not_understood")]
    UnreadableMessage {
        words: String,
    },
}

/// The effect of an event, for shared and mutable references.
macro_rules! effect_of {
    ($what:expr) => {
        match $what {
            Self::ModelAnswered { effect, .. }
            | Self::ModelFailed { effect, .. }
            | Self::ToolAnswered { effect, .. }
            | Self::ToolFailed { effect, .. }
            | Self::BreakerOpen { effect, .. }
            | Self::ReceiptKnown { effect, .. }
            | Self::KeyHeld { effect, .. }
            | Self::TokensCounted { effect, .. }
            | Self::Woke { effect }
            | Self::PersonDecided { effect, .. }
            | Self::Interrupted { effect } => Some(effect),
            _ => None,
        }
    };
}

impl EventKind {
    /// The name of the variant in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Started(_) => "started",
            Self::SessionStarted(_) => "session_started",
            Self::Resumed => "resumed",
            Self::Retried => "retried",
            Self::BudgetChanged { .. } => "budget_changed",
            Self::FollowedUp { .. } => "followed_up",
            Self::ModelAnswered { .. } => "model_answered",
            Self::ModelFailed { .. } => "model_failed",
            Self::ToolAnswered { .. } => "tool_answered",
            Self::ToolFailed { .. } => "tool_failed",
            Self::BreakerOpen { .. } => "breaker_open",
            Self::ReceiptKnown { .. } => "receipt_known",
            Self::KeyHeld { .. } => "key_held",
            Self::TokensCounted { .. } => "tokens_counted",
            Self::Woke { .. } => "woke",
            Self::PersonDecided { .. } => "person_decided",
            Self::Interrupted { .. } => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Stopped => "stopped",
            Self::UnreadableMessage { .. } => "not_understood",
        }
    }

    /// The effect whose outcome this is, if any.
    pub fn effect(&self) -> Option<&EffectId> {
        effect_of!(self)
    }

    /// The outcome of an effect of the machine nested at `scope`, under that machine's own id; `None` if the effect belongs to
    /// another machine.
    pub(crate) fn for_scope(&self, scope: &[ScopeLevel]) -> Option<Self> {
        let own = self.effect()?.within(scope)?;
        let mut kind = self.clone();
        *kind.effect_mut()? = own;
        Some(kind)
    }

    fn effect_mut(&mut self) -> Option<&mut EffectId> {
        effect_of!(self)
    }
}

/// A person's decision. A call that may have taken effect can also be settled: the last three answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Approve,
    Edit {
        #[serde(with = "exact")]
        parameters: Object,
    },
    /// Do not make the call.
    Deny {
        /// Why not. A model that made the call reads it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The call took effect: do not make it again.
    Happened {
        #[serde(with = "exact")]
        result: Value,
    },
    /// The call did not take effect: make it.
    DidNotHappen,
    /// Call the capability that tells whether the call took effect.
    Check,
}

/// Who decided about a question to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    #[default]
    Person,
    /// The flag `--yes` of the command line.
    YesFlag,
    /// The signed answer of the approval webhook.
    Webhook,
}

impl DecidedBy {
    /// As in "approved by a person".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "a person",
            Self::YesFlag => "`--yes`",
            Self::Webhook => "the webhook",
        }
    }
}

impl Decision {
    /// The name: `approved`, `edited`, `denied`, `happened`, `did_not_happen` or `check`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Edit { .. } => "edited",
            Self::Deny { .. } => "denied",
            Self::Happened { .. } => "happened",
            Self::DidNotHappen => "did_not_happen",
            Self::Check => "check",
        }
    }

    /// Whether this answers what became of a call, and not only whether one is made.
    pub fn settles_outcome(&self) -> bool {
        matches!(self, Self::Happened { .. } | Self::DidNotHappen | Self::Check)
    }
}

/// The first event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub run: RunId,
    pub request: String,
    /// The plan; `None` if a model makes it.
    #[serde(with = "exact::option")]
    pub plan: Option<Plan>,
    /// Who wrote `plan`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub plan_author: PlanAuthor,
    /// The inputs of the plan, by name. Missing ones have their defaults.
    #[serde(with = "exact", default)]
    pub inputs: Object,
    /// Images, documents and sound that belong to the request. Every question to a model has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The agents that steps of the plan run, each with its first event, except for the run id and the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<SubAgent>,
    /// Who the request is for, and the like.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    pub catalogue: Arc<Catalogue>,
    /// The model targets, the preferred one first.
    pub targets: Vec<TargetName>,
    pub policy: Arc<Policy>,
    pub templates: Arc<Templates>,
    /// Where earlier runs found values that their plans left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mappings: Vec<ParameterMapping>,
    /// Seed for deterministic jitter.
    pub seed: u64,
    /// The parent span of another program. It stays the same when another process takes over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_parent: Option<TraceParent>,
    /// Which run this is a fork of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkOrigin>,
    /// What whoever makes the calls of the plan had read before.
    #[serde(default, skip_serializing_if = "Earlier::is_empty")]
    pub earlier: Earlier,
    /// The version of the state machine that started the run.
    pub machine_version: u32,
}

/// What the first events of runs and sessions are given before they start.
macro_rules! start_setters {
    ($started:ident) => {
        impl $started {
            /// Sets how much the payer's budget leaves for it.
            pub fn set_budget(&mut self, budget: Option<Money>) {
                Arc::make_mut(&mut self.policy).limits.budget = budget;
            }

            /// Sets the id. Starting the same request with the same id again returns what was started first.
            #[must_use]
            pub fn with_id(self, run: RunId) -> Self {
                Self { seed: seed_of(&run), run, ..self }
            }

            /// Sets the metadata of the request.
            #[must_use]
            pub fn with_metadata(self, metadata: Metadata) -> Self {
                Self { metadata, ..self }
            }

            /// Sets the attachments. The journal keeps bytes; of a file it keeps the path only.
            #[must_use]
            pub fn with_attachments(self, attachments: Vec<Attachment>) -> Self {
                Self { attachments, ..self }
            }
        }
    };
}

start_setters!(Started);
start_setters!(SessionStarted);
