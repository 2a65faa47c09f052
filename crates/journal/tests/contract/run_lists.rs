//! Lists of runs, and lookup by id.

use reknit_journal::{Append, Holder, Journal, NewEvent, NewRun, RunFilter, StatusFilter};

use crate::support::{event, leased, new_run, stores, term};

async fn create_run(journal: &Journal, run: &str, at_ms: i64, status: Option<&str>) {
    let first = NewEvent::new(at_ms, "started", "{}");
    let run = NewRun::new(run, format!("title of {run}"), "", first);
    let lease = journal.create(run, &Holder::this_process(), term(0)).await.unwrap();
    if let Some(status) = status {
        journal.append(&lease, Append::at(1).event(event(at_ms + 1)).ending(status, at_ms + 2)).await.unwrap();
    }
}

#[tokio::test]
async fn runs_are_filtered_by_status_time_and_title_and_listed_newest_first() {
    for store in stores() {
        create_run(&store.journal, "old", 100, Some("complete")).await;
        create_run(&store.journal, "new", 300, None).await;
        create_run(&store.journal, "failed", 200, Some("failed")).await;
        create_run(&store.journal, "as old", 100, None).await;
        for (status, limit, expected) in [
            (StatusFilter::All, 9, "new failed as old old"),
            (StatusFilter::All, 2, "new failed"),
            (StatusFilter::All, 0, ""),
            (StatusFilter::Unfinished, 9, "new as old"),
            (StatusFilter::Ended, 9, "failed old"),
            (StatusFilter::Status("failed".to_owned()), 9, "failed"),
            (StatusFilter::Status("unknown".to_owned()), 9, ""),
        ] {
            let runs = store.journal.runs(&RunFilter::of_status(status.clone(), limit)).await.unwrap();
            let names: Vec<_> = runs.iter().map(|run| run.run.as_str()).collect();
            assert_eq!(names.join(" "), expected, "{} {status:?}", store.name);
        }
        for (since_ms, title, expected) in [
            (Some(200), None, "new failed"),
            (Some(301), None, ""),
            (None, Some("of F"), "failed"),
            (None, Some("OLD"), "as old old"),
            (None, Some("%"), ""),
            (Some(101), Some("title"), "new failed"),
        ] {
            let title = title.map(str::to_owned);
            let runs = store.journal.runs(&RunFilter { since_ms, title, ..RunFilter::newest(9) }).await.unwrap();
            let names: Vec<_> = runs.iter().map(|run| run.run.as_str()).collect();
            assert_eq!(names.join(" "), expected, "{} {since_ms:?}", store.name);
        }
        assert_eq!(store.journal.run_count().await.unwrap(), 4, "{}", store.name);
        let run = store.journal.summary(&"failed".into()).await.unwrap();
        assert_eq!((run.title.as_str(), run.created_ms, run.updated_ms, run.len), ("title of failed", 200, 202, 2));
    }
}

#[tokio::test]
async fn runs_are_found_by_a_part_of_their_ids() {
    for store in stores() {
        let long = "0199a6c2-0000-7000-8000-00000b99d474";
        for run in ["ab1", "ab2", "AB3", "b", "a%", "ä", long, "00b99d474"] {
            leased(&store.journal, run).await;
        }
        for (part, limit, expected) in [
            ("ab", 9, "ab1 ab2"),
            ("ab", 1, "ab1"),
            ("a%", 9, "a%"),
            ("c", 9, ""),
            ("b9", 9, ""),
            ("b99d474", 9, ""),
            ("0b99d474", 9, "00b99d474 0199a6c2-0000-7000-8000-00000b99d474"),
            ("00b99d474", 9, "00b99d474 0199a6c2-0000-7000-8000-00000b99d474"),
            ("00b99d474", 1, "00b99d474"),
            ("0000b99d474", 9, long),
            ("%b99d474", 9, ""),
            ("a", 9, "a% ab1 ab2"),
        ] {
            let found = store.journal.runs_meant_by(part, limit).await.unwrap();
            let found: Vec<_> = found.iter().map(reknit_protocol::RunId::as_str).collect();
            assert_eq!(found.join(" "), expected, "{} {part}", store.name);
        }
    }
}

#[tokio::test]
async fn reading_an_unknown_run_is_an_error() {
    for store in stores() {
        assert!(!store.journal.exists(&"r".into()).await.unwrap(), "{}", store.name);
        let error = store.journal.events(&"r".into(), 0).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no run `r`", "{}", store.name);
        leased(&store.journal, "r").await;
        assert!(store.journal.exists(&"r".into()).await.unwrap(), "{}", store.name);
    }
}

#[tokio::test]
async fn a_list_goes_on_after_a_run_and_shows_the_runs_of_an_owner() {
    for store in stores() {
        for (at_ms, run) in [(100, "a"), (100, "b"), (200, "c"), (300, "d")] {
            let first = NewEvent::new(at_ms, "started", "{}");
            let owner = (run != "c").then(|| "ann".to_owned());
            let new = NewRun { owner, first, ..new_run(run) };
            store.journal.create(new, &Holder::this_process(), term(0)).await.unwrap();
        }
        for (after, owner, expected) in [
            (None, None, "d c b a"),
            (Some("d"), None, "c b a"),
            (Some("b"), None, "a"),
            (Some("a"), None, ""),
            (Some("unknown"), None, ""),
            (None, Some("ann"), "d b a"),
            (Some("d"), Some("ann"), "b a"),
            (None, Some("bob"), ""),
        ] {
            let filter =
                RunFilter { after: after.map(Into::into), owner: owner.map(str::to_owned), ..RunFilter::newest(9) };
            let runs = store.journal.runs(&filter).await.unwrap();
            let names: Vec<_> = runs.iter().map(|run| run.run.as_str()).collect();
            assert_eq!(names.join(" "), expected, "{} {after:?} {owner:?}", store.name);
        }
    }
}
