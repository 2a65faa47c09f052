//! Who accepts a rule, and when it is retired.

use crate::*;
use reknit_mend::{AcceptedBy, BookChange, RuleBook, RuleState};

/// A correction of a currency by a model.
fn currency(run: &str, request: &str, to: &str) -> Lesson {
    let call = failed(r#"{"from": "Pounds"}"#, "`from` is not known", r#"{"known": ["GBP", "USD"]}"#);
    call.requested(request).corrected(&format!("{run}/s"), &format!(r#"{{"from": "{to}"}}"#))
}

fn states(book: &RuleBook) -> Vec<RuleState> {
    book.rules.iter().map(|rule| rule.state).collect()
}

#[test]
fn a_rule_for_a_read_accepts_itself_after_confirmations_from_enough_runs() {
    let mut book = RuleBook::default();
    let confirmed = |run: &str| currency(run, "how much are 5 GBP?", "GBP");
    book.learn(&confirmed("r1"), 2);
    book.learn(&confirmed("r1"), 2);
    assert_eq!(states(&book), [RuleState::Proposed], "one run confirms it once");
    let changes = book.learn(&confirmed("r2"), 2);
    assert_eq!(changes, [BookChange::Accepted(book.rules[0].id.clone())]);
    assert_eq!(book.rules[0].accepted_by, Some(AcceptedBy::Confirmations));
    let changes = book.learn(&currency("r3", "how much are 5 USD?", "USD"), 2);
    assert!(changes.contains(&BookChange::Retired(book.rules[0].id.clone())), "{changes:?}");
}

#[test]
fn a_map_that_no_person_accepted_gives_only_what_the_request_names() {
    let mut book = RuleBook::default();
    for run in ["r1", "r2"] {
        book.learn(&currency(run, "how much are 5 GBP?", "GBP"), 2);
    }
    let rule = book.rules[0].clone();
    assert_eq!(rule.accepted_by, Some(AcceptedBy::Confirmations));
    let call = |request: &str| currency("r3", request, "GBP").call;
    assert!(rule.fix(&call("and 7 GBP?")).is_some());
    assert_eq!(rule.fix(&call("and 7 Egyptian pounds?")), None);
    book.accept(&rule);
    assert!(book.rules[0].fix(&call("and 7 Egyptian pounds?")).is_some(), "a person knows better");
}

#[test]
fn no_rule_accepts_itself_for_another_call_than_a_read_or_if_that_is_not_configured() {
    for (side_effect, after) in [
        (SideEffect::Idempotent, 1),
        (SideEffect::Keyed, 1),
        (SideEffect::Undeclared, 1),
        (SideEffect::Unsafe, 1),
        (SideEffect::Read, 0),
    ] {
        let mut book = RuleBook::default();
        for run in ["r1", "r2", "r3"] {
            let lesson = Lesson { side_effect, ..currency(run, "how much are 5 GBP?", "GBP") };
            book.learn(&lesson, after);
        }
        assert_eq!(states(&book), [RuleState::Proposed], "{side_effect:?} {after}");
    }
}

#[test]
fn a_model_that_is_always_wrong_gets_no_rule_accepted_although_its_tools_accept_the_values() {
    let lies = |run: &str| {
        vec![
            // Another currency than the request names.
            currency(run, "how much are 5 pounds sterling?", "USD"),
            // A number of the request that means something else.
            failed(r#"{"lat": "north"}"#, "`lat` must be a number", "{}")
                .requested("the weather in 3 days")
                .corrected(&format!("{run}/a"), r#"{"lat": 3}"#),
            // A field of a result that has another name.
            failed(r#"{"to": "me"}"#, "`to` is unknown", "{}")
                .after("s1", "crm/find", r#"{"owner": "eve"}"#)
                .corrected(&format!("{run}/b"), r#"{"to": "eve"}"#),
            // A filter that is left out.
            failed(r#"{"customer": 7, "page": 1}"#, "unknown field `customer`", "{}")
                .corrected(&format!("{run}/c"), r#"{"page": 1}"#),
            // What an error has under some key.
            failed(r#"{"size": 1}"#, "`size` is wrong", r#"{"limit": 40}"#)
                .corrected(&format!("{run}/e"), r#"{"size": 40}"#),
            // A rounded amount, the first of several, and a day that may be another one.
            failed(r#"{"price": 19.99}"#, "`price` must be an integer", "{}")
                .corrected(&format!("{run}/f"), r#"{"price": 20}"#),
            failed(r#"{"names": ["ann", "bob"]}"#, "`names` must be a string", "{}")
                .corrected(&format!("{run}/g"), r#"{"names": "ann"}"#),
            failed(r#"{"day": "03/04/2026"}"#, "`day` is not a date", "{}")
                .corrected(&format!("{run}/h"), r#"{"day": "2026-04-03"}"#),
            // A factor.
            failed(r#"{"amount": 12.5}"#, "`amount` must be in cents", "{}")
                .corrected(&format!("{run}/d"), r#"{"amount": 1250}"#),
        ]
    };
    let mut book = RuleBook::default();
    for run in 0..20 {
        for lesson in lies(&format!("r{run}")) {
            book.learn(&lesson, 1);
        }
    }
    assert_eq!(book.rules.len(), 9, "all of them are proposals: {:?}", book.rules);
    assert!(states(&book).iter().all(|state| *state == RuleState::Proposed));
    assert_eq!(book.for_runs(), []);
}

#[test]
fn a_retired_rule_is_not_used_and_not_proposed_again() {
    let mut book = RuleBook::default();
    book.learn(&currency("r1", "", "GBP"), 1);
    let rule = book.rules[0].clone();
    book.accept(&rule);
    assert_eq!(book.for_runs().len(), 1);
    assert!(book.retire(&rule, "rejected in run r2"));
    assert!(!book.retire(&rule, "once more"), "it is retired already");
    book.learn(&currency("r3", "how much are 5 GBP?", "GBP"), 1);
    assert_eq!((states(&book), book.for_runs().len()), (vec![RuleState::Retired], 0));
    assert_eq!(book.rules[0].evidence.retired.as_deref(), Some("rejected in run r2"));
}

#[test]
fn a_rejection_retires_a_rule_once_and_not_after_somebody_accepted_it_again() {
    let mut book = RuleBook::default();
    book.learn(&currency("r1", "", "GBP"), 1);
    let rule = book.rules[0].clone();
    book.accept(&rule);
    assert_eq!(book.reject(&rule, "r2", "no rate"), Some(BookChange::Retired(rule.id.clone())));
    assert_eq!(book.rules[0].evidence.retired.as_deref(), Some("rejected in run r2: no rate"));
    book.accept(&rule);
    assert_eq!(book.reject(&rule, "r2", "no rate"), None, "the same rejection, from a retry or a resumed run");
    assert_eq!(states(&book), [RuleState::Accepted]);
    assert!(book.reject(&rule, "r3", "no rate").is_some());
    assert_eq!(states(&book), [RuleState::Retired], "another run rejects it");
}

#[test]
fn a_rejection_says_nothing_about_a_rule_that_was_corrected_since() {
    let mut book = RuleBook::default();
    book.learn(&currency("r1", "", "GBP"), 1);
    let rule = book.rules[0].clone();
    let mut corrected = rule.clone();
    corrected.error.message = "another message".to_owned();
    book.accept(&corrected);
    assert_eq!(book.reject(&rule, "r2", "no rate"), None);
    assert_eq!(states(&book), [RuleState::Accepted]);
}

#[test]
fn a_place_counts_once_however_often_its_run_ends() {
    let mut book = RuleBook::default();
    for number in 0..60 {
        book.learn(&currency(&format!("r{number}"), "", "GBP"), 0);
    }
    let (helps, calls) = (book.rules[0].evidence.helps.len(), book.rules[0].evidence.model_calls);
    for number in [0, 55] {
        book.learn(&currency(&format!("r{number}"), "", "GBP"), 0);
    }
    assert_eq!((book.rules[0].evidence.helps.len(), book.rules[0].evidence.model_calls), (helps, calls));
}

#[test]
fn a_run_with_many_items_does_not_keep_later_runs_from_confirming_a_rule() {
    let mut book = RuleBook::default();
    let confirmed = |place: &str| currency(place, "how much are 5 GBP?", "GBP");
    for item in 0..60 {
        book.learn(&confirmed(&format!("r1/s[{item}]")), 3);
    }
    assert_eq!(states(&book), [RuleState::Proposed]);
    book.learn(&confirmed("r2"), 3);
    book.learn(&confirmed("r3"), 3);
    assert_eq!(states(&book), [RuleState::Accepted], "{:?}", book.rules[0].evidence);
}
