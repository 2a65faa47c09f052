//! Business keys: one call at a time does a deed, and its receipt is for all others.

use reknit_journal::{
    Append, ClaimOutcome, EffectClaim, FenceError, Journal, KeyChange, KeyClaim, KeyedClaim, Lease, StoredKey,
};

use crate::support::{event, leased, leased_by, process_on_laptop, stores, term};

fn key(step: &str) -> KeyClaim {
    let [key, capability, values, step] = ["k", "shop/refund", r#"{"order_id":7}"#, step].map(str::to_owned);
    KeyClaim { key, capability, values, window_ms: 1_000, step }
}

fn stored(run: &str, step: &str, since_ms: i64, receipt: Option<&str>) -> StoredKey {
    StoredKey { claim: key(step), run: run.into(), since_ms, receipt: receipt.map(str::to_owned) }
}

async fn claim(journal: &Journal, lease: &Lease, effect: &str, now_ms: i64) -> KeyedClaim {
    journal.claim_with_key(lease, &format!("{effect}/call/1"), key(effect), now_ms).await.unwrap()
}

const NEW: KeyedClaim = KeyedClaim::Claimed(ClaimOutcome::New);

fn change(len: u64, at_ms: i64, step: &str, receipt: Option<&str>) -> Append {
    let change = KeyChange { claim: key(step), receipt: receipt.map(str::to_owned) };
    Append { keys: vec![change], ..Append::at(len).event(event(at_ms)) }
}

#[tokio::test]
async fn a_pending_key_holds_back_every_other_call_and_its_receipt_answers_them() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let (a, b) = (leased(journal, "a").await, leased(journal, "b").await);
        assert_eq!(claim(journal, &a, "s", 10).await, NEW, "{name}");
        let held = KeyedClaim::Held { by: stored("a", "s", 10, None), has_ended: false };
        assert_eq!(claim(journal, &b, "s", 20).await, held, "{name}");
        assert_eq!(claim(journal, &a, "other", 20).await, held, "{name}: another step of the same run");
        assert_eq!(journal.claims(b.run()).await.unwrap(), [""; 0], "{name}: nothing is claimed");
        journal.append(&a, change(1, 30, "s", Some(r#"{"refund": 12}"#))).await.unwrap();
        let done = stored("a", "s", 30, Some(r#"{"refund": 12}"#));
        assert_eq!(claim(journal, &b, "s", 1_029).await, KeyedClaim::Done(done.clone()), "{name}");
        assert_eq!(journal.business_keys().await.unwrap(), [done], "{name}");
        assert_eq!(claim(journal, &b, "s", 1_030).await, NEW, "{name}: the window is over");
        assert_eq!(journal.business_keys().await.unwrap(), [stored("b", "s", 1_030, None)], "{name}");
    }
}

#[tokio::test]
async fn a_key_counts_among_the_runs_of_one_owner() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let (ann, bob) = (leased_by(journal, "a", "ann").await, leased_by(journal, "b", "bob").await);
        let nobody = leased(journal, "n").await;
        for lease in [&ann, &bob, &nobody] {
            assert_eq!(claim(journal, lease, "s", 10).await, NEW, "{name}: {}", lease.run());
        }
        journal.append(&ann, change(1, 20, "s", Some("1"))).await.unwrap();
        let (more_of_ann, more_of_bob) = (leased_by(journal, "a2", "ann").await, leased_by(journal, "b2", "bob").await);
        let done = claim(journal, &more_of_ann, "s", 30).await;
        assert!(matches!(&done, KeyedClaim::Done(key) if key.run.as_str() == "a"), "{name}: {done:?}");
        let held = claim(journal, &more_of_bob, "s", 30).await;
        assert!(matches!(&held, KeyedClaim::Held { by, .. } if by.run.as_str() == "b"), "{name}: {held:?}");
        // A person who decides in a run of bob settles nothing of ann, nor does a release.
        journal.append(&bob, change(1, 40, "s", None)).await.unwrap();
        assert_eq!(claim(journal, &more_of_bob, "s", 50).await, NEW, "{name}");
        assert_eq!(claim(journal, &more_of_ann, "s", 50).await, done, "{name}");
    }
}

#[tokio::test]
async fn the_step_that_has_the_key_may_send_its_call_again() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let a = leased(journal, "a").await;
        assert_eq!(claim(journal, &a, "s", 10).await, NEW, "{name}");
        let again = journal.claim_with_key(&a, "s/call/2", key("s"), 20).await.unwrap();
        assert_eq!(again, NEW, "{name}");
        assert_eq!(journal.claims(a.run()).await.unwrap(), ["s/call/1", "s/call/2"], "{name}");
        let twice = claim(journal, &a, "s", 20).await;
        assert_eq!(twice, KeyedClaim::Claimed(ClaimOutcome::AlreadyClaimed), "{name}");
    }
}

