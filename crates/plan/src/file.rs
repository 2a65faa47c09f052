//! Plan files: plans as people write them, in YAML or JSON.

mod document;
mod load;
mod loaded_plan;
mod positions;
mod reader;
mod rewrite_step;
mod sub_plans;
mod writer;

use reknit_protocol::spelling::nearest;
use reknit_protocol::{Plan, Value};
use reknit_salvage::{Fix, ReadTextError};

use crate::file_problem::FileProblem;
use crate::read::{PlanError, read_plan};
pub use document::Document;
pub use load::{LoadText, PlanText, load_plan_file};
pub use loaded_plan::{AgentReference, FilePosition, LoadedPlan};
pub(crate) use rewrite_step::rewrite_or_keep;
pub use writer::write_plan_file;

/// Reads a plan from the text of a file in any form: as people write it, as JSON of the protocol, or as the answer of a model.
/// Returns the repairs that an answer needed.
///
/// ```
/// use reknit_plan::read_plan_file;
///
/// let (plan, _) = read_plan_file(r#"
/// request: What are my shares worth in won?
/// inputs:
///   symbol: TSLA                               # a default; its type is that of the default
///   shares: {type: integer, default: 100, description: how many}
/// steps:
///   - id: quote
///     tool: stock-tool/get_stock_quote         # or only the capability, if one tool has it
///     with: {symbol: "{{inputs.symbol}}"}
///   - id: convert
///     tool: convert_currency
///     do: turn the dollars into won            # what the step is for
///     with: {amount: "{{inputs.shares * quote.current_price}}", from: USD, to: KRW}
///     after: quote                             # one id or a list; references count as well
/// outputs:
///   won: convert.converted                     # an expression over steps and inputs
/// "#)?;
/// assert_eq!(plan.steps[1].capability(), Some("convert_currency"));
/// # Ok::<(), reknit_plan::PlanError>(())
/// ```
pub fn read_plan_file(text: &str) -> Result<(Plan, Vec<Fix>), PlanError> {
    let as_answer = |text: &str| match read_plan(text, "") {
        Ok((plan, reading)) => Ok((plan, reading.fixes)),
        Err(PlanError::Unreadable(error)) => Err(PlanError::File(vec![no_plan(&error)])),
        Err(error) => Err(error),
    };
    match Document::read(text) {
        Ok(mut document) if is_plan_file(&document.value) => {
            reader::rename_keys(&mut document.value);
            reader::read(&document).map(|plan| (plan, document.fixes)).map_err(PlanError::File)
        }
        Ok(document) if document.value == Value::Null => Err(PlanError::File(vec![empty_file()])),
        Ok(document) if is_plan(&document.value) && document.fixes.is_empty() => as_answer(&document.value.to_string()),
        Ok(_) => as_answer(text),
        // Only a text with JSON in it is searched for a plan; broken YAML is not.
        Err(problem) => {
            if has_json(text) {
                as_answer(text)
            } else {
                Err(PlanError::File(vec![problem]))
            }
        }
    }
}

fn empty_file() -> FileProblem {
    let hint = "a plan has at least `steps:` with a list of steps";
    FileProblem::new(None, "the file is empty".to_owned(), Some(hint))
}

fn no_plan(error: &ReadTextError) -> FileProblem {
    let hint = "a plan has `steps:`, a list whose steps have `id`, `tool` and `with`";
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    FileProblem::new(None, format!("found no plan: {error}{cause}"), Some(hint))
}

/// Whether a text has JSON at the start of a line or in a code fence, as the answer of a model.
fn has_json(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(['{', '[']) || line.trim_start().starts_with("```"))
}

/// Whether a value is a list of steps, or has one.
fn is_plan(value: &Value) -> bool {
    steps(value).is_some()
}

/// Whether a value has the keys of a plan file and none of the protocol's.
fn is_plan_file(value: &Value) -> bool {
    let has = |value: &Value, keys: &[&str]| keys.iter().any(|key| value.get(key).is_some());
    let Value::Object(object) = value else {
        return steps(value).is_some_and(|steps| steps.iter().any(|step| has(step, &["id", "tool"])));
    };
    let is_known = |key: &str| nearest(key, reader::PLAN_KEYS).is_some();
    let is_protocol_step = |step: &Value| has(step, &["step_id", "agent_name"]);
    object.keys().any(is_known)
        && !has(value, &["plan_id", "original_request"])
        && !steps(value).is_some_and(|steps| steps.iter().any(is_protocol_step))
}

fn steps(value: &Value) -> Option<&[Value]> {
    value.as_array().or_else(|| value.get("steps")?.as_array())
}
