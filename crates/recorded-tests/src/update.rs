//! Brings the assertions and digests of a test up to date, without changing anything else in its file.

use reknit_plan::Document;
use reknit_protocol::Path;

use crate::drive::TestRun;
use crate::expectations::{Expectations, ExpectedAnswer};
use crate::test_file::{TestFile, expectations_yaml};

/// Why a file cannot be brought up to date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    #[error("the run asks for something that is not recorded; record the test again")]
    Unexpected,
    #[error("recordings are not used any more: {}; remove them, or record the test again", .0.join(", "))]
    Unused(Vec<String>),
    #[error("the file has no part that begins with `expect:` at the start of a line")]
    Form,
}

/// The text of a test with the assertions of this run, as far as it has them, and with the digests of its prompts.
pub fn updated_text(text: &str, file: &TestFile, run: &TestRun) -> Result<String, UpdateError> {
    if !run.unexpected.is_empty() || run.failure.is_some() {
        return Err(UpdateError::Unexpected);
    }
    if !run.unused.is_empty() {
        return Err(UpdateError::Unused(run.unused.clone()));
    }
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    update_digests(&mut lines, text, file, run);
    let expect = updated(&file.expect, run);
    if expect != file.expect {
        replace_part(&mut lines, &expectations_yaml(&expect))?;
    }
    Ok(lines.concat())
}

/// The expectations with what the run did, where they say something about it.
fn updated(expect: &Expectations, run: &TestRun) -> Expectations {
    let proposed = Expectations::proposed(&run.facts);
    let wrong: Vec<String> = expect.compare(&run.facts).into_iter().map(|mismatch| mismatch.what).collect();
    let is_wrong = |part: &str| wrong.iter().any(|what| what.starts_with(part));
    let mut new = expect.clone();
    if is_wrong("status") {
        new.status = proposed.status;
    }
    if is_wrong("steps") {
        new.steps = proposed.steps;
    }
    if is_wrong("calls") {
        new.calls = proposed.calls;
    }
    for expected in &mut new.values {
        let what = format!("values.{}", expected.name);
        if wrong.contains(&what) || wrong.contains(&format!("{what}.from")) {
            let (value, from) = run.facts.sent(&expected.name).unzip();
            expected.value = expected.value.take().and(value.cloned());
            expected.from = expected.from.take().and(from.map(str::to_owned));
        }
    }
    // What was not sent has no value to expect.
    new.values.retain(|expected| expected.value.is_some() || expected.from.is_some());
    if is_wrong("mended") {
        new.mended = proposed.mended;
    }
    if is_wrong("outputs") {
        new.outputs = Some(run.facts.outputs.clone());
    }
    for (part, limit, actual) in [
        ("limits.tool_calls", &mut new.limits.tool_calls, run.facts.tool_calls),
        ("limits.model_calls", &mut new.limits.model_calls, run.facts.model_calls),
        ("limits.time_ms", &mut new.limits.time_ms, run.facts.time_ms),
    ] {
        if is_wrong(part) {
            *limit = Some(actual);
        }
    }
    if is_wrong("limits.cost") {
        new.limits.cost = Some(run.facts.cost);
    }
    if is_wrong("answer") {
        new.answer = match expect.answer.equals {
            Some(_) => ExpectedAnswer { equals: Some(run.facts.answer.clone()), ..ExpectedAnswer::default() },
            None => proposed.answer,
        };
    }
    new
}

fn update_digests(lines: &mut [String], text: &str, file: &TestFile, run: &TestRun) {
    let Ok(document) = Document::read(text) else { return };
    for (index, (recording, digest)) in file.models.iter().zip(&run.digests).enumerate() {
        let (Some(before), Some(now)) = (&recording.digest, digest) else { continue };
        let path = Path::root().key("models").index(index).key("digest");
        if before != now
            && let Some((line, _)) = document.position(&path)
            && let Some(line) = line.checked_sub(1).and_then(|line| lines.get_mut(line))
        {
            *line = line.replacen(before.as_str(), now, 1);
        }
    }
}

/// Replaces the part of the file that begins with the key of the new text.
fn replace_part(lines: &mut Vec<String>, new: &str) -> Result<(), UpdateError> {
    let start = lines.iter().position(|line| line.starts_with("expect:")).ok_or(UpdateError::Form)?;
    let is_inside = |line: &String| line.trim().is_empty() || line.starts_with([' ', '\t', '-', '#']);
    let length = lines.iter().skip(start + 1).take_while(|line| is_inside(line)).count();
    // Comments and blank lines before the next part belong to that part.
    let belongs = |line: &String| !line.trim().is_empty() && !line.starts_with('#');
    let part = lines.get(start + 1..start + 1 + length).unwrap_or_default();
    let kept = part.iter().rposition(belongs).map_or(0, |last| last + 1);
    lines.splice(start..start + 1 + kept, [new.to_owned()]);
    Ok(())
}
