//! What a machine decided, as JSON objects for programs that follow a run.

use reknit_mend::MendEffect;
use reknit_protocol::{EffectId, Object, RunId, Value};

use crate::record::{CallEnd, ModelRecord, Record, RecordKind, RunRecord, SessionRecord, StepEnd};
use crate::session::Ending;

/// A decision as a JSON object: `event` says what happened, `run` and `at_ms` to which run and when, and the rest are details.
/// `None` for decisions that only the machine itself needs.
///
/// ```text
/// {"event":"call_ended","run":"...","at_ms":1700000000000,"step":"quote","call":"quote/call/1","status":200}
/// ```
pub fn event_json(run: &RunId, at_ms: i64, record: &Record) -> Option<Object> {
    let (event, details) = match &record.kind {
        RecordKind::Model(record) => of_model(record),
        RecordKind::Run(record) => of_run(record)?,
        RecordKind::Session(record) => of_session(record)?,
    };
    let mut object =
        Object::from([("event", event.as_str().into()), ("run", run.as_str().into()), ("at_ms", Value::from(at_ms))]);
    if !record.scope.is_empty() {
        let scope: Vec<String> = record.scope.iter().map(ToString::to_string).collect();
        object.insert("scope", scope.join("/"));
    }
    object.extend(
        details.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)),
    );
    Some(object)
}

