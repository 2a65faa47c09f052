//! What owners spend, and the budgets that limit it.

use reknit_journal::{
    Append, CreateError, Deletion, Holder, Journal, Lease, LeaseError, NewRun, Reopening, Reservation, Spending,
};
use reknit_protocol::RunId;

use crate::support::{event, new_run, stores, term};

fn reservation(amount: u64) -> Reservation {
    Reservation { account: "ann".to_owned(), month: "2026-11".to_owned(), amount, limit: 100 }
}

async fn spending(journal: &Journal) -> (u64, u64) {
    let Spending { spent, reserved } = journal.spending("ann", "2026-11").await.unwrap();
    (spent, reserved)
}

async fn create(journal: &Journal, run: &str, amount: u64) -> Result<Lease, CreateError> {
    let new = NewRun { owner: Some("ann".to_owned()), reservation: Some(reservation(amount)), ..new_run(run) };
    journal.create(new, &Holder::this_process(), term(0)).await
}

async fn reopen(
    journal: &Journal,
    run: &RunId,
    cost_so_far: u64,
    reservation: Option<Reservation>,
) -> Result<Lease, LeaseError> {
    let reopening = Reopening { expected_len: 2, cost_so_far, reservation };
    journal.reopen(run, &Holder::this_process(), term(0), reopening).await
}

#[tokio::test]
async fn a_run_reserves_what_it_may_cost_and_counts_with_its_cost_when_it_ends() {
    for store in stores() {
        let journal = &store.journal;
        let lease = create(journal, "a", 60).await.unwrap();
        assert_eq!(spending(journal).await, (0, 60), "{}", store.name);
        let Err(CreateError::OverBudget(refused)) = create(journal, "b", 41).await else { panic!("{}", store.name) };
        assert_eq!((refused.left, refused.limit), (40, 100));
        assert!(!journal.exists(&"b".into()).await.unwrap(), "nothing was written");
        journal.append(&lease, Append::at(1).event(event(1)).ending("complete", 1).cost(25)).await.unwrap();
        assert_eq!(spending(journal).await, (25, 0), "{}", store.name);
        create(journal, "b", 41).await.unwrap();
        assert_eq!(journal.spending("ann", "2026-12").await.unwrap(), Spending::default());
        assert_eq!(journal.summary(&"b".into()).await.unwrap().owner.as_deref(), Some("ann"));
    }
}

#[tokio::test]
async fn a_run_that_goes_on_after_its_end_counts_only_what_it_costs_from_then_on() {
    for store in stores() {
        let (journal, run) = (&store.journal, "a".into());
        let lease = create(journal, "a", 60).await.unwrap();
        journal.append(&lease, Append::at(1).event(event(1)).ending("failed", 1).cost(25)).await.unwrap();
        let refused = reopen(journal, &run, 25, Some(reservation(76))).await;
        assert!(matches!(refused, Err(LeaseError::OverBudget(_))), "{}: {refused:?}", store.name);
        assert_eq!(journal.summary(&run).await.unwrap().status.as_deref(), Some("failed"), "nothing was written");
        let lease = reopen(journal, &run, 25, Some(reservation(60))).await.unwrap();
        assert_eq!(spending(journal).await, (25, 60), "{}", store.name);
        let refused = reopen(journal, &run, 25, Some(reservation(10))).await;
        assert!(matches!(refused, Err(LeaseError::NotEnded(_))), "{}: {refused:?}", store.name);
        assert_eq!(spending(journal).await, (25, 60), "{}: it is reserved once", store.name);
        journal.append(&lease, Append::at(2).event(event(2)).ending("complete", 2).cost(40)).await.unwrap();
        assert_eq!(spending(journal).await, (40, 0), "{}", store.name);
    }
}

#[tokio::test]
async fn a_run_whose_cost_is_not_known_counts_with_all_that_it_reserved() {
    for store in stores() {
        let lease = create(&store.journal, "a", 60).await.unwrap();
        store.journal.append(&lease, Append::at(1).event(event(1)).ending("failed", 1)).await.unwrap();
        assert_eq!(spending(&store.journal).await, (60, 0), "{}", store.name);
    }
}

#[tokio::test]
async fn of_calls_at_the_same_time_only_those_are_reserved_that_the_budget_covers() {
    for store in stores() {
        let journal = store.journal.clone();
        let calls = (0..10).map(|_| {
            let journal = journal.clone();
            tokio::spawn(async move { journal.reserve(&reservation(30)).await.is_ok() })
        });
        let mut reserved = 0;
        for call in calls.collect::<Vec<_>>() {
            reserved += u32::from(call.await.unwrap());
        }
        assert_eq!((reserved, spending(&journal).await), (3, (0, 90)), "{}", store.name);
        journal.settle(&reservation(30), 12).await.unwrap();
        assert_eq!(spending(&journal).await, (12, 60), "{}", store.name);
        assert!(journal.reserve(&reservation(0)).await.is_err(), "{}: nothing cannot be reserved", store.name);
    }
}

#[tokio::test]
async fn what_a_run_has_cost_before_anybody_paid_for_it_is_not_counted() {
    for store in stores() {
        let (journal, run) = (&store.journal, "a".into());
        let lease = journal.create(new_run("a"), &Holder::this_process(), term(0)).await.unwrap();
        journal.append(&lease, Append::at(1).event(event(1)).ending("failed", 1).cost(500)).await.unwrap();
        let lease = reopen(journal, &run, 500, Some(reservation(60))).await.unwrap();
        journal.append(&lease, Append::at(2).event(event(2)).ending("complete", 2).cost(510)).await.unwrap();
        assert_eq!(spending(journal).await, (10, 0), "{}", store.name);
    }
}

#[tokio::test]
async fn a_run_that_is_deleted_before_its_end_counts_with_all_that_it_reserved() {
    for store in stores() {
        let lease = create(&store.journal, "a", 60).await.unwrap();
        store.journal.release(&lease).await.unwrap();
        store.journal.delete(&"a".into(), Deletion::Unfinished, 0).await.unwrap();
        assert_eq!(spending(&store.journal).await, (60, 0), "{}", store.name);
    }
}

#[tokio::test]
async fn a_former_payer_does_not_pay_for_what_a_caller_without_a_budget_continues() {
    for store in stores() {
        let (journal, run) = (&store.journal, "a".into());
        let lease = create(journal, "a", 60).await.unwrap();
        journal.append(&lease, Append::at(1).event(event(1)).ending("failed", 1).cost(25)).await.unwrap();
        let lease = reopen(journal, &run, 25, None).await.unwrap();
        journal.append(&lease, Append::at(2).event(event(2)).ending("complete", 2).cost(70)).await.unwrap();
        assert_eq!(spending(journal).await, (25, 0), "{}", store.name);
    }
}
