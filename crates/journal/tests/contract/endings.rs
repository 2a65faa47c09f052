//! The result that is stored with the ending of a run, and runs that are parked.

use reknit_journal::{Append, Holder, NewRun, RunFilter, StatusFilter};

use crate::support::{event, leased, stores, term};

#[tokio::test]
async fn the_result_of_a_run_is_returned_byte_for_byte() {
    // The second one is long enough for a blob.
    for result in [r#"{"text": "0.10 "}"#.to_owned(), format!(r#"{{"text":"{}"}}"#, "y".repeat(70_000))] {
        for store in stores() {
            let lease = leased(&store.journal, "r").await;
            assert_eq!(store.journal.ending(lease.run()).await.unwrap(), None, "{}", store.name);
            let append = Append::at(1).event(event(1)).ending("complete", 2).result(result.clone());
            store.journal.append(&lease, append).await.unwrap();
            assert_eq!(store.journal.ending(lease.run()).await.unwrap(), Some(result.clone()), "{}", store.name);
        }
    }
}

#[tokio::test]
async fn a_parked_run_is_unfinished_and_free_until_a_driver_appends_to_it() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        store.journal.park(&lease, r#"{"reason":"unknown version"}"#).await.unwrap();
        let unfinished = RunFilter::of_status(StatusFilter::Unfinished, 9);
        let [parked] = store.journal.runs(&unfinished).await.unwrap().try_into().unwrap();
        assert_eq!(parked.parked.as_deref(), Some(r#"{"reason":"unknown version"}"#), "{}", store.name);
        assert_eq!(parked.lease, None, "{}", store.name);

        let lease = store.journal.acquire(lease.run(), &Holder::this_process(), term(0)).await.unwrap();
        assert!(store.journal.summary(lease.run()).await.unwrap().parked.is_some(), "{}", store.name);
        store.journal.append(&lease, Append::at(1).event(event(1))).await.unwrap();
        assert_eq!(store.journal.summary(lease.run()).await.unwrap().parked, None, "{}", store.name);
    }
}

#[tokio::test]
async fn a_run_that_ended_elsewhere_is_stored_with_its_ending() {
    for store in stores() {
        let create = async |append| {
            let new = NewRun { rest: Some(append), ..NewRun::new("r", "x", "", event(0)) };
            store.journal.create(new, &Holder::this_process(), term(0)).await
        };
        create(Append::at(1).event(event(1)).ending("complete", 2)).await.expect("it is stored");
        let summary = store.journal.summary(&"r".into()).await.expect("the run exists");
        assert_eq!((summary.status.as_deref(), summary.len), (Some("complete"), 2), "{}", store.name);
        create(Append::at(1).ending("complete", 2)).await.expect_err("there is one with this id");
    }
}

#[tokio::test]
async fn a_run_is_created_with_its_first_events_and_leased() {
    for store in stores() {
        let create = async |append| {
            let new = NewRun { rest: Some(append), ..NewRun::new("r", "x", "", event(0)) };
            store.journal.create(new, &Holder::this_process(), term(0)).await
        };
        let lease = create(Append::at(1).event(event(1)).event(event(2))).await.expect("it is stored");
        let summary = store.journal.summary(&"r".into()).await.expect("the run exists");
        assert_eq!((summary.status, summary.len), (None, 3), "{}", store.name);
        store.journal.append(&lease, Append::at(3).event(event(3))).await.expect("it is leased");
    }
}
