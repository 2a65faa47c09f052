//! Claims.

use reknit_journal::{Append, Appended, ClaimOutcome, EffectClaim, Holder, KeyedClaim};

use crate::support::{event, leased, stores, term};

#[tokio::test]
async fn an_effect_can_be_claimed_once_forever() {
    for store in stores() {
        let first = leased(&store.journal, "r").await;
        assert_eq!(store.journal.claim(&first, "step-2/call/0").await.unwrap(), ClaimOutcome::New, "{}", store.name);
        assert_eq!(store.journal.claim(&first, "step-1/call/0").await.unwrap(), ClaimOutcome::New);
        assert_eq!(store.journal.claim(&first, "step-2/call/0").await.unwrap(), ClaimOutcome::AlreadyClaimed);
        let second = store.journal.acquire(first.run(), &Holder::this_process(), term(2000)).await.unwrap();
        assert_eq!(store.journal.claim(&second, "step-2/call/0").await.unwrap(), ClaimOutcome::AlreadyClaimed);
        store.journal.append(&second, Append::at(1).event(event(1)).ending("complete", 1)).await.unwrap();
        assert_eq!(store.journal.claims(first.run()).await.unwrap(), ["step-1/call/0", "step-2/call/0"]);
    }
}

#[tokio::test]
async fn two_runs_can_claim_the_same_effect_id() {
    for store in stores() {
        let (left, right) = (leased(&store.journal, "left").await, leased(&store.journal, "right").await);
        assert_eq!(store.journal.claim(&left, "a").await.unwrap(), ClaimOutcome::New);
        assert_eq!(store.journal.claim(&right, "a").await.unwrap(), ClaimOutcome::New, "{}", store.name);
    }
}

#[tokio::test]
async fn an_append_claims_effects_together_with_its_events() {
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let lease = leased(journal, "r").await;
        let claim = |effect: &str| EffectClaim { effect: effect.to_owned(), key: None, now_ms: 1 };
        let append = |len| Append { claims: vec![claim("a"), claim("b")], ..Append::at(len).event(event(1)) };
        journal.append_and_claim(&lease, append(7)).await.unwrap_err();
        assert_eq!(journal.claims(lease.run()).await.unwrap(), [""; 0], "{name}: a refused append claims nothing");
        journal.claim(&lease, "b").await.unwrap();
        let appended = journal.append_and_claim(&lease, append(1)).await.unwrap();
        let claims = [ClaimOutcome::New, ClaimOutcome::AlreadyClaimed].map(KeyedClaim::Claimed).to_vec();
        assert_eq!(appended, Appended { len: 2, claims }, "{name}");
        assert_eq!(journal.claims(lease.run()).await.unwrap(), ["a", "b"], "{name}");
        assert_eq!(journal.append(&lease, Append::at(2).event(event(2))).await.unwrap(), 3, "{name}");
        assert_eq!(journal.events(lease.run(), 0).await.unwrap().len(), 3, "{name}: the chain of digests is whole");
    }
}
