//! The stores agree on any sequence of operations, and no sequence breaks what a journal promises.

use proptest::prelude::*;
use reknit_journal::{
    Append, AppendError, Due, Holder, Journal, Lease, NewEvent, NewRun, RunFilter, Signal, Snapshot, Term, Which,
};
use reknit_protocol::RunId;

use crate::kit::stores;

/// Something a process may do, in terms of what happened before: `lease` is one of those that were given so far.
#[derive(Debug, Clone)]
enum Step {
    Create { run: usize, now: i64 },
    Acquire { run: usize, now: i64, forced: Option<u64> },
    Renew { lease: usize, now: i64 },
    Release { lease: usize },
    Append { lease: usize, behind: u64, events: Vec<usize>, consumed: Vec<usize>, ends: bool },
    Claim { lease: usize, effect: usize },
    Send { run: usize },
    Snapshot { lease: usize, len: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let (run, lease, now) = (0..3_usize, 0..6_usize, 0..40_i64);
    let sizes = prop_oneof![4 => 0..20_usize, 1 => 32_000..33_500_usize];
    let create = (run.clone(), now.clone()).prop_map(|(run, now)| Step::Create { run, now });
    let acquire = (run.clone(), now.clone(), prop::option::of(0..4_u64)).prop_map(|(run, now, forced)| Step::Acquire {
        run,
        now,
        forced,
    });
    let append = (
        lease.clone(),
        prop_oneof![5 => Just(0), 1 => 1..3_u64],
        prop::collection::vec(sizes, 0..3),
        prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(0..4_usize, 0..3)],
        prop::bool::weighted(0.1),
    )
        .prop_map(|(lease, behind, events, consumed, ends)| Step::Append { lease, behind, events, consumed, ends });
    prop_oneof![
        1 => create,
        2 => acquire,
        1 => (lease.clone(), now).prop_map(|(lease, now)| Step::Renew { lease, now }),
        1 => lease.clone().prop_map(|lease| Step::Release { lease }),
        6 => append,
        2 => (lease.clone(), 0..3_usize).prop_map(|(lease, effect)| Step::Claim { lease, effect }),
        2 => run.prop_map(|run| Step::Send { run }),
        1 => (lease, 0..6_u64).prop_map(|(lease, len)| Step::Snapshot { lease, len }),
    ]
}

fn run_id(run: usize) -> RunId {
    RunId::new(format!("run-{run}"))
}

