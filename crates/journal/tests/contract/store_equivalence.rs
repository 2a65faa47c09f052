//! Property test: both stores return the same for any sequence of operations, and no operation loses committed data.

use proptest::prelude::*;
use reknit_journal::{
    Append, AppendError, DueEffect, Holder, Journal, KeyChange, KeyClaim, Lease, LeaseTerm, NewEvent, NewRun,
    RunFilter, RunSignal, Snapshot, StatusFilter,
};
use reknit_protocol::RunId;

use crate::support::stores;

/// One operation on a journal. `lease` counts back from the newest lease that was granted so far.
#[derive(Debug, Clone)]
enum Operation {
    Create { run: usize, now: i64 },
    Acquire { run: usize, now: i64, forced: Option<u64> },
    Renew { lease: usize, now: i64 },
    Release { lease: usize },
    Append { lease: usize, behind: u64, events: Vec<usize>, consumed: Vec<usize>, ends: bool },
    Claim { lease: usize, effect: usize },
    ClaimWithKey { lease: usize, step: usize, key: usize, now: i64 },
    Send { run: usize },
    Snapshot { lease: usize, len: u64 },
}

fn operation() -> impl Strategy<Value = Operation> {
    let (run, lease, now) = (0..3_usize, 0..6_usize, 0..40_i64);
    let sizes = prop_oneof![4 => 0..20_usize, 1 => 32_000..33_500_usize];
    let create = (run.clone(), now.clone()).prop_map(|(run, now)| Operation::Create { run, now });
    let acquire = (run.clone(), now.clone(), prop::option::of(0..4_u64))
        .prop_map(|(run, now, forced)| Operation::Acquire { run, now, forced });
    let append = (
        lease.clone(),
        prop_oneof![5 => Just(0), 1 => 1..3_u64],
        prop::collection::vec(sizes, 0..3),
        prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(0..4_usize, 0..3)],
        prop::bool::weighted(0.1),
    )
        .prop_map(|(lease, behind, events, consumed, ends)| Operation::Append {
            lease,
            behind,
            events,
            consumed,
            ends,
        });
    prop_oneof![
        1 => create,
        2 => acquire,
        1 => (lease.clone(), now).prop_map(|(lease, now)| Operation::Renew { lease, now }),
        1 => lease.clone().prop_map(|lease| Operation::Release { lease }),
        6 => append,
        2 => (lease.clone(), 0..3_usize).prop_map(|(lease, effect)| Operation::Claim { lease, effect }),
        3 => (lease.clone(), 0..2_usize, 0..2_usize, 0..40_i64)
            .prop_map(|(lease, step, key, now)| Operation::ClaimWithKey { lease, step, key, now }),
        2 => run.prop_map(|run| Operation::Send { run }),
        1 => (lease, 0..6_u64).prop_map(|(lease, len)| Operation::Snapshot { lease, len }),
    ]
}

fn run_id(run: usize) -> RunId {
    RunId::new(format!("run-{run}"))
}

fn key_claim(key: usize, step: usize) -> KeyClaim {
    let (capability, values) = ("shop/refund".to_owned(), "{}".to_owned());
    KeyClaim { key: format!("key-{key}"), capability, values, window_ms: 15, step: format!("{step}") }
}

