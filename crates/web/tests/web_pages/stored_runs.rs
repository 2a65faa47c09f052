//! What the recorded runs of the runtime stored when they ended, and pages of it.

use std::path::Path;

use reknit_engine::Overview;
use reknit_web::{PageFrame, RunFacts, run_page, run_panel};
use serde_json::Value as Json;

/// The text that was stored with the ending of each recorded run, by the name of its file.
pub(crate) fn endings() -> Vec<(String, Json)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/tests/golden/v8");
    let mut endings = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the recorded runs are there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a recorded run");
        let lines = text.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        endings.extend(lines.filter_map(|line| line.get("ending").cloned()).map(|ending| (name.clone(), ending)));
    }
    endings.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(endings.len() >= 10, "the recorded runs have no endings");
    endings
}

/// The overview that an ending has; `None` if it is not one.
pub(crate) fn overview(ending: &Json) -> Option<Overview> {
    serde_json::from_str(&ending.to_string()).ok()
}

/// The frame of a reader who may do everything.
pub(crate) fn frame() -> PageFrame<'static> {
    PageFrame { here: "/", now_ms: 1_800_000_000_000, may_run: true, may_approve: true, ..PageFrame::default() }
}

/// The facts of a run that has ended.
pub(crate) fn facts<'a>(overview: &'a Overview, step: Option<&'a str>) -> RunFacts<'a> {
    RunFacts {
        overview,
        run: "run-1",
        status: "partial",
        created_ms: 0,
        updated_ms: 5_000,
        questions: &[],
        interactions: None,
        step,
        only: None,
        from: 0,
    }
}

/// The page of a run, and the panel of each of its steps.
pub(crate) fn pages(overview: &Overview) -> Vec<String> {
    let mut pages = vec![run_page(&frame(), &facts(overview, None)).into_string()];
    if let Overview::Run(run) = overview {
        let panel = |step: &reknit_engine::StepView| {
            run_panel(&facts(overview, Some(step.id.as_str()))).expect("a panel").into_string()
        };
        pages.extend(run.steps.iter().map(panel));
    }
    pages
}