fn long_event(size: usize) -> NewEvent {
    let body = format!(r#"{{"size":{size}.0,"text":"{}"}}"#, "x".repeat(size));
    NewEvent::new(i64::try_from(size).unwrap(), "grew", body).with_due([Due::new(format!("e/{size}"), "d")])
}

/// One store with what it has given so far.
struct Side {
    journal: Journal,
    holder: Holder,
    leases: Vec<Lease>,
    signals: Vec<reknit_journal::SignalId>,
}

impl Side {
    fn new(journal: Journal, holder: &Holder) -> Self {
        Self { journal, holder: holder.clone(), leases: Vec::new(), signals: Vec::new() }
    }

    /// Does the step and says in words what came of it.
    async fn take(&mut self, step: &Step) -> String {
        let term = |now_ms| Term { now_ms, ttl_ms: 10 };
        match step.clone() {
            Step::Create { run, now } => {
                let new = NewRun { run: run_id(run), title: "t".to_owned(), first: long_event(run) };
                let answer = self.journal.create(new, &self.holder, term(now)).await;
                self.leases.extend(answer.as_ref().ok().cloned());
                format!("{answer:?}")
            }
            Step::Acquire { run, now, forced } => {
                let answer = match forced {
                    None => self.journal.acquire(&run_id(run), &self.holder, term(now)).await,
                    Some(epoch) => self.journal.acquire_forced(&run_id(run), &self.holder, term(now), epoch).await,
                };
                self.leases.extend(answer.as_ref().ok().cloned());
                format!("{answer:?}")
            }
            Step::Send { run } => {
                let answer = self.journal.send(&run_id(run), Signal::new("cancel", "{}"), 1).await;
                self.signals.extend(answer.as_ref().ok().copied());
                format!("{answer:?}")
            }
            Step::Renew { lease, .. }
            | Step::Release { lease }
            | Step::Append { lease, .. }
            | Step::Claim { lease, .. }
            | Step::Snapshot { lease, .. } => match self.leases.iter().rev().nth(lease).cloned() {
                None => "no lease yet".to_owned(),
                Some(lease) => self.take_with(&lease, step).await,
            },
        }
    }

    async fn take_with(&mut self, lease: &Lease, step: &Step) -> String {
        match step.clone() {
            Step::Renew { now, .. } => {
                format!("{:?}", self.journal.renew(lease, Term { now_ms: now, ttl_ms: 10 }).await)
            }
            Step::Release { .. } => format!("{:?}", self.journal.release(lease).await),
            Step::Claim { effect, .. } => format!("{:?}", self.journal.claim(lease, &format!("e/{effect}")).await),
            Step::Snapshot { len, .. } => {
                let snapshot = Snapshot { len, machine_version: 1, body: format!("{{\"len\":{len}}}") };
                format!("{:?}", self.journal.save_snapshot(lease, snapshot).await)
            }
            Step::Append { behind, events, consumed, ends, .. } => {
                let before = self.journal.summary(lease.run()).await.unwrap();
                let mut append = Append::at(before.len.saturating_sub(behind));
                append.events = events.into_iter().map(long_event).collect();
                append.consumed = consumed.into_iter().filter_map(|at| self.signals.get(at).copied()).collect();
                if ends {
                    append = append.ending("complete", 99);
                }
                let newest = before.lease.is_some_and(|held| held.epoch == lease.epoch());
                let answer = self.journal.append(lease, append).await;
                assert_eq!(matches!(answer, Err(AppendError::Fenced { .. })), !newest, "only the newest lease appends");
                format!("{answer:?}")
            }
            Step::Create { .. } | Step::Acquire { .. } | Step::Send { .. } => unreachable!("they need no lease"),
        }
    }

    /// Everything that can be read, in words.
    async fn all(&self) -> Vec<String> {
        let mut words = vec![format!("{:?}", self.journal.runs(&RunFilter::newest(9)).await)];
        words.push(format!("{:?}", self.journal.runs(&RunFilter { which: Which::Unfinished, limit: 2 }).await));
        words.push(format!("{:?}", self.journal.find("run-", 2).await));
        for run in (0..3).map(run_id) {
            words.push(format!("{:?}", self.journal.events(&run, 0).await));
            words.push(format!("{:?}", self.journal.events(&run, 2).await));
            words.push(format!("{:?}", self.journal.due(&run).await));
            words.push(format!("{:?}", self.journal.claims(&run).await));
            words.push(format!("{:?}", self.journal.inbox(&run).await));
            words.push(format!("{:?}", self.journal.snapshot(&run).await));
        }
        words
    }

    /// What was committed so far: it only grows.
    async fn committed(&self) -> Vec<String> {
        let mut committed = Vec::new();
        for run in (0..3).map(run_id) {
            let records = self.journal.events(&run, 0).await.unwrap_or_default();
            committed.extend(records.iter().map(|record| format!("{run} {record:?}")));
            let claims = self.journal.claims(&run).await.unwrap_or_default();
            committed.extend(claims.iter().map(|claim| format!("{run} claim {claim}")));
        }
        committed
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_stores_agree_and_nothing_committed_is_lost(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let holder = Holder::this_process();
            let stores = stores();
            let [mut memory, mut file] = stores.each_ref().map(|store| Side::new(store.journal.clone(), &holder));
            let mut before = Vec::new();
            for step in &steps {
                assert_eq!(memory.take(step).await, file.take(step).await, "{step:?}");
                let after = memory.committed().await;
                assert!(before.iter().all(|line| after.contains(line)), "{step:?} has lost something");
                before = after;
            }
            assert_eq!(memory.all().await, file.all().await);
        });
    }
}
