//! Unquoted arithmetic: `100 * 468.285`, `100 * "{{step-1.response.price}}"`.
//!
//! ```text
//! arithmetic = operand (operator operand)+
//! operand    = number | "number" | {{reference}} | "{{reference}}" | name.path
//! operator   = `*`, or one of `+ - /` with white space on both sides
//! ```
//!
//! Dates, phone numbers, ids and versions have no white space around their signs, so they never count as arithmetic.

use super::cursor::LOOKAHEAD;
use super::parser::Role;
use super::template::template_len;

/// The end of the arithmetic that begins at `start`, if there is arithmetic up to the next comma or bracket.
pub(super) fn find_end(text: &str, start: usize, role: Role) -> Option<usize> {
    let rest = text.get(start..)?;
    // Few values are arithmetic, so check the bytes up to the next comma or bracket first.
    if !may_contain_arithmetic(rest.as_bytes()) {
        return None;
    }
    let first = operand_len(rest)?;
    let mut at = first;
    let mut operators = 0;
    let mut is_arithmetic = implies_arithmetic(rest.get(..first)?);
    while let Some(len) = operator_len(rest.get(at..)?) {
        let operand = rest.get(at + len..)?;
        let operand_len = operand_len(operand)?;
        is_arithmetic |= implies_arithmetic(operand.get(..operand_len)?);
        at += len + operand_len;
        operators += 1;
    }
    let is_template = template_len(rest).is_some();
    let after = rest.get(at..)?.trim_start_matches([' ', '\t']);
    let ends = after.is_empty() || after.starts_with([',', '}', ']', ')', '\n', '\r']) || after.starts_with("//");
    is_arithmetic = if operators > 0 { is_arithmetic } else { is_template };
    (ends && is_arithmetic && role != Role::Key).then_some(start + at)
}

/// Whether the bytes up to the next comma, bracket or line end may contain an operator or a reference.
fn may_contain_arithmetic(bytes: &[u8]) -> bool {
    match bytes {
        [b'{', b'{', ..] | [b'"', b'{' | b'-' | b'0'..=b'9', ..] => return true,
        [b'"', ..] => return false,
        _ => {}
    }
    let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b'\n');
    // `+ - /` need white space around them, so a value without white space can have only `*`.
    bytes.iter().take(LOOKAHEAD).take_while(|byte| !ends(byte)).any(|byte| matches!(byte, b' ' | b'*'))
}

/// Converts arithmetic to an expression: the operands without their own quotes and braces, in one pair of braces.
pub(crate) fn to_expression(text: &str) -> Option<String> {
    let mut expression = String::from("{{");
    let mut rest = text.trim();
    loop {
        let len = operand_len(rest)?;
        let (operand, tail) = rest.split_at_checked(len)?;
        let bare = operand.trim_matches('"').trim();
        let bare = bare.strip_prefix("{{").and_then(|inside| inside.strip_suffix("}}")).unwrap_or(bare).trim();
        // Parentheses keep the order of a calculation inside a reference.
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
        let near = inside.get(..inside.floor_char_boundary(LOOKAHEAD)).unwrap_or(inside);
        let len = near.find('"')?;
        let body = inside.get(..len)?;
        let is_operand = is_numeric(body) || template_len(body) == Some(body.len());
        return is_operand.then_some(len + 2);
    }
    if let Some(len) = template_len(text.get(..text.floor_char_boundary(LOOKAHEAD)).unwrap_or(text)) {
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
    let len = text.bytes().take(LOOKAHEAD).take_while(name).count();
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (starts && len > 0 && !text.get(..len)?.ends_with(['-', '.', '['])).then_some(len)
}

fn operator_len(text: &str) -> Option<usize> {
    let before = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let operator = text.as_bytes().get(before)?;
    let behind = text.get(before + 1..)?;
    let after = behind.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let is_spaced = before > 0 && after > 0;
    let is_comment = *operator == b'/' && behind.starts_with(['/', '*']);
    let is_power = *operator == b'*' && behind.starts_with('*');
    let is_operator =
        (*operator == b'*' && !is_power) || (matches!(operator, b'+' | b'-' | b'/') && is_spaced && !is_comment);
    is_operator.then_some(before + 1 + after)
}

/// Whether an operand makes the text arithmetic: `"1" + "2"` joins strings, but `1 + "2"` and `"{{a}}" + "2"` add numbers.
fn implies_arithmetic(operand: &str) -> bool {
    operand.contains("{{") || (!operand.starts_with('"') && is_numeric(operand))
}

fn is_numeric(text: &str) -> bool {
    let text = text.trim_matches('"').trim();
    reknit_protocol::Number::parse(text).is_ok() || text.starts_with("{{")
}
