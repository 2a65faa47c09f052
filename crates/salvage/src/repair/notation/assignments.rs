//! `f(path="/a", new=False)`, `path="/a", new=False`, `{:path => "/a"}`, `['path' => '/a']` and `{["path"] = "/a"}`.

use reknit_protocol::Object;

use super::{insert, literal};

/// Reads assignments between commas, perhaps in brackets or as the arguments of a call. Arguments without a name are refused.
pub(super) fn read(text: &str) -> Option<Object> {
    let mut object = Object::new();
    for entry in entries(inside_brackets(text)?)? {
        let (key, value) = split_assignment(entry)?;
        insert(&mut object, key_name(key)?, literal(value)?)?;
    }
    Some(object)
}

/// What is in the brackets around the whole text, if there are any: `{...}`, `[...]`, `f(...)`.
fn inside_brackets(text: &str) -> Option<&str> {
    let text = text.strip_suffix(';').unwrap_or(text).trim_end();
    let open = text.find(['{', '[', '(', '"', '\'', '='])?;
    let closer = match text.as_bytes().get(open)? {
        b'{' if open == 0 => '}',
        b'[' if open == 0 => ']',
        b'(' if is_function_name(text.get(..open)?.trim_end()) => ')',
        b'=' => return Some(text),
        _ => return None,
    };
    text.get(open + 1..)?.strip_suffix(closer)
}

fn is_function_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-'))
}

/// The parts between commas that are outside of quotes and brackets. A comma may stand behind the last part.
fn entries(text: &str) -> Option<Vec<&str>> {
    let (mut entries, mut start, mut depth, mut quote, mut is_escaped) = (Vec::new(), 0, 0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            (None, ',' | ';') if depth == 0 => {
                entries.push(text.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text.get(start..)?;
    if !last.trim().is_empty() {
        entries.push(last);
    }
    (quote.is_none() && depth == 0 && !entries.is_empty()).then_some(entries)
}

/// The key and the value around the first `=`, `=>` or `:`.
fn split_assignment(entry: &str) -> Option<(&str, &str)> {
    let entry = entry.trim();
    // The key of Ruby and of Lua may begin with a colon or a bracket.
    let from = entry.find(|c: char| c != ':' && c != '[')?;
    let at = from + entry.get(from..)?.find(['=', ':'])?;
    let (key, rest) = entry.split_at(at);
    let value = rest.strip_prefix("=>").or_else(|| rest.strip_prefix([':', '=']))?;
    (!value.starts_with(['=', ':'])).then_some((key.trim(), value))
}

/// The name in `name`, `"name"`, `:name` and `["name"]`.
fn key_name(key: &str) -> Option<&str> {
    let key = key.strip_prefix(':').unwrap_or(key);
    let key = key.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(key);
    let quoted = ['"', '\''].into_iter().find_map(|quote| key.strip_prefix(quote)?.strip_suffix(quote));
    Some(quoted.unwrap_or(key)).filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_literals_are_read() {
        let expected = Some(r#"{"path":"/a, b","new":false}"#);
        for (text, expected) in [
            (r#"open(path="/a, b", new=False)"#, expected),
            ("fs.open(path = '/a, b', new = false,)", expected),
            (r#"path="/a, b", new=False"#, expected),
            (r#"{path = "/a, b"; new = false}"#, expected),
            (r#"{["path"] = "/a, b", ["new"] = false}"#, expected),
            (r#"{:path => "/a, b", :new => false}"#, expected),
            ("['path' => '/a, b', 'new' => false]", expected),
            ("array('path' => '/a, b', 'new' => false)", expected),
            (r#"f(ids=[1, 2], to={"a": 1})"#, Some(r#"{"ids":[1,2],"to":{"a":1}}"#)),
            (r#"open("/a", new=False)"#, None),
            ("open(path=name)", None),
            (r#"open(path="/a", path="/b")"#, None),
            (r#"open(path="/a""#, None),
            (r#"open(path=open("/a"))"#, None),
            ("if (a == 1)", None),
            ("open()", None),
            ("", None),
        ] {
            assert_eq!(read(text).map(|object| object.to_string()).as_deref(), expected, "case: {text}");
        }
    }
}
