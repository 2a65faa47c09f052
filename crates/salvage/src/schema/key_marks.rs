//! Marks that models write around keys: `*name`, `$name`, `name:`, `count:int`, `name (string)`, `arguments.name`.

use reknit_protocol::spelling::folded;

/// The keys under which models put the arguments of a call, folded.
pub(crate) const ARGUMENT_KEYS: [&str; 8] =
    ["arguments", "parameters", "args", "params", "input", "toolinput", "kwargs", "functionarguments"];

const TYPE_WORDS: &str = "str string text int integer float number double bool boolean list array dict object any date \
    datetime optional required";

/// The key without the marks around it; `None` if it has none.
pub(crate) fn without_marks(key: &str) -> Option<String> {
    let visible: String = key.chars().filter(|c| !is_invisible(*c)).collect();
    let mut inner = without_type(visible.trim());
    inner = without_argument_layer(inner);
    loop {
        let before = inner;
        inner = inner.trim().trim_start_matches(['*', '$', '@']).trim_end_matches([':', '=', '*', '?']).trim();
        inner = inner.strip_prefix("--").unwrap_or(inner);
        for quote in ['"', '\'', '`'] {
            inner = inner.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).unwrap_or(inner);
        }
        if inner == before {
            break;
        }
    }
    (!inner.is_empty() && inner != key).then(|| inner.to_owned())
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}') || c.is_control()
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
