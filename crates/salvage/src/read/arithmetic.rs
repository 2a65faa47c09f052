//! Arithmetic outside strings: `100 * 468.285`, `100 * "{{step-1.response.price}}"`.
//!
//! ```text
//! arithmetic = operand (operator operand)+
//! operand    = number | "number" | {{reference}} | "{{reference}}" | name.path
//! operator   = `*`, or one of `+ - /` with white space on both sides
//! ```
//!
//! Dates, phone numbers, ids and versions have no white space around their signs, so they are never arithmetic.

use super::{parser::Role, unquoted::template_len};

/// The end of the arithmetic that begins at `start`, if what stands there is arithmetic up to a comma or bracket.
pub(super) fn end(text: &str, start: usize, role: Role) -> Option<usize> {
    let rest = text.get(start..)?;
    // Nearly every value is no arithmetic; a glance at its bytes up to the next comma or bracket says so.
    if !may_hold_arithmetic(rest.as_bytes()) {
        return None;
    }
    let first = operand_len(rest)?;
    let mut at = first;
    let mut operators = 0;
    let mut numeric = counts(rest.get(..first)?);
    while let Some(len) = operator_len(rest.get(at..)?) {
        let operand = rest.get(at + len..)?;
        let operand_len = operand_len(operand)?;
        numeric |= counts(operand.get(..operand_len)?);
        at += len + operand_len;
        operators += 1;
    }
    let template = template_len(rest).is_some();
    let after = rest.get(at..)?.trim_start_matches([' ', '\t']);
    let ends = after.is_empty() || after.starts_with([',', '}', ']', ')', '\n', '\r']) || after.starts_with("//");
    let enough = operators > 0 && numeric || (operators == 0 && template);
    (ends && enough && role != Role::Key).then_some(start + at)
}

/// Whether the bytes up to the next comma, bracket or line end could hold an operator or a reference.
fn may_hold_arithmetic(bytes: &[u8]) -> bool {
    match bytes {
        [b'{', b'{', ..] | [b'"', b'{' | b'-' | b'0'..=b'9', ..] => return true,
        [b'"', ..] => return false,
        _ => {}
    }
    let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b'\n');
    // `+ - /` need white space around them, so a value without any has at most a `*`.
    bytes.iter().take(super::cursor::LOOK).take_while(|byte| !ends(byte)).any(|byte| matches!(byte, b' ' | b'*'))
}

/// The expression for arithmetic text: its operands without their own quotes and braces, in one pair of braces.
pub(crate) fn expression(text: &str) -> Option<String> {
    let mut expression = String::from("{{");
    let mut rest = text.trim();
    loop {
        let len = operand_len(rest)?;
        let (operand, tail) = rest.split_at_checked(len)?;
        let bare = operand.trim_matches('"').trim();
        let bare = bare.strip_prefix("{{").and_then(|inside| inside.strip_suffix("}}")).unwrap_or(bare).trim();
        // A reference that is itself a calculation keeps its own order.
        let alone = tail.trim().is_empty() && expression.len() == 2;
        let nested = !alone && bare.contains([' ', '*', '+', '/']) && !bare.starts_with('(');
        let (open, close) = if nested { ("(", ")") } else { ("", "") };
        expression.extend([open, bare, close]);
        if tail.trim().is_empty() {
            expression.push_str("}}");
            return Some(expression);
        }
        let operator_len = operator_len(tail)?;
        let (operator, next) = tail.split_at_checked(operator_len)?;
        expression.push(' ');
        expression.push_str(operator.trim());
        expression.push(' ');
        rest = next;
    }
}

fn operand_len(text: &str) -> Option<usize> {
    if let Some(inside) = text.strip_prefix('"') {
        let near = inside.get(..inside.floor_char_boundary(super::cursor::LOOK)).unwrap_or(inside);
        let len = near.find('"')?;
        let body = inside.get(..len)?;
        let fits = is_numeric(body) || template_len(body) == Some(body.len());
        return fits.then_some(len + 2);
    }
    if let Some(len) = template_len(text.get(..text.floor_char_boundary(super::cursor::LOOK)).unwrap_or(text)) {
        return Some(len);
    }
    let number = text
        .bytes()
        .enumerate()
        .take_while(|(at, byte)| byte.is_ascii_digit() || *byte == b'.' || (*at == 0 && *byte == b'-'));
    let len = number.count();
    if len > 0
        && is_numeric(text.get(..len)?)
        && !text.get(len..)?.starts_with(|c: char| c.is_alphanumeric() || "-_:".contains(c))
    {
        return Some(len);
    }
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'[' | b']');
    let len = text.bytes().take(super::cursor::LOOK).take_while(name).count();
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (starts && len > 0 && !text.get(..len)?.ends_with(['-', '.', '['])).then_some(len)
}

fn operator_len(text: &str) -> Option<usize> {
    let before = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let operator = text.as_bytes().get(before)?;
    let behind = text.get(before + 1..)?;
    let after = behind.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let spaced = before > 0 && after > 0;
    let comment = *operator == b'/' && behind.starts_with(['/', '*']);
    let power = *operator == b'*' && behind.starts_with('*');
    let fits = (*operator == b'*' && !power) || (matches!(operator, b'+' | b'-' | b'/') && spaced && !comment);
    fits.then_some(before + 1 + after)
}

/// Whether an operand makes the text arithmetic: `"1" + "2"` joins strings, `1 + "2"` and `"{{a}}" + "2"` calculate.
fn counts(operand: &str) -> bool {
    operand.contains("{{") || (!operand.starts_with('"') && is_numeric(operand))
}

fn is_numeric(text: &str) -> bool {
    let text = text.trim_matches('"').trim();
    reknit_protocol::Number::parse(text).is_ok() || text.starts_with("{{")
}
