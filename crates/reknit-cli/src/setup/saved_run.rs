//! Finds runs, keys and rules by a part of their ids, and loads runs.

use reknit_engine::{Event, Overview};
use reknit_journal::{Journal, PrunedRun, RunFilter, StoredEvent};
use reknit_protocol::RunId;
use reknit_protocol::spelling::nearest;
use reknit_runtime::SavedRun;

use crate::output::Failure;

const MAX_LISTED: u32 = 5;

/// Finds a run by its id, the first characters of its id, its short form in `runs list`, or `last`.
pub(crate) async fn find_run(journal: &Journal, name: &str) -> Result<RunId, Failure> {
    if name == "last" {
        let newest = journal.runs(&RunFilter::newest(1)).await.map_err(Failure::journal)?;
        let newest = newest.into_iter().next().map(|summary| summary.run);
        return newest.ok_or_else(|| Failure::usage("the journal has no runs", "start one with `reknit demo`"));
    }
    // An id may be the beginning of another one.
    if journal.exists(&name.into()).await.map_err(Failure::journal)? {
        return Ok(name.into());
    }
    let found = journal.runs_meant_by(name, MAX_LISTED).await.map_err(Failure::journal)?;
    match found.as_slice() {
        [run] => Ok(run.clone()),
        [] => match journal.pruned_run(&name.into()).await.map_err(Failure::journal)? {
            Some(pruned) => Err(Failure::message(pruned_words(&pruned))),
            None => Err(Failure::usage(format!("there is no run `{name}`"), "list your runs with `reknit runs list`")),
        },
        several => {
            let names: Vec<&str> = several.iter().map(RunId::as_str).collect();
            let hint = format!("give more characters of one of: {}", names.join(", "));
            Err(Failure::usage(format!("several runs can be meant by `{name}`"), hint))
        }
    }
}

/// What is left of a run that was pruned or deleted, for people.
pub(crate) fn pruned_words(pruned: &PrunedRun) -> String {
    let at = jiff::Timestamp::from_millisecond(pruned.pruned_ms)
        .map_or_else(|_| "at an unknown time".to_owned(), |at| format!("on {}", at.strftime("%Y-%m-%d at %H:%M UTC")));
    format!("run `{}` was pruned {at}; its status was {}", pruned.run, pruned.status.replace('_', " "))
}

/// How many events are in memory at once.
const PAGE_EVENTS: u32 = 64;

fn decode(event: &StoredEvent) -> Result<Event, Failure> {
    serde_json::from_str(&event.body).map_err(Failure::journal)
}

/// What the build that ended a run stored about it. `None` for a run that has not ended, or that an older build ended without
/// storing anything.
pub(crate) async fn stored_overview(journal: &Journal, run: &RunId) -> Result<Option<Overview>, Failure> {
    let text = journal.ending(run).await.map_err(Failure::journal)?;
    text.map(|text| serde_json::from_str(&text).map_err(Failure::journal)).transpose()
}

pub(crate) async fn load_run(journal: &Journal, run: &RunId) -> Result<SavedRun, Failure> {
    Ok(reknit_runtime::load_run(journal, run).await?)
}

pub(crate) async fn load_events(journal: &Journal, run: &RunId) -> Result<Vec<Event>, Failure> {
    let mut events = Vec::new();
    for_each_event(journal, run, |stored| {
        events.push(decode(stored)?);
        Ok(())
    })
    .await?;
    Ok(events)
}

pub(crate) async fn for_each_event(
    journal: &Journal,
    run: &RunId,
    mut read: impl FnMut(&StoredEvent) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut from_seq = 0;
    loop {
        let page = journal.events_page(run, from_seq, PAGE_EVENTS).await.map_err(Failure::journal)?;
        let Some(last) = page.last() else { return Ok(()) };
        from_seq = last.seq + 1;
        page.iter().try_for_each(&mut read)?;
    }
}

const MAX_NAMED: usize = 5;

/// The only item whose id starts with `name`. `thing` is the word for it in messages, such as `rule`.
pub(crate) fn find_by_id<'a, T>(
    items: &'a [T],
    id: impl Fn(&T) -> String,
    name: &str,
    thing: &str,
) -> Result<&'a T, Failure> {
    let ids: Vec<String> = items.iter().map(id).collect();
    let found: Vec<(&T, &String)> =
        items.iter().zip(&ids).filter(|(_, id)| !name.is_empty() && id.starts_with(name)).collect();
    match found.as_slice() {
        [(item, _)] => Ok(item),
        [] => {
            let hint = match nearest(name, ids.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`? `reknit {thing}s list` lists all {thing}s"),
                None => format!("list the {thing}s with `reknit {thing}s list`"),
            };
            Err(Failure::usage(format!("there is no {thing} `{name}`"), hint))
        }
        several => {
            let names: Vec<&str> = several.iter().take(MAX_NAMED).map(|(_, id)| id.as_str()).collect();
            let hint = format!("give more characters of one of: {}", names.join(", "));
            Err(Failure::usage(format!("several {thing}s start with `{name}`"), hint))
        }
    }
}

/// The items that names stand for, each once. Fails if one of them is unknown.
pub(crate) fn find_all_by_id<'a, T: PartialEq>(
    items: &'a [T],
    id: impl Fn(&T) -> String,
    names: &[String],
    thing: &str,
) -> Result<Vec<&'a T>, Failure> {
    let mut found: Vec<&T> = Vec::new();
    for name in names {
        let item = find_by_id(items, &id, name, thing)?;
        if !found.contains(&item) {
            found.push(item);
        }
    }
    Ok(found)
}

/// Fails if an item is not there any more as it was read: a run or another person may have changed or removed it.
pub(crate) fn require_unchanged(is_there: bool, thing: &str, id: &str) -> Result<(), Failure> {
    if is_there {
        return Ok(());
    }
    let message = format!("{thing} `{id}` has changed in the meantime");
    Err(Failure::usage(message, format!("look at it again with `reknit {thing}s list`")))
}
