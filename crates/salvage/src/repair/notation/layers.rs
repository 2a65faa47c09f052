//! What is around arguments in another notation: fences, tokens of templates, a list of one call, an assignment of its result.

use std::borrow::Cow;

/// Quotes of templates, which stand for quotes of JSON.
const QUOTES: [&str; 2] = ["<|\"|>", "<escape>"];

/// The text without what is around the notation.
pub(super) fn without_layers(text: &str) -> Cow<'_, str> {
    let mut inner = Cow::Borrowed(text.trim());
    if let Some(quote) = QUOTES.iter().find(|quote| inner.contains(**quote)) {
        let rest = inner.replace(quote, "");
        // Which quote ends a text would not be known.
        if !rest.contains('"') {
            inner = inner.replace(quote, "\"").into();
        }
    }
    let mut core = inner.as_ref();
    loop {
        let before = core;
        core = without_tokens(without_fence(core)).trim();
        core = without_tag(core);
        core = list_of_one(core).unwrap_or(core);
        core = ["await ", "return "].iter().find_map(|word| core.strip_prefix(word)).unwrap_or(core).trim();
        core = assigned_call(core).or_else(|| printed_call(core)).unwrap_or(core).trim();
        if core == before {
            break;
        }
    }
    Cow::Owned(core.to_owned())
}

/// The content of the only fenced block.
fn without_fence(text: &str) -> &str {
    let block = || {
        let (_, rest) = text.split_once("```")?;
        let (first_line, rest) = rest.split_once('\n')?;
        let (block, after) = rest.split_once("```")?;
        let is_tag = first_line.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (is_tag && !after.contains("```")).then_some(block)
    };
    block().unwrap_or(text)
}

/// The text without tokens such as `<|tool_call|>` and `<｜tool▁sep｜>` around it.
fn without_tokens(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text;
        for (open, close) in [("<|", "|>"), ("<|", ">"), ("<｜", "｜>"), ("<", "|>")] {
            let is_token = |inside: &str| {
                !inside.is_empty() && !inside.contains(['<', '>', '|', '"', '\n']) && !inside.contains("DSML")
            };
            if let Some((token, rest)) = text.strip_prefix(open).and_then(|rest| rest.split_once(close))
                && is_token(token)
            {
                text = rest.trim_start();
            }
            if let Some((front, token)) = text.strip_suffix(close).and_then(|rest| rest.rsplit_once(open))
                && is_token(token)
            {
                text = front.trim_end();
            }
        }
        // A token may have the kind of the call behind it.
        text = text.strip_prefix("function<").map_or(text, |_| text.get("function".len()..).unwrap_or(text));
        if text == before {
            return text;
        }
    }
}

/// What is in one element around a notation that is no markup: `<tool_call>f(a=1)</tool_call>`.
fn without_tag(text: &str) -> &str {
    let inner = || {
        let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
        let inner = rest.strip_suffix('>')?;
        let (inner, closing) = inner.rsplit_once("</").or_else(|| inner.rsplit_once('<'))?;
        let is_closing = closing == tag || closing.strip_prefix("end_") == tag.strip_prefix("start_");
        // `<city>Bern</city>` is a parameter.
        let is_call = tag.contains("call") || tag.contains("tool");
        (is_call && is_closing && !inner.trim_start().starts_with('<') && !inner.contains("</")).then_some(inner)
    };
    inner().map_or(text, str::trim)
}

/// `f(a=1)` of `[f(a=1)]`.
fn list_of_one(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    let name = inner.get(..inner.find('(')?)?;
    (is_name(name) && inner.ends_with(')')).then_some(inner)
}

/// `f(a=1)` of `result = f(a=1)`.
fn assigned_call(text: &str) -> Option<&str> {
    let (left, right) = text.split_once('=')?;
    let right = right.trim();
    let name = right.get(..right.find('(')?)?;
    let left = left.trim().rsplit(' ').next()?;
    (is_name(left) && is_name(name) && right.trim_end_matches(';').ends_with(')')).then_some(right)
}

/// `f(a=1)` of `print(f(a=1))`.
fn printed_call(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("print(")?.strip_suffix(')')?;
    let name = inner.get(..inner.find('(')?)?;
    is_name(name).then_some(inner)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_a_notation_is_dropped() {
        for (text, expected) in [
            ("f(a=1)", "f(a=1)"),
            ("[f(a=1)]", "f(a=1)"),
            ("<|tool_call_start|>[f(a=1)]<|tool_call_end|>", "f(a=1)"),
            ("result = f(a=1)", "f(a=1)"),
            ("print(f(a=1))", "f(a=1)"),
            ("await f(a=1)", "f(a=1)"),
            ("```python\nf(a=1)\n```", "f(a=1)"),
            ("Here it is:\n```yaml\na: 1\n```\nDone.", "a: 1"),
            ("<start_function_call>call:f{a:<escape>x<escape>}<end_function_call>", "call:f{a:\"x\"}"),
            ("<|tool_call>call:f{a:<|\"|>x<|\"|>}<tool_call|>", "call:f{a:\"x\"}"),
            ("<｜a▁b｜>function<｜c｜><x>1</x>", "<x>1</x>"),
            ("a = 1", "a = 1"),
            ("```\na\n```\n```\nb\n```", "```\na\n```\n```\nb\n```"),
        ] {
            assert_eq!(without_layers(text), expected, "case: {text}");
        }
    }
}
