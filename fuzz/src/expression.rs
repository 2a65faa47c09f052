//! Parsing, printing and evaluating expressions.

use std::collections::BTreeMap;

use reknit_expressions::Expression;
use reknit_protocol::{StepId, Value};

use crate::{read_value, text_of};

/// The step ids that an expression may refer to, including unusual ones. Their results come from the input.
const IDS: [&str; 6] = ["a", "a.b", "step-1", "odd id", "1", "sum"];

/// A parsed expression prints as text that parses to the same expression; evaluation is deterministic, and its value is
/// JSON.
///
/// The input is an expression, a line break or NUL, and a value: an object holds the results by step id, any other value
/// is the result of every step.
pub fn expression(data: &[u8]) {
    let text = text_of(data);
    let (text, document) = text.split_once(['\n', '\0']).unwrap_or((&text, ""));
    let ids = ids();
    let expression = match Expression::parse(text, &ids) {
        Ok(expression) => expression,
        Err(error) => {
            assert!(error.position <= text.chars().count(), "position {} is outside the text", error.position);
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let printed = expression.to_string();
    match Expression::parse(&printed, &ids) {
        Ok(again) => {
            assert_eq!(again, expression, "{text} became {printed}");
            assert_eq!(again.to_string(), printed);
        }
        Err(error) => panic!("{text} became {printed}, which cannot be parsed: {error}"),
    }
    let results = results(document);
    let first = expression.evaluate(&results);
    if let Ok(evaluated) = &first {
        // The value can be sent: it prints as JSON that parses to the same value.
        let sent = evaluated.value.to_string();
        assert_eq!(Value::parse(&sent).as_ref(), Ok(&evaluated.value), "{text} gave {sent}");
    }
    assert_eq!(first, expression.evaluate(&results), "evaluation is deterministic");
}

pub(crate) fn ids() -> Vec<StepId> {
    IDS.iter().map(|id| StepId::from(*id)).collect()
}

pub(crate) fn results(document: &str) -> BTreeMap<StepId, Value> {
    let document = read_value(document).unwrap_or(Value::Null);
    let body = |id: &StepId| document.get(id.as_str()).unwrap_or(&document).clone();
    ids().into_iter().map(|id| (id.clone(), body(&id))).collect()
}
