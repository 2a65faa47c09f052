//! Lists.

use reknit_journal::{Append, Holder, Journal, NewEvent, NewRun, RunFilter, Which};

use crate::kit::{event, leased, stores, term};

async fn made(journal: &Journal, run: &str, at_ms: i64, status: Option<&str>) {
    let first = NewEvent::new(at_ms, "started", "{}");
    let run = NewRun { run: run.into(), title: format!("title of {run}"), first };
    let lease = journal.create(run, &Holder::this_process(), term(0)).await.unwrap();
    if let Some(status) = status {
        journal.append(&lease, Append::at(1).event(event(at_ms + 1)).ending(status, at_ms + 2)).await.unwrap();
    }
}

#[tokio::test]
async fn runs_are_listed_newest_first() {
    for store in stores() {
        made(&store.journal, "old", 100, Some("complete")).await;
        made(&store.journal, "new", 300, None).await;
        made(&store.journal, "failed", 200, Some("failed")).await;
        made(&store.journal, "as old", 100, None).await;
        for (which, limit, expected) in [
            (Which::All, 9, "new failed as old old"),
            (Which::All, 2, "new failed"),
            (Which::All, 0, ""),
            (Which::Unfinished, 9, "new as old"),
            (Which::Ended, 9, "failed old"),
            (Which::Status("failed".to_owned()), 9, "failed"),
            (Which::Status("unheard of".to_owned()), 9, ""),
        ] {
            let runs = store.journal.runs(&RunFilter { which: which.clone(), limit }).await.unwrap();
            let names: Vec<_> = runs.iter().map(|run| run.run.as_str()).collect();
            assert_eq!(names.join(" "), expected, "{} {which:?}", store.name);
        }
        let run = store.journal.summary(&"failed".into()).await.unwrap();
        assert_eq!((run.title.as_str(), run.created_ms, run.updated_ms, run.len), ("title of failed", 200, 202, 2));
    }
}

#[tokio::test]
async fn ids_are_found_by_their_beginning() {
    for store in stores() {
        for run in ["ab1", "ab2", "AB3", "b", "a%", "ä"] {
            leased(&store.journal, run).await;
        }
        for (prefix, limit, expected) in
            [("ab", 9, "ab1 ab2"), ("ab", 1, "ab1"), ("a%", 9, "a%"), ("c", 9, ""), ("", 9, "AB3 a% ab1 ab2 b ä")]
        {
            let found = store.journal.find(prefix, limit).await.unwrap();
            let found: Vec<_> = found.iter().map(reknit_protocol::RunId::as_str).collect();
            assert_eq!(found.join(" "), expected, "{} {prefix}", store.name);
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_read_as_nothing() {
    for store in stores() {
        assert!(!store.journal.exists(&"r".into()).await.unwrap(), "{}", store.name);
        let error = store.journal.events(&"r".into(), 0).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no run `r`", "{}", store.name);
        leased(&store.journal, "r").await;
        assert!(store.journal.exists(&"r".into()).await.unwrap(), "{}", store.name);
    }
}
