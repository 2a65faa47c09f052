//! What a machine decided, as JSON objects for programs that follow a run.

use reknit_model_api::ModelWaitReason;
use reknit_protocol::{EffectId, Object, RunId, StepId, Value};

use crate::record::{ModelRecord, Record, RecordKind, RunRecord, SessionRecord, StepEnd};
use crate::session::Ending;

/// A decision as a JSON object: `event` says what happened, `run` and `at_ms` to which run and when, and the rest are details.
/// `None` for decisions that only the machine itself needs.
///
/// ```text
/// {"event":"call_ended","run":"...","at_ms":1700000000000,"step":"quote","call":"quote/call/1","status":200}
/// ```
pub fn event_json(run: &RunId, at_ms: i64, record: &Record) -> Option<Object> {
    let EventDetails { event, details } = match &record.kind {
        RecordKind::Model(record) => of_model(record),
        RecordKind::Run(record) => of_run(record)?,
        RecordKind::Session(record) => of_session(record)?,
    };
    let mut object = Object::from([("event", event.into()), ("run", run.as_str().into()), ("at_ms", at_ms.into())]);
    if !record.scope.is_empty() {
        let scope: Vec<String> = record.scope.iter().map(ToString::to_string).collect();
        object.insert("scope", scope.join("/"));
    }
    object.extend(details);
    Some(object)
}

struct EventDetails {
    event: &'static str,
    details: Object,
}

fn event(event: &'static str) -> EventDetails {
    EventDetails { event, details: Object::new() }
}

impl EventDetails {
    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name, value);
        self
    }

    fn with_some(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds the step of an effect, if it has one.
    fn step_of(self, id: &EffectId) -> Self {
        self.with_some("step", id.step().map(StepId::as_str))
    }

    fn texts<'a>(self, name: &str, list: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(name, list.into_iter().map(Value::from).collect::<Value>())
    }
}

fn of_model(record: &ModelRecord) -> EventDetails {
    let asked = |name: &'static str, id: &EffectId| event(name).with("question", id.to_string()).step_of(id);
    match record {
        ModelRecord::Asked(question) => asked("model_asked", &question.id)
            .with("model", question.target.as_str())
            .with("purpose", question.purpose.as_str()),
        ModelRecord::Answered { id, failure: Some(failure), .. } | ModelRecord::Failed { id, failure } => {
            asked("model_failed", id).with("class", failure.class.as_str()).with("reason", failure.to_string())
        }
        ModelRecord::Answered { id, answer, failure: None } => asked("model_answered", id)
            .with("input_tokens", answer.usage.input_tokens)
            .with("output_tokens", answer.usage.output_tokens)
            .with_some("took_ms", answer.timings.map(|timings| timings.total_ms)),
        ModelRecord::Skipped { id, until_ms } => asked("model_skipped", id).with("until_ms", *until_ms),
    }
}

fn of_run(record: &RunRecord) -> Option<EventDetails> {
    Some(match record {
        RunRecord::Started { request, .. } => event("started").with("request", request.as_str()),
        RunRecord::Resumed => event("resumed"),
        RunRecord::Retried { times, .. } => event("retried").with("times", *times),
        RunRecord::ToolsSelected(tools) => {
            event("tools_selected").texts("capabilities", tools.shown.iter().map(String::as_str))
        }
        RunRecord::PlanAccepted { steps, repairs } => {
            event("plan_accepted").with("steps", *steps).texts("repairs", repairs.iter().map(String::as_str))
        }
        RunRecord::PlanRejected { attempt, problems, will_retry, .. } => event("plan_rejected")
            .with("attempt", *attempt)
            .texts("problems", problems.iter().map(String::as_str))
            .with("will_retry", *will_retry),
        RunRecord::Replanning { times, failed } => {
            event("replanning").with("times", *times).texts("failed", failed.iter().map(StepId::as_str))
        }
        RunRecord::ReplanningGivenUp { reason } => event("replanning_given_up").with("reason", reason.as_str()),
        RunRecord::Ended { status, reason, .. } => {
            let reason = Some(reason.as_str()).filter(|reason| !reason.is_empty());
            event("ended").with("status", status.as_str()).with_some("reason", reason)
        }
        _ => return of_call(record),
    })
}

/// What happened to a call.
fn of_call(record: &RunRecord) -> Option<EventDetails> {
    Some(match record {
        RunRecord::CallStarted(call) => event("call_started")
            .with("step", call.step.as_str())
            .with("call", call.id.to_string())
            .with("tool", call.tool.as_str())
            .with("capability", call.capability.as_str())
            .with("parameters", call.parameters.clone()),
        RunRecord::CallEnded { call, end, fault } => event("call_ended")
            .with("step", call.step.as_str())
            .with("call", call.id.to_string())
            .with_some("status", end.status().map(u32::from))
            .with_some("error", fault.as_ref().map(ToString::to_string)),
        RunRecord::CallSkipped { id, until_ms } => event("call_skipped").step_of(id).with("until_ms", *until_ms),
        RunRecord::KeyFound { id, finding } => event("key_found").step_of(id).with("finding", finding.to_string()),
        RunRecord::WaitStarted { id, until_ms, .. } => event("wait_started").step_of(id).with("until_ms", *until_ms),
        RunRecord::WaitEnded(id) => event("wait_ended").step_of(id),
        RunRecord::JobEnded { id, asked } => event("job_ended").step_of(id).with("asked", *asked),
        _ => return of_step(record),
    })
}

