//! What the pages of stored runs show.

use reknit_engine::Overview;
use reknit_web::{RunList, run_page, run_panel, runs_page};

use crate::stored_runs::{endings, facts, frame, overview, pages};

fn stored(name: &str) -> Overview {
    let (_, ending) = endings().into_iter().find(|(known, _)| known == name).expect("a recorded run");
    overview(&ending).expect("an overview")
}

/// The page without its tags.
pub(crate) fn text_of(page: &str) -> String {
    let text: Vec<&str> = page.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text)).collect();
    text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_stored_run_has_a_page_without_inline_script_or_style() {
    for (name, ending) in endings() {
        let overview = overview(&ending).unwrap_or_else(|| panic!("{name} is no overview"));
        for page in pages(&overview) {
            assert!(!page.contains(" style=") && !page.contains(" onclick=") && !page.contains("<style"), "{name}");
            assert!(page.matches("<script").count() <= 1, "{name}");
        }
    }
}

#[test]
fn the_panel_of_a_mended_step_shows_each_attempt_with_what_changed_and_which_rung_did_it() {
    let overview = stored("repair-by-feedback");
    let Overview::Run(run) = &overview else { panic!("a run") };
    let step = run.steps.first().expect("a step");
    let panel = run_panel(&facts(&overview, Some(step.id.as_str()))).expect("a panel").into_string();
    let text = text_of(&panel);
    for words in ["Parameters", "Call 1", "Call 2", "Changed by", "feedback", "Result"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(panel.contains("<del>") && panel.contains("<ins>"), "{panel}");
    assert!(!panel.contains("<html"), "only the panel");
}

#[test]
fn a_session_shows_its_report_its_turns_and_why_they_were_reduced() {
    let overview = stored("session-collapse");
    let page = run_page(&frame(), &facts(&overview, None)).into_string();
    let text = text_of(&page);
    for words in ["Report", "Turn 1", "Attempt 1", "Conversation", "The turns were reduced"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_session_says_on_its_page_and_in_plain_words_what_was_not_done_and_what_was_tried() {
    let (_, mut ending) =
        endings().into_iter().find(|(name, _)| name == "session-collapse").expect("a recorded session");
    let call = serde_json::json!({"turn": 1, "call": "call-1", "tool": "bank__pay", "rung": "resend", "change": "sent again after 1 ms"});
    ending["session"]["tried"] = serde_json::json!([call, call]);
    ending["session"]["report"]["not_done"] = serde_json::json!(["`pay` of `bank` failed: 503"]);
    let overview = overview(&ending).expect("an overview");
    let text = text_of(&run_page(&frame(), &facts(&overview, None)).into_string());
    let tried = "call-1 (bank__pay) in turn 1: sent again 2 times, not answered";
    for words in ["Not done: `pay` of `bank` failed: 503", "Tried, and failed", tried] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let explanation = reknit_engine::explain(&overview, "partial");
    assert_eq!((explanation.mended.len(), explanation.tried.as_slice()), (0, &[tried.to_owned()][..]));
    assert!(explanation.missing.contains(&"`pay` of `bank` failed: 503".to_owned()), "{:?}", explanation.missing);
}

#[test]
fn buttons_are_for_what_the_reader_may_do_in_this_state() {
    let overview = stored("failed-step");
    let page = |may_run: bool, status: &str| {
        let (frame, facts) = (reknit_web::PageFrame { may_run, ..frame() }, facts(&overview, None));
        run_page(&frame, &reknit_web::RunFacts { status, ..facts }).into_string()
    };
    assert!(page(true, "partial").contains("Retry what failed"));
    assert!(!page(true, "complete").contains("Retry what failed"));
    assert!(page(true, "running").contains(">Cancel<") && !page(true, "partial").contains(">Cancel<"));
    assert!(page(true, "stopped").contains(">Resume<"));
    assert!(!page(false, "partial").contains("Retry what failed") && !page(false, "running").contains(">Cancel<"));
}

#[test]
fn only_a_run_that_goes_on_is_followed() {
    let overview = stored("failed-step");
    let page = |status: &str| {
        let facts = reknit_web::RunFacts { status, ..facts(&overview, None) };
        run_page(&frame(), &facts).into_string()
    };
    assert!(page("running").contains("data-live=\"/ui/runs/run-1/changes\""));
    assert!(!page("partial").contains("data-live"));
}

#[test]
fn an_empty_list_says_how_to_make_a_run_and_a_search_without_result_how_to_see_all() {
    let empty = runs_page(&frame(), &RunList::default()).into_string();
    assert!(empty.contains("reknit demo"), "{empty}");
    let searched = runs_page(&frame(), &RunList { search: "tea".to_owned(), ..RunList::default() }).into_string();
    assert!(!searched.contains("reknit demo") && searched.contains("Show all runs"), "{searched}");
}
