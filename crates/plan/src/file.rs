//! Plans as people write them: a file of a few words, as YAML or JSON.

mod document;
mod reader;

use std::fmt;

use reknit_protocol::spelling::nearest;
use reknit_protocol::{Path, Plan, Value};
use reknit_salvage::Fix;

use super::read::{PlanError, read_plan};
pub use document::Document;

/// Something in a file that does not belong there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// Where in the value; the root if the text cannot be read at all.
    pub path: Path,
    /// The line and the column, from 1, if they are known.
    pub place: Option<(usize, usize)>,
    /// What is wrong, in words.
    pub message: String,
    /// What to write instead, if that is known.
    pub hint: Option<String>,
}

impl std::error::Error for FileProblem {}

impl fmt::Display for FileProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(out, "line {line}, column {column}: ")?;
        }
        if !self.path.is_root() {
            let path = self.path.to_string();
            write!(out, "`{}`: ", path.strip_prefix("$.").unwrap_or(&path))?;
        }
        out.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(out, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// Reads a plan from a file, whatever its form: as people write it, as JSON of the protocol, or as a model's words. What a
/// model's words had to be repaired in is told.
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
///     tool: stock-tool/get_stock_quote         # or only the capability, where one tool has it
///     with: {symbol: "{{inputs.symbol}}"}
///   - id: convert
///     tool: convert_currency
///     do: turn the dollars into won            # what the step is for
///     with: {amount: "{{inputs.shares * quote.current_price}}", from: USD, to: KRW}
///     after: quote                             # one id or a list; what is read from is known anyway
/// outputs:
///   won: convert.converted                     # an expression over steps and inputs
/// "#)?;
/// assert_eq!(plan.steps[1].capability(), Some("convert_currency"));
/// # Ok::<(), reknit_plan::PlanError>(())
/// ```
pub fn read_plan_file(text: &str) -> Result<(Plan, Vec<Fix>), PlanError> {
    let as_words = |text: &str| read_plan(text, "").map(|(plan, reading)| (plan, reading.fixes));
    match Document::read(text) {
        Ok(document) if is_short(&document.value) => {
            reader::read(&document).map(|plan| (plan, Vec::new())).map_err(PlanError::File)
        }
        Ok(document) if document.value == Value::Null => Err(PlanError::File(vec![nothing()])),
        Ok(document) if is_plan(&document.value) => as_words(&document.value.to_string()),
        Ok(_) => as_words(text),
        // Broken YAML is not searched for a piece that might be a plan.
        Err(problem) => {
            if has_json(text) {
                as_words(text)
            } else {
                Err(PlanError::File(vec![problem]))
            }
        }
    }
}

/// What is wrong with a file that says nothing.
fn nothing() -> FileProblem {
    FileProblem {
        path: Path::root(),
        place: None,
        message: "it is empty: a plan has at least `steps`".to_owned(),
        hint: None,
    }
}

/// Whether a text has JSON that begins with a line, or in a fence: a model's words.
fn has_json(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(['{', '[']) || line.trim_start().starts_with("```"))
}

/// Whether it is a list of steps, or has some.
fn is_plan(value: &Value) -> bool {
    steps(value).is_some()
}

/// Whether it is a plan as people write it: with their keys, and without those of the protocol.
fn is_short(value: &Value) -> bool {
    let has = |value: &Value, keys: &[&str]| keys.iter().any(|key| value.get(key).is_some());
    let Value::Object(object) = value else {
        return steps(value).is_some_and(|steps| steps.iter().any(|step| has(step, &["id", "tool"])));
    };
    let is_known = |key: &str| nearest(key, reader::PLAN).is_some();
    let is_wire = |step: &Value| has(step, &["step_id", "agent_name"]);
    object.keys().any(is_known)
        && !has(value, &["plan_id", "original_request"])
        && !steps(value).is_some_and(|steps| steps.iter().any(is_wire))
}

fn steps(value: &Value) -> Option<&[Value]> {
    value.as_array().or_else(|| value.get("steps")?.as_array())
}
