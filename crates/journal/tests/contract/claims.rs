//! Claims.

use reknit_journal::{Append, ClaimOutcome, Holder};

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
