//! Mends a failed call for programs that have a loop of their own.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{
    ApplyError, AskModel, Earlier, Effect, Event, EventKind, MACHINE_VERSION, Metadata, Outcome, Policy, Question,
    Record, RecordKind, Run, RunRecord, Started, Synthesis, Templates,
};
use reknit_mend::{Mend, MendEffect, MendingPolicy};
use reknit_model_api::TargetName;
use reknit_models::{ModelClient, Models, Target, TargetError};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool, PlanAuthor};
use reknit_protocol::{
    CallTool, Capability, EffectId, EffectKind, Object, Plan, ReplyBody, RunId, SideEffect, Step, ToolReply, Value,
};
use reknit_runtime::system_ms;
use reknit_salvage::SchemaError;

const STEP: &str = "call";

/// A call that a tool refused.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct FailedCall {
    tool: String,
    description: String,
    schema: Value,
    parameters: Object,
    reply: ToolReply,
    context: String,
    side_effect: SideEffect,
}

impl FailedCall {
    /// A call of `tool` with these parameters. `schema` is the JSON Schema of its parameters, and `error` what it answered: JSON or
    /// any text. Without [`status`](Self::status) it counts as an answer with the status 400.
    pub fn new(tool: impl Into<String>, schema: Value, parameters: Object, error: &str) -> Self {
        let body = Value::parse(error).map_or_else(|_| ReplyBody::Text(error.to_owned()), ReplyBody::Json);
        let reply = ToolReply { status: 400, retry_after_ms: None, body, job: None };
        let (tool, description, context) = (tool.into(), String::new(), String::new());
        Self { tool, description, schema, parameters, reply, context, side_effect: SideEffect::Read }
    }

    /// The HTTP status of the error.
    pub fn status(mut self, status: u16) -> Self {
        self.reply.status = status;
        self
    }

    /// What the tool is for. Only a model reads it.
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: description.into(), ..self }
    }

    /// What the user wanted. A correction may take values from it.
    pub fn context(self, context: impl Into<String>) -> Self {
        Self { context: context.into(), ..self }
    }

    /// What the call changes; by default it only reads. Other calls get fewer corrections without a person.
    pub fn side_effect(self, side_effect: SideEffect) -> Self {
        Self { side_effect, ..self }
    }
}

/// What to do about a failed call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Mending {
    /// Send it with these parameters.
    Corrected(Correction),
    /// Send it again as it is, after this time: the tool was busy, or could not be reached.
    SendAgain {
        /// The time.
        after: Duration,
    },
    /// Nothing that is allowed helps.
    NotMended {
        /// Why.
        reason: String,
    },
}

/// A corrected call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Correction {
    /// All parameters.
    pub parameters: Object,
    /// What was changed, and by which rung.
    pub fixes: Vec<Mend>,
    /// Why a person should approve the call before it is sent; `None` if nobody needs to.
    pub approval: Option<String>,
}