/// What happened to a step. Other decisions only the machine itself needs.
fn of_step(record: &RunRecord) -> Option<EventDetails> {
    Some(match record {
        RunRecord::StepStarted(step) => event("step_started")
            .with("step", step.step.as_str())
            .with("tool", step.tool.as_str())
            .with("capability", step.capability.as_str()),
        RunRecord::RungStarted(rung) => {
            event("mending").with("step", rung.step.as_str()).with("rung", rung.rung.as_str())
        }
        RunRecord::Mended { step, mend, .. } => event(mend.action().as_str())
            .with("step", step.as_str())
            .with("rung", mend.rung.as_str())
            .with("change", mend.description.as_str()),
        RunRecord::ApprovalRequested(ask) => event("approval_requested")
            .with("step", ask.step.as_str())
            .with("question", ask.id.to_string())
            .with("expires_ms", ask.expires_ms),
        RunRecord::ApprovalDecided { id, decision, by, expired } => event("approval_decided")
            .step_of(id)
            .with("question", id.to_string())
            .with("decision", decision.as_str())
            .with("by", by.as_str())
            .with("expired", *expired),
        RunRecord::StepEnded { step, end, .. } => {
            let (state, reason) = match end {
                StepEnd::Done => ("done", None),
                StepEnd::Failed { reason, .. } => ("failed", Some(reason)),
                StepEnd::Unconfirmed { reason } => ("unconfirmed", Some(reason)),
                StepEnd::Skipped { reason } => ("skipped", Some(reason)),
            };
            let ended = event("step_ended").with("step", step.as_str()).with("state", state);
            ended.with_some("reason", reason.map(String::as_str))
        }
        _ => return None,
    })
}

fn of_session(record: &SessionRecord) -> Option<EventDetails> {
    Some(match record {
        SessionRecord::Started { agent, input, .. } => {
            event("started").with("agent", agent.as_str()).with("request", input.as_str())
        }
        SessionRecord::FollowedUp { number, input, .. } => {
            event("followed_up").with("number", *number).with("request", input.as_str())
        }
        SessionRecord::TurnStarted(turn) => event("turn_started").with("turn", *turn),
        SessionRecord::Attempt(attempt) => event("attempt")
            .with("turn", attempt.turn)
            .with("attempt", attempt.attempt)
            .with("model", attempt.target.as_str())
            .with("status", attempt.status.as_str())
            .with("took_ms", attempt.latency_ms)
            .with_some("error", attempt.error.as_deref())
            .with_some("action", attempt.directive.as_ref().map(|directive| directive.action.as_str()))
            .with_some("backoff_ms", attempt.directive.as_ref().and_then(|directive| directive.backoff_ms))
            .with_some("input_tokens", attempt.usage.map(|usage| usage.input_tokens))
            .with_some("output_tokens", attempt.usage.map(|usage| usage.output_tokens))
            .with_some("cost", attempt.cost.and_then(|cost| Value::parse(&cost.to_string()).ok())),
        SessionRecord::WaitStarted { turn, ms, reason, source } => event("wait_started")
            .with("turn", *turn)
            .with("ms", *ms)
            .with("reason", reason.as_str())
            .with_some("source", source.as_ref().map(ToString::to_string)),
        SessionRecord::WaitEnded { turn, ms, end, reason, source } => event("wait_ended")
            .with("turn", *turn)
            .with("ms", *ms)
            .with("end", end.as_str())
            .with_some("reason", reason.map(ModelWaitReason::as_str))
            .with_some("source", source.as_ref().map(ToString::to_string)),
        SessionRecord::Noticed { turn, notice } => {
            let EventDetails { event, mut details } = event("notice").with("turn", *turn);
            details.extend(notice.to_object());
            EventDetails { event, details }
        }
        SessionRecord::TargetSkipped { turn, target, until_ms } => {
            event("model_skipped").with("turn", *turn).with("model", target.as_str()).with("until_ms", *until_ms)
        }
        SessionRecord::FinalTurn { turn, reason } => {
            event("final_turn").with("turn", *turn).with("reason", reason.as_str())
        }
        SessionRecord::ChildEnded(child) => event("child_ended")
            .with("turn", child.turn)
            .with("call", child.call.as_str())
            .with("name", child.name.as_str())
            .with("status", child.status.as_str()),
        SessionRecord::Reported(report) => {
            event("ended").with("status", Ending::Report(report).status().as_str()).with("exit", report.exit.as_str())
        }
        _ => return None,
    })
}
