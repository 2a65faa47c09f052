//! Serializes paths as text: `$.items[0]["odd key"]`.

use reknit_protocol::{Path, Value};
use serde::{Deserialize, Deserializer, Serializer, de};

pub(crate) fn serialize<S: Serializer>(path: &Path, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(path)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Path, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text).ok_or_else(|| de::Error::custom(format!("`{text}` is not a path such as `$.items[0].id`")))
}

/// Parses the output of `Path`'s `Display`.
fn parse(text: &str) -> Option<Path> {
    let mut path = Path::root();
    let mut rest = text.strip_prefix('$')?;
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let (key, after) = name.split_at_checked(end).filter(|(key, _)| !key.is_empty())?;
            path.push_key(key);
            rest = after;
        } else if let Some(quoted) = rest.strip_prefix('[').filter(|inside| inside.starts_with('"')) {
            let (key, after) = quoted.split_at_checked(crate::expression::quoted_len(quoted)?)?;
            path.push_key(Value::parse(key).ok()?.as_str()?);
            rest = after.strip_prefix(']')?;
        } else {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            path.push_index(index.parse().ok()?);
            rest = after;
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_path_parses_to_the_same_path() {
        let odd = Path::root().key("a.b").key("").key("0").key("\"]\\").key("é");
        for path in [Path::root(), Path::root().key("items").index(0).key("id"), odd] {
            assert_eq!(parse(&path.to_string()), Some(path));
        }
        for text in ["", "a", "$.", "$[", "$[\"a\"", "$[x]", "$a"] {
            assert_eq!(parse(text), None, "case: {text}");
        }
    }
}
