//! A tool works on a job after it has answered: its state is asked for until the job has ended.
//!
//! Asking never makes the call again. The wait does not count as active time; it has a limit of its own.

use std::sync::Arc;

use reknit_mend::{CallFault, Verdict};
use reknit_protocol::{CallTool, EffectId, EffectKind, JobRequest, Object, ToolJob, ToolReply, human_duration};

use super::call_control::CallControl;
use super::knowledge::read_call;
use super::stage::{Job, JobActivity, JobWait, Stage};
use super::step_handle::StepHandle;
use super::step_machine::StepMachine;
use crate::admitted_call::{AdmittedCall, admit};
use crate::event::EventKind;
use crate::gate::Pass;
use crate::internal_error::{Decided, InternalError};
use crate::record::{RunRecord, WaitReason};
use crate::times::ms_between;

impl StepHandle<'_> {
    fn job_request(&mut self, request: JobRequest, timeout_ms: u64) -> Decided<AdmittedCall> {
        let planned = self.planned()?;
        let step = self.step_mut()?;
        step.counts.job_requests += 1;
        let id = EffectId::of_step(&planned.id, EffectKind::Job, step.counts.job_requests);
        let names = (&planned.tool, &planned.capability);
        let call = read_call(id, &planned.id, names, Object::new(), timeout_ms);
        let pass = Pass::for_job(&request);
        Ok(admit(CallTool { job: Some(request), ..call }, pass))
    }

    fn fail_job(&mut self, job: &Job, reason: &str, told: String) -> Decided {
        self.record(RunRecord::JobEnded { id: job_id(&job.call), asked: job.asked });
        let fault = Some(Arc::new(CallFault::unfinished_job(told)));
        self.set_stage(Stage::Failed { reason: reason.to_owned(), fault })
    }
}

impl CallControl<'_> {
    /// Asks the tool about the job. This is a read, and costs nothing of the budget for calls: the time limit of the job and
    /// the waits between the questions bound their number.
    fn ask_about_job(&mut self, job: Job, request: JobRequest) -> Decided {
        let timeout_ms = self.policy().limits.call_ms;
        let call = self.job_request(request, timeout_ms)?;
        let job = Job { asked: job.asked + 1, problem: None, ..job };
        self.set_stage(Stage::AwaitingJob(Arc::new(JobWait { job, activity: JobActivity::Asking(call) })))
    }

    fn expired(&self, job: &Job) -> Verdict {
        let limit = human_duration(self.policy().limits.job_ms);
        let asked = match (job.asked, &job.handle) {
            (_, None) => "; the tool did not call back".to_owned(),
            (asked, Some(_)) => format!("; the tool was asked {}", times(asked)),
        };
        let problem = job.problem.as_ref().map_or_else(String::new, |problem| format!(", at last in vain: {problem}"));
        unfinished(format!("its job did not end within {limit} (`job-time` in `[limits]`){asked}{problem}"))
    }

    /// The run stops: a tool that can cancel the job is told to.
    pub(super) fn stop_job(&mut self, reason: &str) -> Decided {
        let Stage::AwaitingJob(wait) = self.step()?.stage() else { return Ok(()) };
        let JobWait { job, activity } = wait.as_ref().clone();
        match (activity, job.handle.clone()) {
            (JobActivity::Cancelling { .. }, _) => Ok(()),
            (_, None) => self.fail_job(&job, reason, MAY_FINISH.to_owned()),
            (_, Some(handle)) => {
                let timeout_ms = self.policy().limits.drain_ms.max(1);
                let call = self.job_request(JobRequest::Cancel(handle), timeout_ms)?;
                let activity = JobActivity::Cancelling { call, reason: reason.to_owned() };
                self.set_stage(Stage::AwaitingJob(Arc::new(JobWait { job, activity })))
            }
        }
    }
}

