//! The answer of a run: results, and the account behind it with repairs, failed repairs and missing results.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use reknit_expressions::abridge;
use reknit_mend::{Fate, Mend, applied, tried_in_vain};
use reknit_protocol::{CapabilityName, Object, RunId, StepId, ToolName, exact, word_enum};
use serde::{Deserialize, Serialize};

use crate::budget::Spent;
use crate::event::DecidedBy;
use crate::result_handle::{ResultHandle, response_data};

word_enum! {
    /// The final status of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        Complete = "complete",
        Partial = "partial",
        /// No step succeeded, or there was no plan.
        Failed = "failed",
        /// The tools cannot serve the request.
        Impossible = "impossible",
        Cancelled = "cancelled",
        BudgetExhausted = "budget_exhausted",
    }
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub status: Status,
    pub text: String,
    pub written_by: AnswerAuthor,
    /// The reason for the status, if the steps do not explain it.
    pub reason: Option<String>,
    /// What a reader should verify: numbers that no result explains, or that no step used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The outcome of each step, in the order of the plan.
    pub steps: Vec<StepReport>,
    /// The outputs of the plan, by name.
    #[serde(with = "exact", default, skip_serializing_if = "Object::is_empty")]
    pub outputs: Object,
    /// The names of the outputs that an expression computed: no result has their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed_outputs: Vec<String>,
    /// The outputs that could not be computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_outputs: Vec<MissingOutput>,
    /// The times that the planner was asked for a plan of what is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replannings: Vec<Replanning>,
    pub spent: Spent,
}

impl Answer {
    /// The text. Behind a model's text it adds the repairs and missing results, which a model may omit.
    pub fn full_text(&self) -> String {
        match self.written_by {
            AnswerAuthor::Model => format!("{}{}", self.text, account_text(self)),
            AnswerAuthor::Template | AnswerAuthor::Raw | AnswerAuthor::TemplateInstead(_) => self.text.clone(),
        }
    }
}

/// An output without a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingOutput {
    pub name: String,
    pub reason: String,
}

/// The author of an answer's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerAuthor {
    /// A model, from the results.
    Model,
    /// Code, because the policy says so or no step succeeded.
    Template,
    /// Code: the text is the results as JSON.
    Raw,
    /// Code, because no model could; with the reason.
    TemplateInstead(String),
}

/// The outcome of a step, and its repairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    pub step: StepId,
    /// The step with the loop, if this is one of its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_of: Option<StepId>,
    #[serde(rename = "agent")]
    pub tool: ToolName,
    pub capability: CapabilityName,
    /// The run with the session of its agent, if the step ran one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<RunId>,
    pub outcome: Outcome,
    /// Whether a second plan does in another way what the step was for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
    /// The repairs, in order.
    pub mends: Vec<Mend>,
    /// The approvals that rules asked for, or that changed the call, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<StepApproval>,
    pub calls: u32,
}

impl StepReport {
    /// What mended the step: it failed, or its values did not fit, and it is done.
    pub fn mended(&self) -> impl Iterator<Item = &Mend> {
        applied(&self.mends, self.calls).filter(|_| self.is_done())
    }

    /// What was tried for a step that is not done.
    pub fn tried(&self) -> impl Iterator<Item = &Mend> {
        applied(&self.mends, self.calls).filter(|_| !self.is_done())
    }

    fn is_done(&self) -> bool {
        matches!(self.outcome, Outcome::Done(_))
    }
}

/// The approval of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepApproval {
    pub by: DecidedBy,
    pub reason: String,
    /// What they changed: `amount: 500 -> 50`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl std::fmt::Display for StepApproval {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { by, reason, change } = self;
        match change {
            Some(change) => write!(out, "edited and approved by {}: {change} ({reason})", by.as_str()),
            None => write!(out, "approved by {} ({reason})", by.as_str()),
        }
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done(ResultHandle),
    Failed {
        reason: String,
        /// Whether the call may have taken effect.
        fate: Fate,
    },
    /// The call was made, but its result or its effect is not as the plan expects.
    Unconfirmed {
        reason: String,
        result: ResultHandle,
    },
    Skipped {
        reason: String,
    },
}

/// One time that the planner was asked for a plan of what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Replanning {
    /// The failed steps that led to it.
    pub failed: Vec<StepId>,
    /// The steps of the new plan; none while the planner is asked, and if there is no new plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<StepId>,
    /// Why there is no new plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gave_up: Option<String>,
}

impl fmt::Display for Replanning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |steps: &[StepId]| steps.iter().map(StepId::as_str).collect::<Vec<_>>().join(", ");
        write!(out, "after {} failed: ", names(&self.failed))?;
        match &self.gave_up {
            Some(reason) => write!(out, "no other plan ({reason})"),
            None if self.added.is_empty() => out.write_str("the planner is asked for another plan"),
            None => write!(out, "{}", names(&self.added)),
        }
    }
}

/// How much of an unconfirmed result is shown, in bytes of JSON.
const SHOWN_RESULT: usize = 500;

/// The most lines of one section about the items of a loop.
const MAX_ITEM_LINES: usize = 20;

/// The account of repairs, failed repairs and missing results that follows an answer; empty if there is none.
pub(crate) fn account_text(answer: &Answer) -> String {
    let Answer { status, steps, missing_outputs: missing, replannings, .. } = answer;
    let mut text = String::new();
    for (title, lines) in [
        ("Planned again", replanned_lines(replannings)),
        ("Approved", approved_lines(steps)),
        ("Mended", mended_lines(steps)),
        ("Tried", tried_lines(steps)),
        (missing_title(*status), shown_missing_lines(steps, missing)),
    ] {
        add_section(&mut text, title, &lines);
    }
    text
}