type Details = Vec<(&'static str, Value)>;

fn named(event: &str, details: impl IntoIterator<Item = (&'static str, Value)>) -> (String, Details) {
    (event.to_owned(), details.into_iter().collect())
}

fn step_of(id: &EffectId) -> Value {
    id.step().map_or(Value::Null, |step| step.as_str().into())
}

fn texts<'a>(list: impl IntoIterator<Item = &'a String>) -> Value {
    list.into_iter().map(|text| Value::from(text.as_str())).collect()
}

fn of_model(record: &ModelRecord) -> (String, Details) {
    match record {
        ModelRecord::Asked(question) => named(
            "model_asked",
            [
                ("question", question.id.to_string().into()),
                ("step", step_of(&question.id)),
                ("model", question.target.as_str().into()),
                ("purpose", question.purpose.as_str().into()),
            ],
        ),
        ModelRecord::Answered { id, failure: Some(failure), .. } | ModelRecord::Failed { id, failure } => named(
            "model_failed",
            [
                ("question", id.to_string().into()),
                ("step", step_of(id)),
                ("class", failure.class.as_str().into()),
                ("reason", failure.to_string().into()),
            ],
        ),
        ModelRecord::Answered { id, answer, failure: None } => named(
            "model_answered",
            [
                ("question", id.to_string().into()),
                ("step", step_of(id)),
                ("input_tokens", answer.usage.input_tokens.into()),
                ("output_tokens", answer.usage.output_tokens.into()),
                ("took_ms", answer.timings.map_or(Value::Null, |timings| timings.total_ms.into())),
            ],
        ),
        ModelRecord::Skipped { id, until_ms } => named(
            "model_skipped",
            [("question", id.to_string().into()), ("step", step_of(id)), ("until_ms", (*until_ms).into())],
        ),
    }
}

fn of_run(record: &RunRecord) -> Option<(String, Details)> {
    Some(match record {
        RunRecord::Started { request, .. } => named("started", [("request", request.as_str().into())]),
        RunRecord::Resumed => named("resumed", []),
        RunRecord::Retried { times, .. } => named("retried", [("times", (*times).into())]),
        RunRecord::ToolsSelected(tools) => named("tools_selected", [("capabilities", texts(&tools.shown))]),
        RunRecord::PlanAccepted { steps, repairs } => {
            named("plan_accepted", [("steps", (*steps as u64).into()), ("repairs", texts(repairs))])
        }
        RunRecord::PlanRejected { attempt, problems, will_retry, .. } => named(
            "plan_rejected",
            [("attempt", (*attempt).into()), ("problems", texts(problems)), ("will_retry", Value::Bool(*will_retry))],
        ),
        RunRecord::Replanning { times, failed } => {
            let failed: Vec<Value> = failed.iter().map(|step| step.as_str().into()).collect();
            named("replanning", [("times", (*times as u64).into()), ("failed", failed.into())])
        }
        RunRecord::ReplanningGivenUp { reason } => named("replanning_given_up", [("reason", reason.as_str().into())]),
        RunRecord::Ended { status, reason, .. } => {
            let reason = Some(reason.as_str()).filter(|reason| !reason.is_empty()).map_or(Value::Null, Value::from);
            named("ended", [("status", status.as_str().into()), ("reason", reason)])
        }
        _ => return of_call(record),
    })
}

/// What happened to a call.
fn of_call(record: &RunRecord) -> Option<(String, Details)> {
    Some(match record {
        RunRecord::CallStarted(call) => named(
            "call_started",
            [
                ("step", call.step.as_str().into()),
                ("call", call.id.to_string().into()),
                ("tool", call.tool.as_str().into()),
                ("capability", call.capability.as_str().into()),
                ("parameters", Value::Object(call.parameters.clone())),
            ],
        ),
        RunRecord::CallEnded { call, end, fault } => {
            let status = match end {
                CallEnd::Replied { status, .. } => u64::from(*status).into(),
                CallEnd::Failed { .. } | CallEnd::Interrupted => Value::Null,
            };
            let error = fault.as_ref().map_or(Value::Null, |fault| fault.to_string().into());
            let (step, call) = (call.step.as_str().into(), call.id.to_string().into());
            named("call_ended", [("step", step), ("call", call), ("status", status), ("error", error)])
        }
        RunRecord::CallSkipped { id, until_ms } => {
            named("call_skipped", [("step", step_of(id)), ("until_ms", (*until_ms).into())])
        }
        RunRecord::KeyFound { id, finding } => {
            named("key_found", [("step", step_of(id)), ("finding", finding.to_string().into())])
        }
        RunRecord::WaitStarted { id, until_ms, .. } => {
            named("wait_started", [("step", step_of(id)), ("until_ms", (*until_ms).into())])
        }
        RunRecord::WaitEnded(id) => named("wait_ended", [("step", step_of(id))]),
        RunRecord::JobEnded { id, asked } => named("job_ended", [("step", step_of(id)), ("asked", (*asked).into())]),
        _ => return of_step(record),
    })
}

/// What happened to a step. Other decisions only the machine itself needs.
fn of_step(record: &RunRecord) -> Option<(String, Details)> {
    Some(match record {
        RunRecord::StepStarted(step) => named(
            "step_started",
            [
                ("step", step.step.as_str().into()),
                ("tool", step.tool.as_str().into()),
                ("capability", step.capability.as_str().into()),
            ],
        ),
        RunRecord::RungStarted(rung) => {
            named("mending", [("step", rung.step.as_str().into()), ("rung", rung.rung.as_str().into())])
        }
        RunRecord::Mended { step, mend, .. } => named(
            "mended",
            [
                ("step", step.as_str().into()),
                ("rung", mend.rung.as_str().into()),
                ("applied", Value::Bool(mend.effect == MendEffect::Applied)),
                ("change", mend.description.as_str().into()),
            ],
        ),
        RunRecord::ApprovalRequested(ask) => named(
            "approval_requested",
            [
                ("step", ask.step.as_str().into()),
                ("question", ask.id.to_string().into()),
                ("expires_ms", ask.expires_ms.into()),
            ],
        ),
        RunRecord::ApprovalDecided { id, decision, by, expired } => named(
            "approval_decided",
            [
                ("step", step_of(id)),
                ("question", id.to_string().into()),
                ("decision", decision.as_str().into()),
                ("by", by.as_str().into()),
                ("expired", Value::Bool(*expired)),
            ],
        ),
        RunRecord::StepEnded { step, end, .. } => {
            let (state, reason) = match end {
                StepEnd::Done => ("done", Value::Null),
                StepEnd::Failed { reason, .. } => ("failed", reason.as_str().into()),
                StepEnd::Unconfirmed { reason } => ("unconfirmed", reason.as_str().into()),
                StepEnd::Skipped { reason } => ("skipped", reason.as_str().into()),
            };
            named("step_ended", [("step", step.as_str().into()), ("state", state.into()), ("reason", reason)])
        }
        _ => return None,
    })
}

fn of_session(record: &SessionRecord) -> Option<(String, Details)> {
    Some(match record {
        SessionRecord::Started { agent, input, .. } => {
            named("started", [("agent", agent.as_str().into()), ("request", input.as_str().into())])
        }
        SessionRecord::FollowedUp { number, input, .. } => {
            named("followed_up", [("number", (*number).into()), ("request", input.as_str().into())])
        }
        SessionRecord::TurnStarted(turn) => named("turn_started", [("turn", (*turn).into())]),
        SessionRecord::Attempt(attempt) => named(
            "attempt",
            [
                ("turn", attempt.turn.into()),
                ("attempt", attempt.attempt.into()),
                ("model", attempt.target.as_str().into()),
                ("status", attempt.status.as_str().into()),
                ("took_ms", attempt.latency_ms.into()),
                ("error", attempt.error.as_deref().map_or(Value::Null, Value::from)),
            ],
        ),
        SessionRecord::WaitStarted { turn, ms, reason } => {
            named("wait_started", [("turn", (*turn).into()), ("ms", (*ms).into()), ("reason", reason.as_str().into())])
        }
        SessionRecord::WaitEnded { turn, .. } => named("wait_ended", [("turn", (*turn).into())]),
        SessionRecord::TargetSkipped { turn, target, until_ms } => named(
            "model_skipped",
            [("turn", (*turn).into()), ("model", target.as_str().into()), ("until_ms", (*until_ms).into())],
        ),
        SessionRecord::FinalTurn { turn, reason } => {
            named("final_turn", [("turn", (*turn).into()), ("reason", reason.as_str().into())])
        }
        SessionRecord::ChildEnded(child) => named(
            "child_ended",
            [
                ("turn", child.turn.into()),
                ("call", child.call.as_str().into()),
                ("name", child.name.as_str().into()),
                ("status", child.status.as_str().into()),
            ],
        ),
        SessionRecord::Reported(report) => named(
            "ended",
            [("status", Ending::Report(report).status().as_str().into()), ("exit", report.exit.as_str().into())],
        ),
        _ => return None,
    })
}
