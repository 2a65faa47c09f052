//! What a client is told about a call: its result, what was changed before it was sent, or why there is no result.

use reknit::{AppliedMend, RunAnswer, RunError, RunFailure, RunResult};
use reknit_engine::AskPerson;
use reknit_mend::{Fate, Rung};
use reknit_protocol::{Object, RunId, Value, error_chain};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::value::RawValue;

use crate::call::STEP;

/// The key of a result's `_meta` for a failed call that may have taken effect.
const IN_DOUBT: &str = "reknit/in-doubt";

pub(crate) fn result_of_call(run: &RunId, outcome: &Result<RunAnswer, RunError>) -> CallToolResult {
    let answer = match outcome {
        Ok(answer) => answer,
        Err(error) => return failure(run, error),
    };
    match answer.step_result::<Box<RawValue>>(STEP) {
        Ok(value) => success(run, value.get(), answer),
        Err(error) => with_run(error_text(error.to_string()), run, None),
    }
}

/// The result of a run of a request, a plan or an agent. One that did not do everything is an error that has what was done, too.
pub(crate) fn result_of_run(run: &RunId, outcome: &Result<RunAnswer, RunError>) -> CallToolResult {
    let result = match outcome {
        Ok(answer) => &answer.result,
        Err(RunError::Failed(failure)) => &failure.result,
        Err(error) => return failure(run, error),
    };
    let mut content = vec![ContentBlock::text(result.ending().full_text())];
    if let RunResult::Answer(answer) = result
        && !answer.outputs.is_empty()
    {
        content.push(ContentBlock::text(Value::Object(answer.outputs.clone()).to_string()));
    }
    let is_whole = outcome.is_ok();
    with_run(
        if is_whole { CallToolResult::success(content) } else { CallToolResult::error(content) },
        run,
        Some(result),
    )
}

/// The call was made before: its result, with a note.
pub(crate) fn earlier_result(mut result: CallToolResult, repeat_argument: Option<&str>) -> CallToolResult {
    let how = repeat_argument.map_or_else(String::new, |argument| {
        format!("; if it is needed once more, call it again and state why in `{argument}`")
    });
    let note = format!("(not called again: the same call was made before, and this is its result{how})");
    result.content.push(ContentBlock::text(note));
    result
}

/// The run waits for a person whom this client cannot ask. `continue_tool` returns its result later.
pub(crate) fn waiting(run: &RunId, questions: &[AskPerson], continue_tool: &str) -> CallToolResult {
    let calls: Vec<String> = questions.iter().map(crate::approval::description).collect();
    let text = format!(
        "Not done yet: a person must approve it.\n{}\nAsk your user to run `reknit runs approve {run}` or `reknit runs deny {run}`. Then \
         call `{continue_tool}` with {{\"run\": \"{run}\"}} for the result. Do not make the call again.",
        calls.join("\n")
    );
    with_run(error_text(text), run, None)
}

pub(crate) fn error_text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text.into())])
}

/// Whether a call of the run may have taken effect although the run failed.
pub(crate) fn is_in_doubt(outcome: &Result<RunAnswer, RunError>) -> bool {
    outcome.as_ref().is_err_and(may_have_effect)
}

fn may_have_effect(error: &RunError) -> bool {
    let is_unknown = |failure: &RunFailure| failure.steps.iter().any(|step| step.fate == Fate::Unknown);
    // A run without a failure goes on when it is resumed.
    error.failure().is_none_or(is_unknown)
}

/// The same for the result that the client gets.
pub(crate) fn is_marked_in_doubt(result: &CallToolResult) -> bool {
    result.meta.as_ref().is_some_and(|meta| meta.get(IN_DOUBT).is_some())
}

fn success(run: &RunId, json: &str, answer: &RunAnswer) -> CallToolResult {
    let mends = answer.mends();
    let descriptions = |is_meant: fn(Rung) -> bool| -> Vec<&str> {
        mends.iter().filter(|mend| is_meant(mend.rung)).map(|mend| mend.description.as_str()).collect()
    };
    let changes = descriptions(|rung| !matches!(rung, Rung::Resend | Rung::Settlement));
    let settled = descriptions(|rung| rung == Rung::Settlement);
    let before = (!changes.is_empty()).then(|| format!("(changed before it was sent: {})", changes.join("; ")));
    let after = (!settled.is_empty()).then(|| format!("(its outcome was not known at first: {})", settled.join("; ")));
    let (mut content, structured) = content_of(json);
    let status = answer.result.ending().status_line();
    content.extend(before.into_iter().chain(after).chain(status).map(ContentBlock::text));
    let mut result = CallToolResult::success(content);
    result.structured_content = structured;
    with_run(result, run, Some(&answer.result))
}

