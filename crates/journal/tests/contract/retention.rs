//! Pruning and deleting runs.

use reknit_journal::{
    Append, CreateError, DeleteError, Deletion, Holder, Journal, KeyClaim, NewEvent, NewRun, PrunePreview, Retention,
    RunFilter,
};

use crate::support::{event, leased, new_run, stores, term};

const DAY_MS: i64 = 86_400_000;

/// A run with one long value, which ended at this time.
async fn ended(journal: &Journal, run: &str, at_ms: i64, value: &str) {
    let first = NewEvent::new(at_ms, "started", format!(r#"{{"value":"{}"}}"#, value.repeat(40_000)));
    let new = NewRun::new(run, "", format!("request of {run}"), first);
    let lease = journal.create(new, &Holder::this_process(), term(0)).await.unwrap();
    journal.append(&lease, Append::at(1).event(event(at_ms)).ending("complete", at_ms)).await.unwrap();
}

async fn ids(journal: &Journal) -> Vec<String> {
    let runs = journal.runs(&RunFilter::newest(100)).await.unwrap();
    runs.into_iter().map(|summary| summary.run.to_string()).collect()
}

#[tokio::test]
async fn runs_are_pruned_by_age_and_by_number_the_oldest_first() {
    for store in stores() {
        let journal = &store.journal;
        for day in 1..=6 {
            ended(journal, &format!("r{day}"), day * DAY_MS, "x").await;
        }
        let by_age = Retention { max_age_ms: Some(4 * DAY_MS as u64), ..Retention::default() };
        let now_ms = 6 * DAY_MS;
        let preview = journal.preview_prune(&by_age, now_ms).await.unwrap();
        let PrunePreview { ended, by_age_or_number, by_size, .. } = preview;
        assert_eq!((ended, by_age_or_number, by_size), (6, 2, 0), "{}", store.name);
        assert_eq!(journal.prune(&by_age, now_ms).await.unwrap().runs, 2, "{}", store.name);
        assert_eq!(ids(journal).await, ["r6", "r5", "r4", "r3"], "{}", store.name);
        let by_number = Retention { max_runs: Some(1), ..Retention::default() };
        assert_eq!(journal.prune(&by_number, now_ms).await.unwrap().runs, 3, "{}", store.name);
        assert_eq!(ids(journal).await, ["r6"], "{}", store.name);
    }
}

#[tokio::test]
async fn runs_that_have_not_ended_or_are_parked_are_never_pruned() {
    for store in stores() {
        let journal = &store.journal;
        leased(journal, "driven").await;
        let waiting = leased(journal, "waiting").await;
        journal.release(&waiting).await.unwrap();
        let parked = leased(journal, "parked").await;
        journal.park(&parked, "another version").await.unwrap();
        let nothing = Retention { max_age_ms: Some(0), max_runs: Some(0), max_bytes: Some(0) };
        assert_eq!(journal.prune(&nothing, 400 * DAY_MS).await.unwrap().runs, 0, "{}", store.name);
        assert_eq!(ids(journal).await.len(), 3, "{}", store.name);
    }
}

#[tokio::test]
async fn the_id_and_the_digest_of_a_pruned_run_stay_and_the_id_cannot_be_used_again() {
    for store in stores() {
        let journal = &store.journal;
        ended(journal, "r", 5, "x").await;
        journal.prune(&Retention { max_runs: Some(0), ..Retention::default() }, 9).await.unwrap();
        assert!(!journal.exists(&"r".into()).await.unwrap(), "{}", store.name);
        let again = journal.create(new_run("r"), &Holder::this_process(), term(0)).await;
        let Err(CreateError::Pruned(pruned)) = again else { panic!("{}: {again:?}", store.name) };
        assert_eq!(journal.pruned_run(&"r".into()).await.unwrap().as_ref(), Some(&*pruned), "{}", store.name);
        assert_eq!((pruned.request.as_deref(), pruned.status.as_str()), (Some("request of r"), "complete"));
        assert_eq!((pruned.ended_ms, pruned.pruned_ms), (5, 9), "{}", store.name);
    }
}

#[tokio::test]
async fn a_long_value_is_removed_with_the_last_run_that_has_it() {
    for store in stores() {
        let journal = &store.journal;
        ended(journal, "one", 1, "x").await;
        ended(journal, "two", 2, "x").await;
        ended(journal, "three", 3, "y").await;
        let keep = |runs| Retention { max_runs: Some(runs), ..Retention::default() };
        assert_eq!(journal.prune(&keep(2), 9).await.unwrap().blobs, 0, "{}", store.name);
        assert!(journal.events(&"two".into(), 0).await.unwrap()[0].body.len() > 40_000, "{}", store.name);
        assert_eq!(journal.prune(&keep(1), 9).await.unwrap().blobs, 1, "{}", store.name);
        assert!(journal.events(&"three".into(), 0).await.unwrap()[0].body.len() > 40_000, "{}", store.name);
    }
}

#[tokio::test]
async fn business_keys_are_pruned_a_day_after_their_window() {
    for store in stores() {
        let journal = &store.journal;
        let lease = leased(journal, "r").await;
        for (key, window_ms) in [("short", 1_000), ("long", u64::MAX)] {
            let [key, capability, values, step] = [key, "shop/refund", "{}", "s"].map(str::to_owned);
            let effect = format!("{key}/call/1");
            let claim = KeyClaim { key, capability, values, window_ms, step };
            journal.claim_with_key(&lease, &effect, claim, 0).await.unwrap();
        }
        let all = Retention::default();
        assert_eq!(journal.prune(&all, DAY_MS + 999).await.unwrap().keys, 0, "{}", store.name);
        assert_eq!(journal.prune(&all, DAY_MS + 1_000).await.unwrap().keys, 1, "{}", store.name);
        let left = journal.business_keys().await.unwrap();
        assert_eq!(left.iter().map(|key| key.claim.key.as_str()).collect::<Vec<_>>(), ["long"], "{}", store.name);
    }
}

#[tokio::test]
async fn only_a_run_that_no_process_drives_is_deleted_and_an_unfinished_one_only_by_force() {
    for store in stores() {
        let journal = &store.journal;
        let lease = leased(journal, "r").await;
        let driven = journal.delete(&"r".into(), Deletion::Unfinished, 0).await;
        assert!(matches!(driven, Err(DeleteError::Held { .. })), "{}: {driven:?}", store.name);
        journal.release(&lease).await.unwrap();
        let unfinished = journal.delete(&"r".into(), Deletion::Ended, 0).await;
        assert!(matches!(unfinished, Err(DeleteError::Unfinished(_))), "{}: {unfinished:?}", store.name);
        journal.delete(&"r".into(), Deletion::Unfinished, 7).await.unwrap();
        let left = journal.pruned_run(&"r".into()).await.unwrap().unwrap();
        assert_eq!((left.status.as_str(), left.pruned_ms), ("unfinished", 7), "{}", store.name);
        let gone = journal.delete(&"r".into(), Deletion::Ended, 0).await;
        assert!(matches!(gone, Err(DeleteError::NoSuchRun(_))), "{}: {gone:?}", store.name);
    }
}

#[tokio::test]
async fn a_journal_in_memory_forgets_the_runs_that_ended_first_and_keeps_their_ids() {
    let journal = Journal::in_memory_keeping(2);
    let driven = leased(&journal, "driven").await;
    for at_ms in 1..=4 {
        ended(&journal, &format!("r{at_ms}"), at_ms, "x").await;
    }
    assert_eq!(ids(&journal).await, ["r4", "r3", "driven"]);
    assert_eq!(journal.pruned_run(&"r1".into()).await.unwrap().unwrap().status, "complete");
    journal.append(&driven, Append::at(1).event(event(9)).ending("failed", 9)).await.unwrap();
    assert_eq!(ids(&journal).await, ["r4", "driven"]);
}
