//! `f(path="/a", new=False)`, `path="/a", new=False`, `path: "/a", new: false`, `{:path => "/a"}`, `['path' => '/a']`,
//! `{["path"] = "/a"}`, `mapOf("path" to "/a")` and `Map.of("path", "/a")`.

use reknit_protocol::{Object, Value};

use super::{insert, literal};

/// Reads assignments between commas, perhaps in brackets or as the arguments of a call. Arguments without a name are refused.
pub(super) fn read(text: &str) -> Option<Object> {
    let text = call_of_query(text).unwrap_or(text);
    let inside = inside_brackets(text)?;
    let entries = entries(inside)?;
    if text.starts_with("Map.of(") {
        return alternating(&entries);
    }
    if text.starts_with("OrderedDict(") {
        return pairs(inside);
    }
    let mut object = Object::new();
    for entry in entries {
        let (key, value) = split_assignment(entry)?;
        insert(&mut object, key_name(key)?, literal(value)?)?;
    }
    Some(object)
}

/// `"path", "/a", "new", false`: keys and values in turn.
fn alternating(entries: &[&str]) -> Option<Object> {
    let (pairs, rest) = entries.as_chunks::<2>();
    let mut object = Object::new();
    for [key, value] in pairs {
        insert(&mut object, literal(key)?.as_str()?, literal(value)?)?;
    }
    rest.is_empty().then_some(object)
}

/// `[('path', '/a'), ('new', False)]`
fn pairs(text: &str) -> Option<Object> {
    let Value::Array(pairs) = literal(text)? else { return None };
    let mut object = Object::new();
    for pair in &pairs {
        let [key, value] = pair.as_array()? else { return None };
        insert(&mut object, key.as_str()?, value.clone())?;
    }
    Some(object)
}

/// `f(path: "/a")` of `{ f(path: "/a") }` and `mutation { f(path: "/a") { ok } }`, as in GraphQL.
fn call_of_query(text: &str) -> Option<&str> {
    let rest = ["mutation", "query"].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text).trim_start();
    let inner = rest.strip_prefix('{').map_or(rest, |rest| rest.strip_suffix('}').unwrap_or(rest)).trim();
    let end = inner.rfind(')')?;
    let name = inner.get(..inner.find('(')?)?;
    let selection = inner.get(end + 1..)?.trim();
    let is_selection = selection.is_empty() || (selection.starts_with('{') && selection.ends_with('}'));
    (is_function_name(name) && is_selection && !selection.contains('"')).then(|| inner.get(..=end))?
}

/// What is in the brackets around the whole text, if there are any: `{...}`, `[...]`, `f(...)`, `call:f{...}`.
fn inside_brackets(text: &str) -> Option<&str> {
    let text = text.strip_suffix(';').unwrap_or(text).trim_end();
    let text =
        ["@{", "%{", "#{"].iter().find(|mark| text.starts_with(**mark)).map_or(text, |_| text.get(1..).unwrap_or(text));
    let open = text.find(['{', '[', '(', '"', '\'', '='])?;
    let before = text.get(..open)?.trim_end();
    let closer = match text.as_bytes().get(open)? {
        b'{' if open == 0 || before == "new" || before == "arguments" || before.starts_with("call:") => '}',
        b'[' if open == 0 => ']',
        b'(' if open == 0 || is_function_name(before) => ')',
        b'=' => return Some(text),
        b'"' | b'\'' if open == 0 && text.contains(':') => return Some(text),
        // `path: "/a", new: false`
        b'"' | b'\'' if before.strip_suffix(':').is_some_and(is_function_name) => return Some(text),
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
    // Of Scala, Kotlin and Erlang.
    let quoted = entry.strip_prefix('"').and_then(|rest| rest.find('"')).map(|len| len + 2);
    if let Some(end) = quoted
        && let Some((key, rest)) = entry.split_at_checked(end)
        && let Some(value) = ["->", "to "].iter().find_map(|mark| rest.trim_start().strip_prefix(mark))
    {
        return Some((key, value));
    }
    let at = from + entry.get(from..)?.find(['=', ':'])?;
    let (key, rest) = entry.split_at(at);
    let value = [":=", "=>", ":", "="].iter().find_map(|mark| rest.strip_prefix(mark))?;
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
            (r#"path: "/a, b", new: false"#, expected),
            (r"@{ path = '/a, b'; new = $false }", expected),
            (r#"mapOf("path" to "/a, b", "new" to false)"#, expected),
            (r#"Map("path" -> "/a, b", "new" -> false)"#, expected),
            (r#"Map.of("path", "/a, b", "new", false)"#, expected),
            ("OrderedDict([('path', '/a, b'), ('new', False)])", expected),
            (r#"(path => "/a, b", new => false)"#, expected),
            (r#"#{path => "/a, b", new => false}"#, expected),
            (r#"new { path = "/a, b", new = false }"#, expected),
            (r#"{ open(path: "/a, b", new: false) }"#, expected),
            (r#"mutation { open(path: "/a, b", new: false) { ok } }"#, expected),
            (r#"call:open{path:"/a, b",new:false}"#, expected),
            ("arguments {\n  path = \"/a, b\"\n  new = false\n}", None),
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
