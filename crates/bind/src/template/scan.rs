//! Finding `{{...}}` in a text.

use reknit_protocol::{Path, Value};

use super::{Part, Template, Text};
use crate::error::TemplateProblem;
use crate::expression::quoted_len;
use crate::ids::Ids;
use crate::{Expression, Reference, TemplateError};

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// How two braces are written that mean themselves.
const ESCAPED: &str = "{{{{";

/// Reads a text: a literal, one hole that is the whole value, or text with holes.
pub(super) fn parse(text: &str, ids: &Ids<'_>) -> Result<Template, TemplateError> {
    if !text.contains(OPEN) {
        return Ok(arithmetic(text, ids).unwrap_or_else(|| Template::Literal(text.into())));
    }
    let mut parts = split(text, ids)?;
    if let [Part::Hole(_)] = parts.as_slice()
        && let Some(Part::Hole(expression)) = parts.pop()
    {
        return Ok(match expression.as_reference() {
            Some(reference) => Template::Reference(reference.clone()),
            None => Template::Expression(expression),
        });
    }
    if parts.iter().all(|part| matches!(part, Part::Literal(_))) {
        let literals = parts.iter().filter_map(|part| match part {
            Part::Literal(text) => Some(text.as_str()),
            Part::Hole(_) => None,
        });
        return Ok(Template::Literal(Value::String(literals.collect())));
    }
    let calculation = Expression::parse_among(text, ids).ok();
    Ok(Template::Text(Text { parts, calculation }))
}

/// `100 * 468.285`: where no text is wanted, it is calculated. `2 - 4` is more often a range and `10 / 20` a share than a
/// calculation, and dates and telephones are no numbers at all: they stay what they are.
fn arithmetic(text: &str, ids: &Ids<'_>) -> Option<Template> {
    let begins = text.starts_with(|first: char| first.is_ascii_digit() || "-(".contains(first));
    let computes = || text.contains('*') || text.contains(" + ");
    if !begins || !computes() {
        return None;
    }
    let calculation = Expression::parse_among(text, ids).ok()?;
    let is_ours = calculation.references().is_empty() && !calculation.is_literal();
    is_ours
        .then(|| Template::Text(Text { parts: vec![Part::Literal(text.to_owned())], calculation: Some(calculation) }))
}

fn split(text: &str, ids: &Ids<'_>) -> Result<Vec<Part>, TemplateError> {
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
        let Some(length) = hole_len(inside) else {
            return Err(at_byte(text, start, TemplateProblem::Unclosed));
        };
        if !literal.is_empty() {
            parts.push(Part::Literal(std::mem::take(&mut literal)));
        }
        let begin = start + OPEN.len();
        parts.push(Part::Hole(hole(inside.get(..length).unwrap_or_default(), ids).map_err(|error| {
            let position = characters(text, begin) + error.position;
            TemplateError { position, ..error }
        })?));
        at = begin + length + CLOSE.len();
    }
    literal.push_str(text.get(at..).unwrap_or_default());
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

/// What stands between the braces. The id of a step and nothing else is that step, however odd the id.
fn hole(text: &str, ids: &Ids<'_>) -> Result<Expression, TemplateError> {
    match ids.exactly(text.trim()) {
        Some(id) => Ok(Reference::new(id.clone(), Path::root(), ids).into()),
        None => Expression::parse_among(text, ids),
    }
}

/// How many bytes stand before the braces that close a hole. Those inside quotes close nothing.
fn hole_len(text: &str) -> Option<usize> {
    let mut inner = 0_usize;
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        at += match rest.chars().next()? {
            '"' | '\'' => quoted_len(rest)?,
            '{' if rest.starts_with(OPEN) => {
                inner += 1;
                OPEN.len()
            }
            '}' if rest.starts_with(CLOSE) => match inner.checked_sub(1) {
                None => return Some(at),
                Some(left) => {
                    inner = left;
                    CLOSE.len()
                }
            },
            letter => letter.len_utf8(),
        };
    }
}

fn at_byte(text: &str, byte: usize, problem: TemplateProblem) -> TemplateError {
    TemplateError { path: Path::root(), position: characters(text, byte), problem }
}

fn characters(text: &str, bytes: usize) -> usize {
    text.get(..bytes).unwrap_or_default().chars().count()
}