/// Why a call cannot be looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MendError {
    /// A model cannot be used.
    #[error("cannot use a model")]
    Model(#[from] TargetError),
    /// The schema of the tool cannot be used.
    #[error("cannot use the schema of the tool")]
    Schema(#[from] SchemaError),
    /// The state machine refused an event, which is a bug.
    #[error("internal error")]
    Internal(#[from] ApplyError),
}

/// Mends failed calls: with plain code, and with models if there are any. It makes no call itself.
///
/// ```
/// use reknit::{FailedCall, Mender, Mending, Object, Value};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Value::parse(r#"{"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}"#)?;
/// let parameters = Object::from([("to", "Euro".into())]);
/// let call = FailedCall::new("convert", schema, parameters, r#"{"error": "to must be one of EUR, USD"}"#);
/// let Mending::Corrected(correction) = Mender::new().mend(&call.context("convert it to euros")).await? else {
///     panic!("the error says what to write");
/// };
/// assert_eq!(correction.parameters, Object::from([("to", "EUR".into())]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Mender {
    models: Vec<Target>,
    policy: Policy,
}

impl Mender {
    /// A mender without models.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a model that may be asked where code cannot know.
    #[must_use]
    pub fn model(mut self, model: Target) -> Self {
        self.models.push(model);
        self
    }

    /// Adds a model that code of the program asks.
    #[must_use]
    pub fn model_client(self, client: impl ModelClient) -> Self {
        let name = format!("model-{}", self.models.len() + 1);
        self.model(Target::of_client(name, client))
    }

    /// Sets which rungs are allowed, and how often each.
    #[must_use]
    pub fn rungs(mut self, mending: MendingPolicy) -> Self {
        self.policy.mending = mending;
        self
    }

    /// Sets how many model calls one call is worth.
    #[must_use]
    pub fn model_calls(mut self, model_calls: u32) -> Self {
        self.policy.limits.model_calls = model_calls;
        self
    }

    /// Finds out what to do about a failed call.
    pub async fn mend(&self, call: &FailedCall) -> Result<Mending, MendError> {
        let models = Models::new(self.models.clone())?;
        let (mut attempt, first) = MendAttempt::start(self, call)?;
        let Some(first) = first else { return Ok(attempt.give_up()) };
        attempt.apply(EventKind::ToolAnswered { effect: first.id.clone(), reply: call.reply.clone() })?;
        loop {
            match attempt.next(&first) {
                // The parameters did not fit the schema: that is corrected before a model is asked, or the call is given up.
                Next::Ask(_) | Next::Done(Mending::NotMended { .. }) if first.parameters != call.parameters => {
                    return Ok(attempt.corrected(first.parameters, None));
                }
                Next::Done(mending) => return Ok(mending),
                Next::Ask(ask) => {
                    let event = match models.ask(&ask.target, &ask.request, &mut |_| ()).await {
                        Ok(answer) => EventKind::ModelAnswered { effect: ask.id, answer },
                        Err(failure) => EventKind::ModelFailed { effect: ask.id, failure },
                    };
                    attempt.apply(event)?;
                }
                Next::Sleep { id, until_ms } => {
                    let left = until_ms.saturating_sub(system_ms()).max(0).unsigned_abs();
                    tokio::time::sleep(Duration::from_millis(left)).await;
                    attempt.apply(EventKind::Woke { effect: id })?;
                }
            }
        }
    }
}

/// What the machine wants.
enum Next {
    Done(Mending),
    Ask(AskModel),
    Sleep { id: EffectId, until_ms: i64 },
}

/// A run of one step whose call has failed: what its machine would do next is the answer.
struct MendAttempt {
    run: Run,
    fixes: Vec<Mend>,
}

impl MendAttempt {
    /// The machine after its start, and its first call; `None` if it makes none.
    fn start(mender: &Mender, call: &FailedCall) -> Result<(Self, Option<CallTool>), MendError> {
        let mut capability = Capability::new(call.tool.as_str());
        capability.effect = call.side_effect;
        capability.description.clone_from(&call.description);
        let entry = CatalogueEntry::new(capability, Some(call.schema.clone()))?;
        let tool = CatalogueTool { name: "tool".into(), description: String::new(), capabilities: vec![entry] };
        let step = Step::new(STEP, "tool", &call.tool, &call.context).with_parameters(call.parameters.clone());
        let started = Started {
            run: RunId::new("mend"),
            request: call.context.clone(),
            plan: Some(Plan::new("mend", &call.context, vec![step])),
            plan_author: PlanAuthor::Model,
            inputs: Object::new(),
            attachments: Vec::new(),
            agents: Vec::new(),
            metadata: Metadata::default(),
            catalogue: Arc::new(Catalogue { tools: vec![tool] }),
            targets: mender.models.iter().map(|model| model.name.clone()).collect::<Vec<TargetName>>(),
            policy: Arc::new(Policy { synthesis: Synthesis::Template, ..mender.policy.clone() }),
            templates: Arc::new(Templates::default()),
            mappings: Vec::new(),
            seed: 0,
            trace_parent: None,
            fork: None,
            earlier: Earlier::default(),
            machine_version: MACHINE_VERSION,
        };
        let event = Event { at_ms: system_ms(), kind: EventKind::Started(Box::new(started)) };
        let (run, records) = Run::begin(&event)?;
        let mut attempt = Self { run, fixes: Vec::new() };
        attempt.note(&records);
        let first = attempt.run.pending().into_iter().find_map(|effect| match effect {
            Effect::CallTool(call) => Some(Arc::unwrap_or_clone(call)),
            _ => None,
        });
        Ok((attempt, first))
    }

    fn apply(&mut self, kind: EventKind) -> Result<(), MendError> {
        let records = self.run.apply(&Event { at_ms: system_ms(), kind })?;
        self.note(&records);
        Ok(())
    }

    fn note(&mut self, records: &[Record]) {
        let mends = records.iter().filter_map(|record| match &record.kind {
            RecordKind::Run(RunRecord::Mended { mend, .. }) if mend.effect == MendEffect::Applied => Some(mend.clone()),
            _ => None,
        });
        self.fixes.extend(mends);
    }

    fn next(&self, first: &CallTool) -> Next {
        let mut pending = self.run.pending();
        // The deadline of the run is always due.
        pending.retain(|effect| !matches!(effect, Effect::Sleep { id, .. } if id.kind() == EffectKind::Deadline));
        for effect in pending {
            match effect {
                Effect::AskModel(ask) => return Next::Ask(ask),
                Effect::CallTool(call) if call.parameters == first.parameters => {
                    return Next::Done(Mending::SendAgain { after: Duration::ZERO });
                }
                Effect::CallTool(call) => return Next::Done(self.corrected(call.parameters.clone(), None)),
                Effect::AskPerson(question) => return Next::Done(self.proposed(question.question.clone())),
                Effect::Sleep { id, until_ms } if id.kind() == EffectKind::RetryWait => {
                    let after = until_ms.saturating_sub(system_ms()).max(0).unsigned_abs();
                    return Next::Done(Mending::SendAgain { after: Duration::from_millis(after) });
                }
                Effect::Sleep { id, until_ms } => return Next::Sleep { id, until_ms },
                Effect::CountTokens(_) | Effect::Abort { .. } | Effect::Finish(_) | Effect::Report(_) => {}
            }
        }
        Next::Done(self.give_up())
    }

    fn corrected(&self, parameters: Object, approval: Option<String>) -> Mending {
        Mending::Corrected(Correction { parameters, fixes: self.fixes.clone(), approval })
    }

    fn proposed(&self, question: Question) -> Mending {
        match question {
            Question::SendCorrected { call, reason, .. } => self.corrected(call.parameters, Some(reason)),
            Question::SendCall { reason, .. } => Mending::NotMended { reason },
            Question::SendAgain { error, .. } => {
                Mending::NotMended { reason: format!("the call may have taken effect: {error}") }
            }
            Question::RunPlan { .. } | Question::SendItems { .. } => self.give_up(),
        }
    }

    fn give_up(&self) -> Mending {
        let nothing = || "nothing that is allowed helps".to_owned();
        let reason =
            self.run.answer().map_or_else(nothing, |answer| match answer.steps.first().map(|step| &step.outcome) {
                Some(Outcome::Done(_)) | None => answer.reason.clone().unwrap_or_else(|| answer.text.clone()),
                Some(
                    Outcome::Failed { reason, .. } | Outcome::Unconfirmed { reason, .. } | Outcome::Skipped { reason },
                ) => reason.clone(),
            });
        Mending::NotMended { reason }
    }
}
