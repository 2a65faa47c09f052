//! Parses strings with `{{...}}` placeholders.

use reknit_protocol::{Path, Value};

use super::{Template, TextPart, TextTemplate};
use crate::expression::quoted_len;
use crate::step_ids::StepIds;
use crate::{Expression, Reference, TemplateParseError, TemplateProblem};

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// The escape for two literal braces.
const ESCAPED: &str = "{{{{";

/// Parses a string: a literal, one placeholder that is the whole string, or text with placeholders.
pub(super) fn parse_string(text: &str, ids: &StepIds<'_>) -> Result<Template, TemplateParseError> {
    if !text.contains(OPEN) {
        return Ok(arithmetic(text, ids).unwrap_or_else(|| Template::Literal(text.into())));
    }
    let mut parts = split(text, ids)?;
    if let [TextPart::Placeholder(_)] = parts.as_slice()
        && let Some(TextPart::Placeholder(expression)) = parts.pop()
    {
        return Ok(expression.into());
    }
    if parts.iter().all(|part| matches!(part, TextPart::Literal(_))) {
        let literals = parts.iter().filter_map(|part| match part {
            TextPart::Literal(text) => Some(text.as_str()),
            TextPart::Placeholder(_) => None,
        });
        return Ok(Template::Literal(Value::String(literals.collect())));
    }
    // `{{a.city}} and {{b.city}}` is a text, whatever the schema says.
    let calculation = Expression::parse_with_ids(text, ids).ok().filter(|calculation| !calculation.is_logic());
    Ok(Template::Text(TextTemplate { parts, calculation }))
}

/// Recognizes plain arithmetic such as `100 * 468.285`, which is evaluated if the schema does not allow a string. `2 - 4`
/// is more likely a range and `10 / 20` a fraction; those, dates and telephone numbers stay strings.
fn arithmetic(text: &str, ids: &StepIds<'_>) -> Option<Template> {
    let starts_like_number = text.starts_with(|first: char| first.is_ascii_digit() || "-(".contains(first));
    let has_operator = || text.contains('*') || text.contains(" + ");
    if !starts_like_number || !has_operator() {
        return None;
    }
    let calculation = Expression::parse_with_ids(text, ids).ok()?;
    let is_plain = calculation.references().is_empty() && !calculation.is_literal();
    is_plain.then(|| {
        Template::Text(TextTemplate { parts: vec![TextPart::Literal(text.to_owned())], calculation: Some(calculation) })
    })
}

fn split(text: &str, ids: &StepIds<'_>) -> Result<Vec<TextPart>, TemplateParseError> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(OPEN)) {
        let start = at + found;
        literal.push_str(text.get(at..start).unwrap_or_default());
        let rest = text.get(start..).unwrap_or_default();
        if rest.starts_with(ESCAPED) {
            literal.push_str(OPEN);
            at = start + ESCAPED.len();
            continue;
        }
        let inside = rest.get(OPEN.len()..).unwrap_or_default();
        let Some(length) = placeholder_len(inside) else {
            let (position, problem) = (char_count(text, start), TemplateProblem::UnclosedPlaceholder);
            return Err(TemplateParseError { path: Path::root(), position, problem });
        };
        if !literal.is_empty() {
            parts.push(TextPart::Literal(std::mem::take(&mut literal)));
        }
        let begin = start + OPEN.len();
        parts.push(TextPart::Placeholder(parse_placeholder(inside.get(..length).unwrap_or_default(), ids).map_err(
            |error| {
                let position = char_count(text, begin) + error.position;
                TemplateParseError { position, ..error }
            },
        )?));
        at = begin + length + CLOSE.len();
    }
    literal.push_str(text.get(at..).unwrap_or_default());
    if !literal.is_empty() {
        parts.push(TextPart::Literal(literal));
    }
    Ok(parts)
}

/// Parses the text between the braces. Text that is exactly a step id is that step, even if the id is not a valid name.
fn parse_placeholder(text: &str, ids: &StepIds<'_>) -> Result<Expression, TemplateParseError> {
    match ids.get(text.trim()) {
        Some(id) => Ok(Reference::new(id.clone(), Path::root(), ids).into()),
        None => Expression::parse_with_ids(text, ids),
    }
}

/// The length in bytes of the text before the closing braces, for a text that follows opening ones. Braces inside quotes
/// are ignored. `None` if the placeholder is not closed.
pub fn placeholder_len(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        at += match rest.chars().next()? {
            '"' | '\'' => quoted_len(rest)?,
            '{' if rest.starts_with(OPEN) => {
                depth += 1;
                OPEN.len()
            }
            '}' if rest.starts_with(CLOSE) => match depth.checked_sub(1) {
                None => return Some(at),
                Some(left) => {
                    depth = left;
                    CLOSE.len()
                }
            },
            character => character.len_utf8(),
        };
    }
}

fn char_count(text: &str, bytes: usize) -> usize {
    text.get(..bytes).unwrap_or_default().chars().count()
}
