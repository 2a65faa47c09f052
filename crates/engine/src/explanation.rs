//! A run in plain words: what was asked, what was done, what failed, how it was mended, what is missing, who decided and what
//! it cost. It follows from the overview of the run alone.

mod run;
mod sentences;
mod session;

use reknit_plan::StepGraph;
use reknit_protocol::{RunId, StepId};
use serde::Serialize;

use crate::overview::{BareOverview, Overview};
use sentences::entry_lines;

/// A run in plain words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    pub run: RunId,
    /// What was asked, word for word.
    pub asked: String,
    /// How it ended, or how far it is, in one sentence.
    pub outcome: String,
    pub planning: Vec<ExplainedLine>,
    /// What was done, step by step; for a session turn by turn.
    pub steps: Vec<ExplainedStep>,
    /// What was said and called in a session, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conversation: Vec<String>,
    /// What failed: the steps, and the errors that were mended.
    pub failed: Vec<String>,
    /// How failures were mended, and by which rung.
    pub mended: Vec<String>,
    pub missing: Vec<String>,
    pub decided: Vec<String>,
    pub cost: Vec<String>,
    /// The steps as a graph; without steps for a session.
    #[serde(skip)]
    pub graph: StepGraph,
}

/// A step, or a turn, in plain words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedStep {
    /// The step: `quote`, or `turn 2`.
    pub step: String,
    /// What it does: `get_stock_quote of stock-tool`.
    pub does: String,
    /// How it ended, or what it waits for.
    pub outcome: String,
    /// What happened, in order.
    pub lines: Vec<ExplainedLine>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedLine {
    /// When it began, in milliseconds since 1970, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// How long it took, if it took time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// What happened, as a sentence.
    pub text: String,
}

/// Explains a run or a session from what is shown about it.
///
/// `status` is the word for a run that has not ended, such as `waiting` or `stopped`, which its overview does not know.
pub fn explain(overview: &Overview, status: &str) -> Explanation {
    match overview {
        Overview::Run(run) => run::explain(run, status),
        Overview::Session(session) => session::explain(session, status),
        Overview::Bare(bare) => explain_bare(bare),
    }
}

/// What is known without a machine: no outcome of a step, but what happened to it.
fn explain_bare(bare: &BareOverview) -> Explanation {
    let step = |(step, entries): (&StepId, &Vec<_>)| ExplainedStep {
        step: step.to_string(),
        does: String::new(),
        outcome: "unknown".to_owned(),
        lines: entry_lines(entries),
    };
    let reason = bare.closed.as_ref().or(bare.problem.as_ref());
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let open = |call: &String| format!("The call `{call}` may have been made; its outcome is unknown.");
    Explanation {
        run: bare.run.clone(),
        asked: bare.title.clone(),
        outcome: format!("The run is {}{reason}.", bare.status),
        planning: Vec::new(),
        steps: bare.history.iter().map(step).collect(),
        conversation: Vec::new(),
        failed: Vec::new(),
        mended: Vec::new(),
        missing: bare.open_calls.iter().map(open).collect(),
        decided: Vec::new(),
        cost: Vec::new(),
        graph: StepGraph::default(),
    }
}
