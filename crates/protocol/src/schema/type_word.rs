//! Type words of several programming languages, converted to JSON Schema.

use super::X_TYPE;
use crate::{Object, Value};

/// The deepest nesting that is read in a type word such as `list[list[int]]`. Tools write these words, so the recursion
/// needs a limit.
const MAX_NESTING: usize = 16;

/// The JSON Schema of a type word: its `type`, and `items` or `additionalProperties` where the word names them.
///
/// | word (case does not matter) | schema |
/// |---|---|
/// | `string`, `str`, `text` | `string` |
/// | `number`, `float64`, `float32`, `float`, `double`, `decimal` | `number` |
/// | `integer`, `int`, `int8` to `int64`, `long`, `short` | `integer` |
/// | `uint`, `uint8` to `uint64` | `integer` with `minimum` 0 |
/// | `boolean`, `bool` | `boolean` |
/// | `array`, `list`, `slice` | `array` |
/// | `[]T`, `T[]`, `array<T>`, `list[T]` | `array`, with the schema of T as `items` |
/// | `object`, `map`, `dict`, `struct` | `object` |
/// | `map[K]V`, `map<K, V>`, `dict[K, V]` | `object`, with the schema of V as `additionalProperties` |
/// | `time.Time` | `string` with `format` date-time |
/// | `*T`, a pointer in Go | the schema of T, or null |
/// | `any`, `interface{}`, nothing at all | no constraint |
/// | any other word | no constraint; `x-type` keeps the word |
///
/// `[]byte` counts as another word, because Go writes it as a base64 string.
pub fn for_type(word: &str) -> Object {
    parse(word, MAX_NESTING)
}

/// The schema of a word with at most `levels` levels of type parameters.
fn parse(word: &str, levels: usize) -> Object {
    let word = word.trim();
    let schema = levels.checked_sub(1).and_then(|inner| plain(word).or_else(|| generic(word, inner)));
    schema.unwrap_or_else(|| Object::from([(X_TYPE, word.into())]))
}

fn plain(word: &str) -> Option<Object> {
    let name = match word.to_lowercase().as_str() {
        "string" | "str" | "text" => "string",
        "number" | "float64" | "float32" | "float" | "double" | "decimal" => "number",
        "integer" | "int" | "int8" | "int16" | "int32" | "int64" | "long" | "short" => "integer",
        "uint" | "uint8" | "uint16" | "uint32" | "uint64" => {
            return Some(Object::from([("type", "integer".into()), ("minimum", 0.into())]));
        }
        "boolean" | "bool" => "boolean",
        "array" | "list" | "slice" => "array",
        "object" | "map" | "dict" | "struct" => "object",
        "any" | "interface{}" | "" => return Some(Object::new()),
        "time.time" => return Some(Object::from([("type", "string".into()), ("format", "date-time".into())])),
        _ => return None,
    };
    Some(Object::from([("type", name.into())]))
}

/// The schema of a word with type parameters, which may have up to `levels` levels of their own.
fn generic(word: &str, levels: usize) -> Option<Object> {
    if word.eq_ignore_ascii_case("[]byte") {
        return None;
    }
    if let Some(target) = word.strip_prefix('*') {
        return Some(or_null(parse(target, levels)));
    }
    let array_of = |item| Object::from([("type", "array".into()), ("items", parse(item, levels).into())]);
    let object_of =
        |value| Object::from([("type", "object".into()), ("additionalProperties", parse(value, levels).into())]);
    if let Some(item) = word.strip_prefix("[]").or_else(|| word.strip_suffix("[]")) {
        return Some(array_of(item));
    }
    let (head, rest) = word.split_at_checked(word.find(['[', '<'])?)?;
    let (inner, tail) = split_brackets(rest)?;
    match (plain(head.trim())?.get("type")?.as_str()?, split_at_comma(inner), tail) {
        ("array", None, "") => Some(array_of(inner)),
        ("object", Some((_, value)), "") => Some(object_of(value)),
        // `map[string]int`: the key type is in the brackets, the value type follows them.
        ("object", None, value) if !value.is_empty() => Some(object_of(value)),
        _ => None,
    }
}

