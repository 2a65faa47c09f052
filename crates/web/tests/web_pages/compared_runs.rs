//! Two runs side by side.

use reknit_engine::Overview;
use reknit_web::{ComparedRun, ListedRun, compare_choice_page, compare_page};
use serde_json::json;

use crate::pages::text_of;
use crate::stored_runs::{endings, frame, overview};

/// A recorded run, and the same run with some fields of its first step changed.
fn pair(name: &str, change: impl Fn(&mut serde_json::Value)) -> (Overview, Overview) {
    let (_, ending) = endings().into_iter().find(|(known, _)| known == name).expect("a recorded run");
    let mut changed = ending.clone();
    change(changed.get_mut("run").expect("a run"));
    (overview(&ending).expect("an overview"), overview(&changed).expect("an overview"))
}

fn run<'a>(run: &'a str, created_ms: i64, overview: &'a Overview) -> ComparedRun<'a> {
    ComparedRun { run, status: "complete", created_ms, updated_ms: created_ms + 1_000, overview }
}

fn page(left: &Overview, right: &Overview) -> String {
    compare_page(&frame(), &run("old", 0, left), &run("new", 5, right), 0).into_string()
}

#[test]
fn what_differs_is_marked_and_what_is_the_same_is_not() {
    let (left, right) = pair("resend", |run| {
        run["steps"][0]["parameters"] = json!({"amount": 99});
        run["spent"]["tool_calls"] = json!(77);
    });
    let text = text_of(&page(&left, &right));
    assert!(text.contains("differs: Tool calls") && text.contains("77"), "{text}");
    assert!(text.contains("differs: Parameter amount") && text.contains("99"), "{text}");
    assert!(!text.contains("differs: Model calls") && !text.contains("differs: State"), "{text}");
    let same = text_of(&page(&left, &left));
    assert!(!same.contains("differs: ") && same.contains("No step differs"), "{same}");
    assert!(text.contains("These runs differ in: tool calls, 1 step."), "{text}");
    assert!(same.contains("These runs do not differ."), "{same}");
}

#[test]
fn a_step_that_only_one_run_has_is_shown_as_such() {
    let (left, right) = pair("resend", |run| run["steps"][0]["id"] = json!("other"));
    let text = text_of(&page(&left, &right));
    assert!(text.contains("not in this run") && text.contains("other"), "{text}");
    assert!(text.contains("2 steps are in one run only"), "{text}");
}

#[test]
fn attempts_questions_and_results_of_a_step_are_compared() {
    let (left, right) = pair("repair-by-feedback", |run| {
        let history = run["history"].as_object_mut().expect("histories");
        for entries in history.values_mut() {
            entries.as_array_mut().expect("entries").retain(|entry| entry["kind"].get("asked").is_none());
            entries.as_array_mut().expect("entries").truncate(1);
        }
    });
    let text = text_of(&page(&left, &right));
    for part in ["differs: Attempts", "1 failed", "differs: Models", "1 question"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_older_run_is_at_the_left_whichever_was_opened_first() {
    let (left, right) = pair("resend", |_| {});
    let (old, new) = (run("old", 0, &left), run("new", 5, &right));
    for page in [compare_page(&frame(), &old, &new, 0), compare_page(&frame(), &new, &old, 0)] {
        let page = page.into_string();
        assert!(page.find("/runs/old\"") < page.find("/runs/new\""), "{page}");
    }
}

#[test]
fn runs_with_the_same_request_are_offered_first() {
    let choice = |run: &str, request: &str| ListedRun {
        run: run.to_owned(),
        request: request.to_owned(),
        ..ListedRun::default()
    };
    let own = choice("a", "tea");
    let page = compare_choice_page(&frame(), &own, &[choice("b", "coffee"), choice("c", "tea"), own.clone()]);
    let page = page.into_string();
    let at = |text: &str| page.find(text).unwrap_or(usize::MAX);
    assert!(
        at("The same request") < at("with=c") && at("with=c") < at("with=b") && at("with=b") < usize::MAX,
        "{page}"
    );
    assert!(!page.contains("with=a"), "a run is not compared with itself: {page}");
}
