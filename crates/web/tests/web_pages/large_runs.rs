//! A page stays small however large its run is.

use reknit_engine::Overview;
use reknit_web::{PagePart, run_page};
use serde_json::{Value as Json, json};

use crate::stored_runs::{endings, facts, frame, overview};

/// The most bytes of a page.
const MAX_BYTES: usize = 150_000;

/// A run with this many steps in five layers, each like the first step of a recorded run.
fn large(steps: usize) -> Overview {
    let (_, mut ending) = endings().into_iter().find(|(name, _)| name == "resend").expect("a recorded run");
    let run = ending.get_mut("run").expect("a run");
    let first = run["steps"][0].clone();
    let history = run["history"].as_object().and_then(|history| history.values().next()).cloned().expect("a history");
    let made: Vec<Json> = (0..steps)
        .map(|number| {
            let mut step = first.clone();
            step["id"] = json!(format!("step-{number}"));
            step["capability"] = json!(format!("capability-{}", number % 7));
            let needs: Vec<String> = (number >= 100).then(|| format!("step-{}", number - 100)).into_iter().collect();
            step["needs"] = json!(needs);
            step
        })
        .collect();
    let histories: serde_json::Map<String, Json> =
        (0..steps).map(|number| (format!("step-{number}"), history.clone())).collect();
    run["steps"] = json!(made);
    run["history"] = Json::Object(histories);
    overview(&ending).expect("an overview")
}

#[test]
fn five_hundred_steps_are_folded_into_groups_and_the_page_stays_below_its_limit() {
    let overview = large(500);
    let page = run_page(&frame(), &facts(&overview, Some("step-7")), PagePart::Whole).into_string();
    assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
    let boxes = page.matches("class=\"node ").count();
    assert!((5..=60).contains(&boxes), "{boxes} boxes");
    assert!(page.contains("Later steps") && page.contains("1–60 of 500"), "the timeline has pages");
}

#[test]
fn fifty_steps_are_drawn_one_by_one() {
    let page = run_page(&frame(), &facts(&large(50), None), PagePart::Whole).into_string();
    assert_eq!(page.matches("class=\"node ").count(), 50);
    assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
}
