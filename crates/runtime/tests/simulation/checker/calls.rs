//! Checks calls and questions when they are made, and deeds when they are done.

use reknit_engine::{AskModel, AskScope, Effect};
use reknit_protocol::{CallTool, SideEffect};
use reknit_runtime::signals;

use super::{Checked, Checker, ready};
use crate::network::call_digest;
use crate::plot::owner_of;
use crate::process::{DiskFaultKind, Process, Status};
use crate::tool::Deed;

/// How long a driver that fails waits for its calls. Less than in its code, because clocks differ.
pub(super) const LEAST_DRAIN_MS: u64 = 16_000;

impl Checker {
    /// Commit, then act: a question is asked only if it is due in the journal.
    pub(crate) fn check_question(&self, ask: &AskModel) -> Checked {
        let digest = Effect::AskModel(ask.clone()).digest();
        let is_due = self.runs.values().any(|run| run.due.get(&ask.id.to_string()) == Some(&digest));
        if is_due { Ok(()) } else { Err(format!("a model is asked {} before it is due", ask.id)) }
    }

    /// A call is made only if it is due in the journal, and once if it is claimed.
    pub(crate) fn check_call(&mut self, process: &Process, run_id: &str, call: &CallTool, now_ms: u64) -> Checked {
        let id = call.id.to_string();
        let run = self.runs.get_mut(run_id).ok_or_else(|| format!("{run_id}: a call of an unknown run"))?;
        let problem = |words: &str| Err(format!("{run_id}: p{} calls {id}, {words}", process.pid));
        if run.due.get(&id) != Some(&call_digest(call)) {
            return problem("which is not due in this form");
        }
        let approvals = &run.machine.policy().approvals;
        if approvals.ask != AskScope::Plan && call.job.is_none() && !approvals.reasons_to_ask(call).is_empty() {
            let step = call.id.owner_text();
            let is_approved = run.approved.iter().any(|approved| {
                approved.step == step
                    && approved.capability == call.capability
                    && approved.parameters == call.parameters
            });
            if !is_approved {
                return problem("which nobody approved");
            }
        }
        if !call.needs_claim() {
            return Ok(());
        }
        match run.claims.get(&id) {
            None => return problem("which is not claimed"),
            Some(pid) if *pid != process.pid => return problem("which another process claimed"),
            Some(_) => {}
        }
        if run.sent.insert(id.clone(), now_ms).is_some() {
            return problem("which was sent before");
        }
        if run.outcomes.contains(&id) && run.summary.lease.as_ref().is_some_and(|lease| lease.holder.pid == process.pid)
        {
            return problem("which has an outcome");
        }
        Ok(())
    }

    /// A claimed call is given up only after a grace period, or after a failed driver has waited for it.
    pub(crate) fn check_dropped_call(
        &self,
        process: &Process,
        run_id: &str,
        call: &CallTool,
        began_ms: u64,
        now_ms: u64,
    ) -> Checked {
        let id = call.id.to_string();
        let Some(run) = self.runs.get(run_id) else { return Ok(()) };
        if process.status() != Status::Running || run.outcomes.contains(&id) {
            return Ok(());
        }
        if run.aborts.get(&id).is_some_and(|(at_ms, grace_ms)| now_ms - at_ms >= grace_ms * 8 / 10) {
            return Ok(());
        }
        // The tool has called back before it answered: the message stays in the inbox until it is stored.
        let inbox = ready(self.journal.inbox(&run.summary.run)).unwrap_or_default();
        if signals::has_job_end(&inbox, &call.id) {
            return Ok(());
        }
        let last_cause_ms = now_ms.saturating_sub(LEAST_DRAIN_MS);
        let has_failed = process.faults.lock().expect("no panic").iter().any(|fault| {
            fault.kind != DiskFaultKind::Slow
                && (began_ms.saturating_sub(120_000)..=last_cause_ms).contains(&fault.at_ms)
        });
        if has_failed || self.has_mishap(process.pid, run_id, began_ms.saturating_sub(120_000), last_cause_ms) {
            return Ok(());
        }
        Err(format!("{run_id}: p{} dropped {id} in progress", process.pid))
    }

    /// What may have happened does not happen again without a person.
    pub(crate) fn check_deeds(&self, call: &CallTool, run_id: &str, deeds: &[Deed]) -> Checked {
        let step = call.id.owner_text();
        let of_step = || deeds.iter().filter(|deed| deed.run == run_id && deed.step == step);
        let allowed = |run: &str, step: &str| {
            self.runs.get(run).and_then(|run| run.allowed_again.get(step)).copied().unwrap_or(0)
        };
        let most = 1 + allowed(run_id, &step);
        let count = match call.side_effect {
            SideEffect::Unknown | SideEffect::Unsafe => {
                of_step().filter(|deed| deed.side_effect == call.side_effect).count()
            }
            SideEffect::Keyed => {
                let keys = of_step().map(|deed| &deed.idempotency_key);
                keys.collect::<std::collections::BTreeSet<_>>().len()
            }
            SideEffect::Read | SideEffect::Idempotent | SideEffect::Undeclared => 0,
        };
        if count > most {
            return Err(format!("{run_id}: {step} was done {count} times, allowed were {most}"));
        }
        let Some(key) = &call.business_key else { return Ok(()) };
        // Each owner does its own deeds.
        let is_same =
            |deed: &&Deed| deed.business_key.as_ref() == Some(&key.id) && owner_of(&deed.run) == owner_of(run_id);
        let same: Vec<&Deed> = deeds.iter().filter(is_same).collect();
        let mut steps: Vec<(&str, &str)> = same.iter().map(|deed| (deed.run.as_str(), deed.step.as_str())).collect();
        steps.sort_unstable();
        steps.dedup();
        let most = 1 + steps.iter().map(|(run, step)| allowed(run, step)).sum::<usize>();
        if same.len() > most {
            return Err(format!("the deed {} was done {} times: {steps:?}", key.values, same.len()));
        }
        Ok(())
    }
}