fn or_null(mut schema: Object) -> Object {
    if let Some(Value::String(name)) = schema.get("type").cloned() {
        schema.insert("type", vec![Value::String(name), "null".into()]);
    }
    schema
}

/// Splits `text`, which starts with a bracket, into the content of that bracket and the rest.
fn split_brackets(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '<' => depth += 1,
            ']' | '>' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some((text.get(1..at)?, text.get(at + 1..)?));
        }
    }
    None
}

fn split_at_comma(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let comma = text.char_indices().find(|(_, letter)| {
        match letter {
            '[' | '<' => depth += 1,
            ']' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *letter == ','
    });
    let (at, _) = comma?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_maps_to_its_json_schema_type() {
        for (words, schema) in [
            ("string str text String TEXT", r#"{"type":"string"}"#),
            ("number float64 float32 float double decimal Float64", r#"{"type":"number"}"#),
            ("integer int int8 int16 int32 int64 long short INT", r#"{"type":"integer"}"#),
            ("uint uint8 uint16 uint32 uint64", r#"{"type":"integer","minimum":0}"#),
            ("boolean bool Bool", r#"{"type":"boolean"}"#),
            ("array list slice", r#"{"type":"array"}"#),
            ("object map dict struct", r#"{"type":"object"}"#),
            ("any interface{}", "{}"),
            ("time.Time", r#"{"type":"string","format":"date-time"}"#),
            ("*string", r#"{"type":["string","null"]}"#),
            ("*time.Time", r#"{"type":["string","null"],"format":"date-time"}"#),
            ("*interface{} **any", "{}"),
        ] {
            for word in words.split(' ') {
                assert_eq!(for_type(word).to_string(), schema, "word: {word}");
            }
        }
    }

    #[test]
    fn generic_words_keep_the_types_of_their_parts() {
        for (word, schema) in [
            ("[]string", r#"{"type":"array","items":{"type":"string"}}"#),
            ("string[]", r#"{"type":"array","items":{"type":"string"}}"#),
            ("array<int>", r#"{"type":"array","items":{"type":"integer"}}"#),
            ("List[str]", r#"{"type":"array","items":{"type":"string"}}"#),
            ("[][]float64", r#"{"type":"array","items":{"type":"array","items":{"type":"number"}}}"#),
            ("map[string]string", r#"{"type":"object","additionalProperties":{"type":"string"}}"#),
            ("map<string, int>", r#"{"type":"object","additionalProperties":{"type":"integer"}}"#),
            (
                "dict[str, list[bool]]",
                r#"{"type":"object","additionalProperties":{"type":"array","items":{"type":"boolean"}}}"#,
            ),
            (
                "[]map[string]int",
                r#"{"type":"array","items":{"type":"object","additionalProperties":{"type":"integer"}}}"#,
            ),
            ("map[string]interface{}", r#"{"type":"object","additionalProperties":{}}"#),
            ("[]Date", r#"{"type":"array","items":{"x-type":"Date"}}"#),
        ] {
            assert_eq!(for_type(word).to_string(), schema, "word: {word}");
        }
    }

    #[test]
    fn an_unknown_word_adds_no_constraint_and_is_kept_as_written() {
        for word in
            ["Date", "string|number", "array<int", "array<int>>", "set{int}", "[]byte", "string<int>", "map<int>", "é["]
        {
            assert_eq!(for_type(word), Object::from([(X_TYPE, word.into())]), "word: {word}");
        }
        assert!(for_type(" ").is_empty());
    }

    #[test]
    fn a_deeply_nested_word_is_cut_at_the_limit() {
        let word = "[]".repeat(100_000) + "int";
        assert!(for_type(&word).to_string().contains(X_TYPE));
    }
}
