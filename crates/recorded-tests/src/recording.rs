//! What a test plays back: the answers of tools and models, and the decisions of people.

use reknit_engine::{Decision, digest_of_texts};
use reknit_model_api::{ModelAnswer, ModelFailure, ModelRequest, Purpose};
use reknit_protocol::{CallTool, JobRequest, Object, ToolReply, TransportFailure, Value, hex};

/// What stands in a file for a secret. It matches any value.
pub(crate) const REDACTED: &str = "[redacted]";

/// How many characters of a digest a file has.
const DIGEST_CHARS: usize = 16;

/// How often a recording is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayCount {
    /// So often, and no more. Less is reported.
    Times(u32),
    /// As often as it is asked for, also never.
    Any,
}

impl PlayCount {
    pub(crate) fn allows(self, played: u32) -> bool {
        match self {
            Self::Times(times) => played < times,
            Self::Any => true,
        }
    }
}

/// A call of a tool, and what came back.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecording {
    /// The capability, as `tool/capability`.
    pub call: String,
    /// The step that made the call. A call of another step is answered as well.
    pub step: Option<String>,
    pub parameters: Object,
    /// The question about a job, if it is not a call.
    pub asks: Option<JobRequest>,
    /// How long the answer takes, in virtual milliseconds.
    pub took_ms: u64,
    pub outcome: Result<ToolReply, TransportFailure>,
    pub plays: PlayCount,
}

impl CallRecording {
    /// Whether this answers the call. A redacted value stands for any other.
    pub(crate) fn answers(&self, call: &CallTool) -> bool {
        self.call == call_name(call) && self.asks == call.job && objects_match(&self.parameters, &call.parameters)
    }
}

/// `tool/capability`.
pub(crate) fn call_name(call: &CallTool) -> String {
    format!("{}/{}", call.tool, call.capability)
}

/// How a question to a model is compared with a recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelMatch {
    /// By its purpose and everything that the model sees.
    Digest,
    /// By its purpose alone, in the order of the file.
    Purpose,
}

/// A question to a model, and the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRecording {
    pub purpose: Purpose,
    /// The model that was asked; any if there is none.
    pub target: Option<String>,
    /// The digest of what the model sees: messages, tools and format.
    pub digest: Option<String>,
    /// How a question is compared with this one.
    pub matching: ModelMatch,
    /// How long the answer takes, in virtual milliseconds.
    pub took_ms: u64,
    pub outcome: Result<ModelAnswer, ModelFailure>,
    pub plays: PlayCount,
}

/// A decision of a person about a step.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionRecording {
    /// The step that runs the agent whose call it is about; none for a call of the run itself.
    pub within: Option<String>,
    /// The step, or the call of an agent; `plan` for a whole plan.
    pub step: String,
    pub decision: Decision,
}

/// The digest of what a model sees of a question: its messages, tools and format.
pub fn prompt_digest(request: &ModelRequest) -> String {
    let text = |part: Result<String, serde_json::Error>| part.unwrap_or_default();
    let hash = digest_of_texts(&[
        &text(serde_json::to_string(&request.messages)),
        &text(serde_json::to_string(&request.tools)),
        &text(serde_json::to_string(&request.format)),
    ]);
    let digest = hex(&hash);
    digest.get(..DIGEST_CHARS).unwrap_or(&digest).to_owned()
}

/// Whether a value is the recorded one. A redacted value stands for any other.
pub(crate) fn values_match(recorded: &Value, value: &Value) -> bool {
    match (recorded, value) {
        (Value::String(text), _) if text == REDACTED => true,
        (Value::Object(recorded), Value::Object(value)) => objects_match(recorded, value),
        (Value::Array(recorded), Value::Array(value)) => {
            recorded.len() == value.len() && recorded.iter().zip(value).all(|(one, other)| values_match(one, other))
        }
        _ => recorded == value,
    }
}

pub(crate) fn objects_match(recorded: &Object, value: &Object) -> bool {
    recorded.len() == value.len()
        && recorded.iter().all(|(key, item)| value.get(key).is_some_and(|other| values_match(item, other)))
}