impl StepMachine<'_> {
    /// The call of a step was answered with a job: waits for its end.
    pub(super) fn start_job(&mut self, call: &EffectId, reply: &ToolReply) -> Decided {
        let handle = match &reply.job {
            Some(ToolJob::Ask { handle }) => Some(handle.clone()),
            Some(ToolJob::CallsBack) => None,
            Some(ToolJob::Lost { reason }) => return self.on_verdict(lost(reason)),
            Some(ToolJob::NotFollowed { reason }) => return self.on_verdict(unfinished(reason.clone())),
            None => return Err(InternalError::new("a reply without a job")),
        };
        let now_ms = self.clock.now_ms;
        let expires_ms = now_ms.saturating_add_unsigned(self.policy().limits.job_ms);
        self.record(RunRecord::WaitStarted { id: job_id(call), until_ms: expires_ms, reason: WaitReason::Job });
        let job = Job { call: call.clone(), handle, since_ms: now_ms, expires_ms, asked: 0, problem: None };
        self.wait_for_job(job, reply.retry_after_ms)?;
        match self.account.immediate_stop() {
            Some(reason) => self.stop_job(&reason),
            None => Ok(()),
        }
    }

    /// Applies an event to a step that waits for a job; returns whether it is about that job.
    pub(super) fn on_job_event(&mut self, kind: &EventKind) -> Decided<bool> {
        let Stage::AwaitingJob(wait) = self.step()?.stage() else { return Ok(false) };
        let JobWait { job, activity } = wait.as_ref().clone();
        match (&activity, kind) {
            // The tool has called back: its message has the id of the call.
            (_, EventKind::ToolAnswered { effect, reply }) if *effect == job.call => {
                self.on_job_state(job, reply)?;
            }
            (JobActivity::Waiting { id, .. }, EventKind::Woke { effect }) if id == effect => match job.handle.clone() {
                Some(handle) => self.ask_about_job(job, JobRequest::Ask(handle))?,
                None => self.end_job(&job, self.expired(&job))?,
            },
            (JobActivity::Asking(call), kind) if kind.effect() == Some(&call.id) => match kind {
                EventKind::ToolAnswered { reply, .. } => self.on_job_state(job, reply)?,
                EventKind::ToolFailed { failure, .. } => {
                    let job = Job { problem: Some(failure.message.clone()), ..job };
                    self.wait_for_job(job, None)?;
                }
                EventKind::Interrupted { .. } => self.wait_for_job(job, None)?,
                EventKind::BreakerOpen { until_ms, .. } => {
                    let problem = "the circuit breaker of the tool is open, or the tool is at its limit".to_owned();
                    let wait_ms = ms_between(self.clock.now_ms, *until_ms);
                    self.wait_for_job(Job { problem: Some(problem), ..job }, Some(wait_ms))?;
                }
                _ => return Ok(false),
            },
            (JobActivity::Cancelling { call, reason }, kind) if kind.effect() == Some(&call.id) => {
                let told = match kind {
                    EventKind::ToolAnswered { reply, .. } if matches!(reply.status, 200..=299) => {
                        "the tool was told to cancel the job, which may have finished before".to_owned()
                    }
                    EventKind::ToolAnswered { reply, .. } => {
                        format!("the tool refused to cancel the job (status {}), which may still finish", reply.status)
                    }
                    EventKind::ToolFailed { failure, .. } => {
                        format!("the job may still finish: {}", failure.message)
                    }
                    EventKind::Interrupted { .. } | EventKind::BreakerOpen { .. } => MAY_FINISH.to_owned(),
                    _ => return Ok(false),
                };
                let reason = reason.clone();
                self.fail_job(&job, &reason, told)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The tool told the state of the job.
    fn on_job_state(&mut self, job: Job, reply: &ToolReply) -> Decided {
        let verdict = match &reply.job {
            None => {
                self.settle_session(reply)?;
                self.known().verdict_of(self.planned()?, reply, self.clock.now_ms)
            }
            Some(ToolJob::Lost { reason }) => lost(reason),
            Some(ToolJob::NotFollowed { reason }) => unfinished(reason.clone()),
            Some(running @ (ToolJob::Ask { .. } | ToolJob::CallsBack)) => {
                let handle = match running {
                    ToolJob::Ask { handle } => Some(handle.clone()),
                    _ => job.handle.clone(),
                };
                let problem = (reply.status >= 400).then(|| format!("the tool answered with status {}", reply.status));
                return self.wait_for_job(Job { handle, problem, ..job }, reply.retry_after_ms);
            }
        };
        self.end_job(&job, verdict)
    }

    /// Waits before the tool is asked, or ends the wait if its time is over.
    fn wait_for_job(&mut self, job: Job, retry_after_ms: Option<u64>) -> Decided {
        let now_ms = self.clock.now_ms;
        if now_ms >= job.expires_ms {
            return self.end_job(&job, self.expired(&job));
        }
        let until_ms = match job.handle {
            // The tool is asked a last time when the time is over.
            Some(_) => now_ms.saturating_add_unsigned(job.wait_ms(retry_after_ms, now_ms)).min(job.expires_ms),
            None => job.expires_ms,
        };
        let step_id = self.planned()?.id.clone();
        let step = self.step_mut()?;
        step.counts.job_waits += 1;
        let id = EffectId::of_step(&step_id, EffectKind::JobWait, step.counts.job_waits);
        let activity = JobActivity::Waiting { id, until_ms };
        self.set_stage(Stage::AwaitingJob(Arc::new(JobWait { job, activity })))
    }

    /// The job has ended, or nobody can tell how it ends. The time that it took does not count for the step.
    fn end_job(&mut self, job: &Job, verdict: Verdict) -> Decided {
        let waited_ms = self.clock.now_ms.saturating_sub(job.since_ms);
        self.record(RunRecord::JobEnded { id: job_id(&job.call), asked: job.asked });
        self.step_mut()?.extend_deadline(waited_ms);
        let call = Arc::new(self.last_call()?);
        self.on_verdict(verdict)?;
        self.settle_key(call)
    }
}

const MAY_FINISH: &str = "the job that the call started may still finish";

/// The id under which records name the wait for the job of a call.
fn job_id(call: &EffectId) -> EffectId {
    call.with_kind(EffectKind::JobWait)
}

/// The tool has forgotten the job: what follows depends on the side effect of the call.
fn lost(reason: &str) -> Verdict {
    Verdict::Transient(CallFault::lost_job(reason.to_owned()))
}

/// The job may still end, so the call is not made again.
fn unfinished(message: String) -> Verdict {
    Verdict::Permanent(CallFault::unfinished_job(message))
}

/// `once` or `3 times`.
fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