#[tokio::test]
async fn a_released_key_is_free_and_a_key_of_another_call_is_left_alone() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let (a, b) = (leased(journal, "a").await, leased(journal, "b").await);
        claim(journal, &a, "s", 10).await;
        journal.append(&b, change(1, 20, "s", None)).await.unwrap();
        journal.append(&b, change(2, 20, "s", Some("1"))).await.unwrap();
        assert_eq!(journal.business_keys().await.unwrap(), [stored("a", "s", 10, None)], "{name}");
        journal.append(&a, change(1, 30, "s", None)).await.unwrap();
        assert_eq!(journal.business_keys().await.unwrap(), [], "{name}");
        assert_eq!(claim(journal, &b, "s", 40).await, NEW, "{name}");
    }
}

#[tokio::test]
async fn a_refused_append_changes_no_key() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let a = leased(journal, "a").await;
        claim(journal, &a, "s", 10).await;
        journal.append(&a, change(7, 30, "s", Some("1"))).await.unwrap_err();
        assert_eq!(journal.business_keys().await.unwrap(), [stored("a", "s", 10, None)], "{name}");
    }
}

#[tokio::test]
async fn a_process_that_lost_its_lease_cannot_claim_a_key() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let a = leased(journal, "a").await;
        journal.acquire_forced(a.run(), &process_on_laptop(), term(1), a.epoch()).await.unwrap();
        let refused = journal.claim_with_key(&a, "s/call/1", key("s"), 10).await;
        assert!(matches!(refused, Err(FenceError::Fenced { .. })), "{name}: {refused:?}");
        assert_eq!(journal.business_keys().await.unwrap(), [], "{name}");
    }
}

#[tokio::test]
async fn the_key_of_a_run_that_ended_with_an_unknown_outcome_stays_until_a_person_settles_it() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let (a, b) = (leased(journal, "a").await, leased(journal, "b").await);
        claim(journal, &a, "s", 10).await;
        journal.append(&a, Append::at(1).ending("failed", 20)).await.unwrap();
        let pending = stored("a", "s", 10, None);
        let held = KeyedClaim::Held { by: pending.clone(), has_ended: true };
        assert_eq!(claim(journal, &b, "s", 30).await, held, "{name}");
        assert!(!journal.settle_key(&stored("a", "s", 11, None), "7", 40).await.unwrap(), "{name}: another key");
        assert!(journal.settle_key(&pending, "7", 40).await.unwrap(), "{name}");
        let done = stored("a", "s", 40, Some("7"));
        assert_eq!(claim(journal, &b, "s", 50).await, KeyedClaim::Done(done.clone()), "{name}");
        assert!(!journal.forget_key(&pending).await.unwrap(), "{name}: it has changed");
        assert!(journal.forget_key(&done).await.unwrap(), "{name}");
        assert_eq!(claim(journal, &b, "s", 60).await, NEW, "{name}");
    }
}

#[tokio::test]
async fn the_receipt_of_a_forgotten_key_is_stored_again() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let a = leased(journal, "a").await;
        claim(journal, &a, "s", 10).await;
        assert!(journal.forget_key(&stored("a", "s", 10, None)).await.unwrap(), "{name}");
        journal.append(&a, change(1, 30, "s", Some("1"))).await.unwrap();
        assert_eq!(journal.business_keys().await.unwrap(), [stored("a", "s", 30, Some("1"))], "{name}");
        // What has a receipt is done, whatever a run decides later.
        journal.append(&a, change(2, 40, "s", None)).await.unwrap();
        assert_eq!(journal.business_keys().await.unwrap(), [stored("a", "s", 30, Some("1"))], "{name}");
    }
}

#[tokio::test]
async fn an_append_claims_keys_after_what_it_changes_about_them_and_a_taken_key_does_not_fail_it() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let (a, b) = (leased(journal, "a").await, leased(journal, "b").await);
        assert_eq!(claim(journal, &a, "s", 10).await, NEW, "{name}");
        let with_claim = |append: Append, now_ms| {
            let claim = EffectClaim { effect: "t/call/1".to_owned(), key: Some(key("t")), now_ms };
            Append { claims: vec![claim], ..append }
        };
        let held = KeyedClaim::Held { by: stored("a", "s", 10, None), has_ended: false };
        let appended = journal.append_and_claim(&b, with_claim(Append::at(1).event(event(20)), 20)).await.unwrap();
        assert_eq!((appended.len, appended.claims), (2, vec![held]), "{name}");
        assert_eq!(journal.claims(b.run()).await.unwrap(), [""; 0], "{name}: nothing is claimed");
        let appended = journal.append_and_claim(&a, with_claim(change(1, 30, "s", None), 30)).await.unwrap();
        assert_eq!(appended.claims, [NEW], "{name}: the same append released the key");
        assert_eq!(journal.business_keys().await.unwrap(), [stored("a", "t", 30, None)], "{name}");
    }
}
