//! The simulated tool: what it has done, and what it answers.

use std::collections::BTreeMap;

use reknit_protocol::{CallTool, JobRequest, Object, ReplyBody, SideEffect, ToolJob, ToolReply, Value};

use crate::faults::Faults;
use crate::random::Random;

/// A change that the tool has made.
#[derive(Debug, Clone)]
pub(crate) struct Deed {
    pub(crate) run: String,
    pub(crate) step: String,
    pub(crate) side_effect: SideEffect,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) business_key: Option<String>,
    /// The capability and the values of the business key, as the journal has them.
    pub(crate) key_values: Option<(String, String)>,
}

/// What becomes of a request that has reached the tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ToolAnswer {
    Reply(ToolReply),
    /// The connection breaks.
    Broken,
    /// No reply ever comes.
    Silence,
}

/// The tool.
#[derive(Debug, Default)]
pub(crate) struct Tool {
    pub(crate) deeds: Vec<Deed>,
    /// By idempotency key: the call, and its result once it is done.
    by_key: BTreeMap<String, (String, Option<ToolReply>)>,
    /// By handle: when the job ends.
    jobs: BTreeMap<String, u64>,
}

/// The run that a call belongs to; plans name it in every call.
pub(crate) fn run_of(call: &CallTool) -> String {
    let handle = call.job.as_ref().map(|(JobRequest::Ask(handle) | JobRequest::Cancel(handle))| handle.as_str());
    let from_handle = handle.and_then(|handle| handle.split('|').next());
    let named = call.parameters.get("run").and_then(Value::as_str);
    from_handle.or(named).unwrap_or("?").to_owned()
}

impl Tool {
    /// A request has reached the tool. Fails if the same key comes with another call.
    pub(crate) fn receive(
        &mut self,
        call: &CallTool,
        now_ms: u64,
        faults: &Faults,
        random: &mut Random,
    ) -> Result<(ToolAnswer, Receipt), String> {
        if let Some(JobRequest::Ask(handle)) = &call.job {
            return Ok((ToolAnswer::Reply(self.job_state(handle, now_ms)), Receipt::Nothing));
        }
        if call.job.is_some() {
            return Ok((ToolAnswer::Reply(reply(200, Object::new())), Receipt::Nothing));
        }
        let identity = format!("{}/{}", call.capability, Value::Object(call.parameters.clone()));
        let known = call.idempotency_key.clone().map(|key| {
            let known = self.by_key.entry(key).or_insert_with(|| (identity.clone(), None));
            (known.0 == identity, known.1.clone())
        });
        if let Some((false, _)) = known {
            return Err(format!("the key of {} came with other parameters: {identity}", call.id));
        }
        if random.chance(faults.tool_error) {
            let (status, retry) = *random.pick(&[(429, Some(3_000)), (503, None), (429, None), (500, None)]);
            let busy = ToolReply { retry_after_ms: retry, body: ReplyBody::Empty, ..reply(status, Object::new()) };
            return Ok((ToolAnswer::Reply(busy), Receipt::Nothing));
        }
        let is_refused = call.parameters.get("x").and_then(Value::as_number).is_some_and(|x| x.to_f64() < 1.0);
        if is_refused {
            let error = Object::from([("detail", Value::from("x must be greater than 0"))]);
            return Ok((ToolAnswer::Reply(reply(422, error)), Receipt::Nothing));
        }
        let honours_key = call.side_effect == SideEffect::Keyed;
        if let Some((_, Some(done))) = known.filter(|_| honours_key) {
            return Ok((ToolAnswer::Reply(done), Receipt::Recognised));
        }
        let done = self.perform(call, now_ms, random);
        let answer = match random.below(1_000) {
            0..500 if random.chance(faults.tool_error) => {
                let body = ReplyBody::Text("bad gateway".to_owned());
                ToolAnswer::Reply(ToolReply { body, ..reply(502, Object::new()) })
            }
            500..750 if random.chance(faults.lost_message) => ToolAnswer::Broken,
            750.. if random.chance(faults.lost_message) => ToolAnswer::Silence,
            _ => ToolAnswer::Reply(done),
        };
        Ok((answer, Receipt::Done))
    }

    fn perform(&mut self, call: &CallTool, now_ms: u64, random: &mut Random) -> ToolReply {
        if call.side_effect != SideEffect::Read {
            self.deeds.push(Deed {
                run: run_of(call),
                step: call.id.owner_text(),
                side_effect: call.side_effect,
                idempotency_key: call.idempotency_key.clone(),
                business_key: call.business_key.as_ref().map(|key| key.id.clone()),
                key_values: call
                    .business_key
                    .as_ref()
                    .map(|key| (format!("{}/{}", call.tool, call.capability), key.values.to_string())),
            });
        }
        let mut done =
            reply(200, Object::from([("v", Value::from(1 + u32::try_from(random.below(9)).expect("small")))]));
        if call.capability.as_str().ends_with("_job") && !random.one_in(3) {
            let handle = format!("{}|{}|{}", run_of(call), call.id, self.jobs.len());
            self.jobs.insert(handle.clone(), now_ms + random.between(100, 40_000));
            let job = if random.one_in(4) { ToolJob::CallsBack } else { ToolJob::Ask { handle } };
            done = ToolReply { job: Some(job), ..reply(202, Object::new()) };
        }
        if let Some(key) = &call.idempotency_key
            && let Some(known) = self.by_key.get_mut(key)
        {
            known.1 = Some(done.clone());
        }
        done
    }

    fn job_state(&self, handle: &str, now_ms: u64) -> ToolReply {
        match self.jobs.get(handle) {
            Some(ends_ms) if *ends_ms > now_ms => {
                let job = Some(ToolJob::Ask { handle: handle.to_owned() });
                ToolReply { job, ..reply(202, Object::new()) }
            }
            _ => reply(200, Object::from([("v", Value::from(7))])),
        }
    }
}

/// What a request did at the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receipt {
    Nothing,
    Done,
    /// The deed had been done under the same key.
    Recognised,
}

pub(crate) fn reply(status: u16, body: Object) -> ToolReply {
    ToolReply { status, retry_after_ms: None, body: ReplyBody::Json(Value::Object(body)), job: None }
}
