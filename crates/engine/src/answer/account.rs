//! The account behind an answer: repairs, failed repairs, and missing results.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use reknit_expressions::abridge;
use reknit_mend::{Fate, MendEffect};
use reknit_protocol::StepId;

use super::{Answer, MissingOutput, Outcome, Status, StepReport};
use crate::replanning::Replanning;
use crate::result_handle::response_data;

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
fn one_line(line: &str) -> String {
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
    applied_lines(steps.iter().filter(|step| matches!(step.outcome, Outcome::Done(_))))
}

/// The repairs of steps that failed nevertheless.
pub(crate) fn tried_lines(steps: &[StepReport]) -> Vec<String> {
    applied_lines(steps.iter().filter(|step| !matches!(step.outcome, Outcome::Done(_))))
}

fn applied_lines<'a>(steps: impl Iterator<Item = &'a StepReport>) -> Vec<String> {
    let mends = steps.flat_map(|step| step.mends.iter().map(move |mend| (step, mend)));
    let applied = mends.filter(|(_, mend)| mend.effect == MendEffect::Applied);
    limited(
        applied.map(|(step, mend)| (step, format!("- {} by {}: {}", step.step, mend.rung.as_str(), mend.description))),
    )
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