/// The content and the structured content of what a tool returned.
fn content_of(json: &str) -> (Vec<ContentBlock>, Option<serde_json::Value>) {
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    // A text is shown as it is, anything else as JSON with every digit.
    let text = value.as_str().map_or_else(|| json.to_owned(), str::to_owned);
    content_blocks(&value)
        .unwrap_or_else(|| (vec![ContentBlock::text(text)], Some(value).filter(serde_json::Value::is_object)))
}

/// The blocks and the structured content of a result that an MCP server returned with more than text: images, sound, resources. The
/// client of MCP keeps such a result as `{"content": [...], "structuredContent": ...}`.
fn content_blocks(value: &serde_json::Value) -> Option<(Vec<ContentBlock>, Option<serde_json::Value>)> {
    let object = value.as_object()?;
    if !object.keys().all(|key| matches!(key.as_str(), "content" | "structuredContent")) {
        return None;
    }
    let blocks: Vec<ContentBlock> = serde_json::from_value(object.get("content")?.clone()).ok()?;
    let has_more_than_text = blocks.iter().any(|block| block.as_text().is_none());
    has_more_than_text.then(|| (blocks, object.get("structuredContent").cloned()))
}

fn failure(run: &RunId, error: &RunError) -> CallToolResult {
    let text = match error.failure() {
        Some(failure) => failure_text(failure),
        None => format!("{}; continue it with `reknit runs resume {run}`", error_chain(error)),
    };
    let text = format!("{text}\nEach attempt: `reknit runs show {run}`");
    let mut result = with_run(error_text(text), run, error.failure().map(|failure| &failure.result));
    if may_have_effect(error) {
        result.meta.get_or_insert_default().insert(IN_DOUBT.to_owned(), true.into());
    }
    result
}

fn failure_text(failure: &RunFailure) -> String {
    let steps = failure.steps.iter().map(|step| {
        let fate = match step.fate {
            Fate::NotSent => "It was not sent.",
            Fate::Rejected => "The tool rejected it, so it had no effect.",
            Fate::Unknown => "It may have taken effect: do not call it again before you know.",
        };
        format!("`{}` of `{}` failed: {}. {fate}", step.capability, step.tool, step.reason)
    });
    let steps: Vec<String> = steps.collect();
    match &failure.reason {
        _ if !steps.is_empty() => steps.join("\n"),
        Some(reason) => refusal(reason),
        None => failure.text.clone(),
    }
}

/// Why nothing was sent. The client never saw the plan with one step that its call became.
fn refusal(reason: &str) -> String {
    match reason.strip_prefix("the plan cannot run: ") {
        Some(why) => format!("Not sent: {}", why.replace(&format!("`{STEP}."), "`")),
        None => format!("failed: {reason}"),
    }
}

/// Adds for programs the run, its status, what is missing or in doubt, and what was mended.
fn with_run(result: CallToolResult, run: &RunId, ended: Option<&RunResult>) -> CallToolResult {
    let mut meta = Object::from([("reknit/run", Value::from(run.as_str()))]);
    if let Some(ended) = ended {
        meta.insert("reknit/status", ended.ending().status().as_str());
        let shortcomings = ended.ending().shortcomings();
        if !shortcomings.is_empty() {
            meta.insert("reknit/shortcomings", shortcomings.into_iter().map(Value::from).collect::<Value>());
        }
        let mended = ended.mends().into_iter().map(|AppliedMend { rung, description, .. }| {
            Value::from([("by", rung.as_str().into()), ("change", description.as_str().into())])
        });
        let mended: Vec<Value> = mended.collect();
        if !mended.is_empty() {
            meta.insert("reknit/mended", mended);
        }
    }
    let meta: MetaObject = serde_json::from_str(&Value::Object(meta).to_string()).unwrap_or_default();
    result.with_meta(Some(meta))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(json: &str) -> Vec<bool> {
        content_of(json).0.iter().map(|block| block.as_text().is_some()).collect()
    }

    #[test]
    fn images_of_an_mcp_server_stay_images_and_other_values_are_text() {
        let image = r#"{"type":"image","data":"iVBORw0=","mimeType":"image/png"}"#;
        assert_eq!(kinds(&format!(r#"{{"content":[{{"type":"text","text":"a"}},{image}]}}"#)), [true, false]);
        // Results of services that only look similar.
        for json in [
            format!(r#"{{"content":[{image}],"id":7}}"#),
            r#"{"content":[{"type":"text","text":"a"}]}"#.to_owned(),
            r#"{"content":[{"type":"image","url":"x"}]}"#.to_owned(),
            r#"{"content":[]}"#.to_owned(),
        ] {
            assert_eq!(kinds(&json), [true], "{json}");
        }
    }
}