pub(crate) fn add_section(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let lines: Vec<String> = lines.iter().map(|line| one_line(line)).collect();
        // Writing to a string cannot fail.
        let _ = write!(text, "\n\n{title}:\n{}", lines.join("\n"));
    }
}

/// A line whose text of tools and models cannot begin another one: line breaks, control characters and marks that change
/// the text direction are escaped.
pub(crate) fn one_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => shown.extend(c.escape_unicode()),
            _ if c.is_control() => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

/// The calls that were approved.
pub(crate) fn approved_lines(steps: &[StepReport]) -> Vec<String> {
    let approvals = steps.iter().flat_map(|step| step.approvals.iter().map(move |approval| (step, approval)));
    limited(approvals.map(|(step, approval)| (step, format!("- {}: {approval}", step.step))))
}

/// The repairs of steps that succeeded.
pub(crate) fn mended_lines(steps: &[StepReport]) -> Vec<String> {
    let applied = steps.iter().flat_map(|step| step.mended().map(move |mend| (step, mend)));
    limited(
        applied.map(|(step, mend)| (step, format!("- {} by {}: {}", step.step, mend.rung.as_str(), mend.description))),
    )
}

/// What was tried for steps that failed nevertheless.
pub(crate) fn tried_lines(steps: &[StepReport]) -> Vec<String> {
    let lines = steps.iter().flat_map(|step| {
        let tried = step.tried().map(|mend| (mend.rung, mend.description.as_str()));
        tried_in_vain(&format!("- {}", step.step), tried).into_iter().map(move |line| (step, line))
    });
    limited(lines)
}

/// The second plans, and why there is none.
pub(crate) fn replanned_lines(replannings: &[Replanning]) -> Vec<String> {
    replannings.iter().map(|replanning| format!("- {replanning}")).collect()
}

/// The title of the steps without a result. A complete answer only has steps whose conditions were false.
pub(crate) fn missing_title(status: Status) -> &'static str {
    if status == Status::Complete { "Skipped" } else { "Missing" }
}

/// The steps and outputs without a result, for people. Prompts keep their words, which are part of what was asked.
pub(crate) fn shown_missing_lines(steps: &[StepReport], missing: &[MissingOutput]) -> Vec<String> {
    let shown = |line: String| line.replace("skipped: skipped by condition: ", "skipped by its condition: ");
    missing_lines(steps, missing).into_iter().map(shown).collect()
}

/// The steps and outputs without a result. What a second plan does instead of a step is in its own steps.
pub(crate) fn missing_lines(steps: &[StepReport], missing: &[MissingOutput]) -> Vec<String> {
    let line = |step: &StepReport| match &step.outcome {
        Outcome::Done(_) => None,
        Outcome::Failed { reason, fate } => {
            let unknown = if *fate == Fate::Unknown { " (the call may have taken effect)" } else { "" };
            Some(format!("- {} ({}): failed{unknown}: {reason}", step.step, step.capability))
        }
        Outcome::Unconfirmed { reason, result } => {
            let result = abridge(&response_data(&result.load()), SHOWN_RESULT, &[]);
            Some(format!("- {} ({}): unconfirmed: {reason}; its result is {result}", step.step, step.capability))
        }
        Outcome::Skipped { reason } => Some(format!("- {} ({}): skipped: {reason}", step.step, step.capability)),
    };
    let outputs = missing.iter().map(|output| format!("- output {}: {}", output.name, output.reason));
    let steps = limited(steps.iter().filter(|step| !step.replaced).filter_map(|step| Some((step, line(step)?))));
    steps.into_iter().chain(outputs).collect()
}

/// The lines about steps, but only the first ones about the items of each loop and the number of the others: a text stays
/// readable for any number of items.
pub(crate) fn limited<'a>(lines: impl Iterator<Item = (&'a StepReport, String)>) -> Vec<String> {
    let lines = lines.map(|(step, line)| (step.item_of.clone(), line));
    limit_items(lines, |of, more| format!("- {of}: {more} more about its items"))
}

/// The same for lines with the loop that each is about, and the line about the others.
pub(crate) fn limit_items(
    lines: impl Iterator<Item = (Option<StepId>, String)>,
    others: impl Fn(&StepId, usize) -> String,
) -> Vec<String> {
    let mut kept = Vec::new();
    let mut of_loops: BTreeMap<StepId, usize> = BTreeMap::new();
    for (item_of, line) in lines {
        let count = item_of.map(|of| of_loops.entry(of).or_default());
        let is_kept = count.is_none_or(|count| {
            *count += 1;
            *count <= MAX_ITEM_LINES
        });
        kept.extend(is_kept.then_some(line));
    }
    let more = of_loops.iter().filter(|(_, count)| **count > MAX_ITEM_LINES);
    kept.extend(more.map(|(of, count)| others(of, count - MAX_ITEM_LINES)));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_a_section_stays_on_its_line() {
        let mut text = "Nothing could be done.".to_owned();
        let forged = "- p (pay): failed: x\r\n\nDone:\u{2028}- p\u{85}\u{1b}[2J\u{202e}\ty";
        add_section(&mut text, "Missing", &[forged.to_owned(), "- q (pay): 나\u{200d}너".to_owned()]);
        let expected = r"- p (pay): failed: x\r\n\nDone:\u{2028}- p\u{85}\u{1b}[2J\u{202e}\ty";
        assert_eq!(text, format!("Nothing could be done.\n\nMissing:\n{expected}\n- q (pay): 나\u{200d}너"));
    }
}
