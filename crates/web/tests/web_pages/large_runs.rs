//! A page stays small however large its run is.

use reknit_engine::Overview;
use reknit_web::{ComparedRun, compare_page, run_page};
use serde_json::{Value as Json, json};

use crate::stored_runs::{endings, facts, frame, overview};

/// The most bytes of a page.
const MAX_BYTES: usize = 150_000;

/// A run with this many steps in layers of a hundred, each like the first step of a recorded run.
fn large(steps: usize) -> Overview {
    made(steps, 100, 7)
}

/// A run whose steps need the one that is `back` before them, and call this many capabilities in turn.
fn made(steps: usize, back: usize, capabilities: usize) -> Overview {
    let (_, mut ending) = endings().into_iter().find(|(name, _)| name == "resend").expect("a recorded run");
    let run = ending.get_mut("run").expect("a run");
    let first = run["steps"][0].clone();
    let history = run["history"].as_object().and_then(|history| history.values().next()).cloned().expect("a history");
    let made: Vec<Json> = (0..steps)
        .map(|number| {
            let mut step = first.clone();
            step["id"] = json!(format!("step-{number}"));
            step["capability"] = json!(format!("capability-{}", number % capabilities));
            let needs: Vec<String> = (number >= back).then(|| format!("step-{}", number - back)).into_iter().collect();
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
    let page = run_page(&frame(), &facts(&overview, Some("step-7"))).into_string();
    assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
    let boxes = page.matches("class=\"node ").count();
    assert!((5..=60).contains(&boxes), "{boxes} boxes");
    assert!(page.contains("Later steps") && page.contains("1–30 of 500"), "the timeline has pages");
}

#[test]
fn fifty_steps_are_drawn_one_by_one() {
    let page = run_page(&frame(), &facts(&large(50), None)).into_string();
    assert_eq!(page.matches("class=\"node ").count(), 50);
    assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
}

#[test]
fn large_plans_of_any_shape_are_folded_and_their_pages_stay_below_the_limit() {
    for (shape, back, capabilities) in
        [("a chain", 1, 1), ("a chain of many tools", 1, 400), ("two rows", 2, 9), ("all at once", 500, 300)]
    {
        let overview = made(500, back, capabilities);
        let page = run_page(&frame(), &facts(&overview, None)).into_string();
        let boxes = page.matches("class=\"node ").count();
        assert!((1..=60).contains(&boxes) && page.len() < MAX_BYTES, "{shape}: {boxes} boxes, {} bytes", page.len());
    }
}

#[test]
fn two_large_runs_are_compared_on_pages_below_the_limit() {
    let (left, right) = (made(500, 100, 7), made(500, 100, 5));
    let run = |overview| ComparedRun { run: "run-1", status: "complete", created_ms: 0, updated_ms: 9, overview };
    let mut from = 0;
    let mut pages = 0;
    loop {
        let page = compare_page(&frame(), &run(&left), &run(&right), from).into_string();
        assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
        pages += 1;
        let Some((_, next)) = page.split_once("&amp;from=") else { break };
        from = next.split('"').next().and_then(|text| text.parse().ok()).expect("a number");
    }
    assert!((2..=20).contains(&pages), "{pages} pages");
}
