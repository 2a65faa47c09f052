//! Marks that models write around keys: `*name`, `$name`, `name:`, `count:int`, `name (string)`, `arguments.name`, `1. name`.

use reknit_protocol::spelling::folded;

use super::parse_scalar::{is_invisible, narrow_form, without_tokens};

/// The keys under which models put the arguments of a call, folded.
pub(crate) const ARGUMENT_KEYS: [&str; 8] =
    ["arguments", "parameters", "args", "params", "input", "toolinput", "kwargs", "functionarguments"];

const TYPE_WORDS: &str = "str string text int integer float number double bool boolean list array dict object any date \
    datetime optional required";

/// The key without the marks around it; `None` if it has none.
pub(crate) fn without_marks(key: &str) -> Option<String> {
    let visible: String = key.chars().filter(|c| !is_invisible(*c) && !c.is_control()).map(narrow_form).collect();
    // Markdown escapes underscores.
    let visible = visible.replace('\\', "");
    let mut inner = without_type(visible.trim());
    inner = without_argument_layer(inner);
    inner = without_number(inner);
    loop {
        let before = inner;
        inner = without_argument_tag(without_tokens(inner));
        inner =
            inner.trim().trim_start_matches(['*', '$', '@', '/']).trim_end_matches([':', '=', '*', '?', '!']).trim();
        inner = ["--", "#/", "./"].iter().find_map(|mark| inner.strip_prefix(mark)).unwrap_or(inner);
        inner = ["<|"].iter().find_map(|mark| inner.strip_prefix(mark)).unwrap_or(inner);
        inner = inner.strip_suffix("|>").unwrap_or(inner);
        for (open, close) in PAIRS {
            inner = inner.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).unwrap_or(inner);
        }
        // A quote of which the other one is missing.
        inner = inner.strip_prefix('"').filter(|rest| !rest.contains('"')).unwrap_or(inner);
        if inner == before {
            break;
        }
    }
    (!inner.is_empty() && inner != key).then(|| inner.to_owned())
}

/// Pairs of marks around a key.
const PAIRS: [(char, char); 11] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('”', '”'),
    ('‘', '’'),
    ('「', '」'),
    ('[', ']'),
    ('{', '}'),
    ('<', '>'),
    ('%', '%'),
];

/// `name` of `1. name` and `(1) name`.
fn without_number(key: &str) -> &str {
    let rest = key.strip_prefix('(').unwrap_or(key);
    let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let name = if name.len() < rest.len() { name.strip_prefix([')', '.']) } else { None };
    name.and_then(|name| name.strip_prefix(' ')).unwrap_or(key)
}

/// `name` of `name</arg_key>` and `<arg_key>name`.
fn without_argument_tag(key: &str) -> &str {
    let is_tag = |tag: &str| tag.ends_with("arg_key") || matches!(tag, "parameter" | "key");
    let end = |key: &'_ str| {
        key.strip_suffix('>').and_then(|rest| rest.rsplit_once("</")).is_some_and(|(_, tag)| is_tag(tag))
    };
    if end(key)
        && let Some((name, _)) = key.rsplit_once("</")
    {
        return name;
    }
    match key.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((tag, name)) if is_tag(tag.trim_start_matches('/')) && !name.is_empty() => name,
        _ => key,
    }
}

/// The key without its type: `count:int`, `name (string, optional)`.
fn without_type(key: &str) -> &str {
    let Some((name, rest)) = key.split_once([':', '(', '<']) else { return key };
    let mut words = rest.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    let is_type = |word: &str| TYPE_WORDS.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(word));
    if words.peek().is_some() && words.all(is_type) { name } else { key }
}

/// The key without the word for the arguments before it: `arguments.name`, `input[name]`, `$.name`.
fn without_argument_layer(key: &str) -> &str {
    let Some((layer, rest)) = key.split_once(['.', '[']) else { return key };
    let is_layer = layer == "$" || ARGUMENT_KEYS.contains(&folded(layer).as_str());
    let name = rest.strip_suffix(']').unwrap_or(rest);
    if is_layer && !name.contains(['.', '[']) { name } else { key }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_around_a_key_are_dropped_and_its_name_is_kept() {
        for (key, expected) in [
            ("*name", Some("name")),
            ("**name**", Some("name")),
            ("$name", Some("name")),
            ("--max-results", Some("max-results")),
            ("name:", Some("name")),
            ("name =", Some("name")),
            ("\"name\"", Some("name")),
            ("`name`", Some("name")),
            ("count:int", Some("count")),
            ("tags: List[str]", Some("tags")),
            ("name (string, optional)", Some("name")),
            ("arguments.name", Some("name")),
            ("args['name']", Some("name")),
            ("$.name", Some("name")),
            ("\u{200b}na\u{200b}me", Some("name")),
            ("file\\_name", Some("file_name")),
            ("1. name", Some("name")),
            ("(2) name", Some("name")),
            ("[name]", Some("name")),
            ("“name”", Some("name")),
            ("#/name", Some("name")),
            ("name<|im_end|>", Some("name")),
            ("name</arg_key>", Some("name")),
            ("ｎａｍｅ", Some("name")),
            ("!name", None),
            ("name>", None),
            ("10 names", None),
            ("name", None),
            ("weight (kg)", None),
            ("filter.name", None),
            ("args.filter.name", None),
            ("a:b", None),
            ("**", None),
        ] {
            assert_eq!(without_marks(key).as_deref(), expected, "case: {key}");
        }
    }
}