fn long_event(size: usize) -> NewEvent {
    let body = format!(r#"{{"size":{size}.0,"text":"{}"}}"#, "x".repeat(size));
    NewEvent::new(i64::try_from(size).unwrap(), "grew", body).with_due([DueEffect::new(format!("e/{size}"), "d")])
}

/// One store, with the leases and signal ids that it has returned so far.
struct TestedStore {
    journal: Journal,
    holder: Holder,
    leases: Vec<Lease>,
    signals: Vec<reknit_journal::SignalId>,
}

impl TestedStore {
    fn new(journal: Journal, holder: &Holder) -> Self {
        Self { journal, holder: holder.clone(), leases: Vec::new(), signals: Vec::new() }
    }

    /// Performs the operation and returns its result as text.
    async fn perform(&mut self, operation: &Operation) -> String {
        let term = |now_ms| LeaseTerm { now_ms, ttl_ms: 10 };
        match operation.clone() {
            Operation::Create { run, now } => {
                let new = NewRun::new(run_id(run), "t", "q", long_event(run));
                let answer = self.journal.create(new, &self.holder, term(now)).await;
                self.leases.extend(answer.as_ref().ok().cloned());
                format!("{answer:?}")
            }
            Operation::Acquire { run, now, forced } => {
                let answer = match forced {
                    None => self.journal.acquire(&run_id(run), &self.holder, term(now)).await,
                    Some(epoch) => self.journal.acquire_forced(&run_id(run), &self.holder, term(now), epoch).await,
                };
                self.leases.extend(answer.as_ref().ok().cloned());
                format!("{answer:?}")
            }
            Operation::Send { run } => {
                let answer = self.journal.send(&run_id(run), RunSignal::new("cancel", "{}"), 1).await;
                self.signals.extend(answer.as_ref().ok().copied());
                format!("{answer:?}")
            }
            Operation::Renew { lease, .. }
            | Operation::Release { lease }
            | Operation::Append { lease, .. }
            | Operation::Claim { lease, .. }
            | Operation::ClaimWithKey { lease, .. }
            | Operation::Snapshot { lease, .. } => match self.leases.iter().rev().nth(lease).cloned() {
                None => "no lease yet".to_owned(),
                Some(lease) => self.perform_with(&lease, operation).await,
            },
        }
    }

    async fn perform_with(&mut self, lease: &Lease, operation: &Operation) -> String {
        match operation.clone() {
            Operation::Renew { now, .. } => {
                format!("{:?}", self.journal.renew(lease, LeaseTerm { now_ms: now, ttl_ms: 10 }).await)
            }
            Operation::Release { .. } => format!("{:?}", self.journal.release(lease).await),
            Operation::Claim { effect, .. } => format!("{:?}", self.journal.claim(lease, &format!("e/{effect}")).await),
            Operation::ClaimWithKey { step, key, now, .. } => {
                let claim = key_claim(key, step);
                format!("{:?}", self.journal.claim_with_key(lease, &format!("{step}/call/{now}"), claim, now).await)
            }
            Operation::Snapshot { len, .. } => {
                let snapshot = Snapshot { len, machine_version: 1, body: format!("{{\"len\":{len}}}") };
                format!("{:?}", self.journal.save_snapshot(lease, snapshot).await)
            }
            Operation::Append { behind, events, consumed, ends, .. } => {
                let before = self.journal.summary(lease.run()).await.unwrap();
                let mut append = Append::at(before.len.saturating_sub(behind));
                // The number of events decides what becomes of the keys.
                append.keys = (0..events.len())
                    .map(|key| KeyChange {
                        claim: key_claim(key, key),
                        receipt: (events.len() > 1).then(|| "1".to_owned()),
                    })
                    .collect();
                append.events = events.into_iter().map(long_event).collect();
                append.consumed = consumed.into_iter().filter_map(|at| self.signals.get(at).copied()).collect();
                if ends {
                    append = append.ending("complete", 99);
                }
                let newest = before.lease.is_some_and(|current| current.epoch == lease.epoch());
                let answer = self.journal.append(lease, append).await;
                assert_eq!(
                    matches!(answer, Err(AppendError::Fenced { .. })),
                    !newest,
                    "only the newest lease may append"
                );
                format!("{answer:?}")
            }
            Operation::Create { .. } | Operation::Acquire { .. } | Operation::Send { .. } => {
                unreachable!("these need no lease")
            }
        }
    }

    /// Everything that can be read, as text.
    async fn read_all(&self) -> Vec<String> {
        let mut results = vec![format!("{:?}", self.journal.runs(&RunFilter::newest(9)).await)];
        results.push(format!("{:?}", self.journal.runs(&RunFilter::of_status(StatusFilter::Unfinished, 2)).await));
        results.push(format!("{:?}", self.journal.runs_meant_by("run-", 2).await));
        results.push(format!("{:?}", self.journal.business_keys().await));
        for run in (0..3).map(run_id) {
            results.push(format!("{:?}", self.journal.events(&run, 0).await));
            results.push(format!("{:?}", self.journal.events(&run, 2).await));
            results.push(format!("{:?}", self.journal.due_effects(&run).await));
            results.push(format!("{:?}", self.journal.claims(&run).await));
            results.push(format!("{:?}", self.journal.inbox(&run).await));
            results.push(format!("{:?}", self.journal.snapshot(&run).await));
        }
        results
    }

    /// The committed events and claims. This list only grows.
    async fn committed(&self) -> Vec<String> {
        let mut committed = Vec::new();
        for run in (0..3).map(run_id) {
            let events = self.journal.events(&run, 0).await.unwrap_or_default();
            committed.extend(events.iter().map(|event| format!("{run} {event:?}")));
            let claims = self.journal.claims(&run).await.unwrap_or_default();
            committed.extend(claims.iter().map(|claim| format!("{run} claim {claim}")));
        }
        committed
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_stores_return_the_same_and_lose_no_committed_data(operations in prop::collection::vec(operation(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let holder = Holder::this_process();
            let stores = stores();
            let [mut memory, mut file] = stores.each_ref().map(|store| TestedStore::new(store.journal.clone(), &holder));
            let mut before = Vec::new();
            for operation in &operations {
                assert_eq!(memory.perform(operation).await, file.perform(operation).await, "{operation:?}");
                let after = memory.committed().await;
                assert!(before.iter().all(|line| after.contains(line)), "{operation:?} lost committed data");
                before = after;
            }
            assert_eq!(memory.read_all().await, file.read_all().await);
        });
    }
}
