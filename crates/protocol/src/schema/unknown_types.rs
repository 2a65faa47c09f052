//! Types in a schema that neither JSON Schema nor a programming language defines, such as a misspelt `strin`.

use std::fmt;

use super::normalise::{MAP_KEYWORDS, SCHEMA_KEYWORDS, TYPES};
use super::{X_TYPE, for_type};
use crate::spelling::nearest;
use crate::{Object, Path, Value};

/// A type that has no meaning. A schema with it allows any value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownType {
    pub path: Path,
    /// The type, without the words around it: `Money` in `[]Money`.
    pub word: String,
    /// The type of JSON Schema that is spelt alike, if any.
    pub suggestion: Option<&'static str>,
}

impl fmt::Display for UnknownType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown type `{}` at `{}` allows any value", self.word, self.path)?;
        self.suggestion.map_or(Ok(()), |name| write!(f, "; did you mean `{name}`?"))
    }
}

/// The unknown types of a schema, before [`normalise_types`](super::normalise_types) removes them.
pub fn unknown_types(schema: &Value) -> Vec<UnknownType> {
    let mut found = Vec::new();
    collect(schema, &Path::root(), &mut found);
    found
}

fn collect(schema: &Value, path: &Path, found: &mut Vec<UnknownType>) {
    // The parser limits how deep a value is nested.
    let object = match schema {
        Value::Object(object) => object,
        Value::Array(schemas) => {
            return schemas.iter().enumerate().for_each(|(index, schema)| collect(schema, &path.index(index), found));
        }
        _ => return,
    };
    let types = object.get("type").map(|kind| kind.as_array().unwrap_or(std::slice::from_ref(kind)));
    for word in types.unwrap_or_default().iter().filter_map(Value::as_str).filter(|word| !TYPES.contains(word)) {
        if let Some(word) = unknown_word(&for_type(word)) {
            let suggestion = nearest(&word, TYPES);
            found.push(UnknownType { path: path.clone(), word, suggestion });
        }
    }
    for (keyword, value) in object {
        let path = path.key(keyword);
        if SCHEMA_KEYWORDS.contains(&keyword) {
            collect(value, &path, found);
        } else if let (true, Value::Object(map)) = (MAP_KEYWORDS.contains(&keyword), value) {
            map.iter().for_each(|(name, schema)| collect(schema, &path.key(name), found));
        }
    }
}

/// The word without a meaning in the schema of a type word, at any depth: `Money` of `[]Money`.
fn unknown_word(schema: &Object) -> Option<String> {
    let inner = || ["items", "additionalProperties"].into_iter().find_map(|key| schema.get(key)?.as_object());
    match schema.get(X_TYPE) {
        Some(word) => word.as_str().map(str::to_owned),
        None => unknown_word(inner()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_without_a_meaning_are_found_wherever_a_schema_stands() {
        for (schema, expected) in [
            (r#"{"type": "object", "properties": {"type": {"type": "string", "enum": ["strin"]}}}"#, &[][..]),
            (r#"{"type": ["*time.Time", "[]byte", "null"]}"#, &["$ []byte"]),
            (r#"{"type": "[]map[string]Money", "examples": [{"type": "strin"}]}"#, &["$ Money"]),
            (
                r#"{"anyOf": [{"type": "boolen"}], "$defs": {"a": {"items": {"type": ["interger", "null"]}}}}"#,
                &["$.anyOf[0] boolen -> boolean", "$[\"$defs\"].a.items interger -> integer"],
            ),
        ] {
            let shown = |unknown: &UnknownType| match unknown.suggestion {
                Some(name) => format!("{} {} -> {name}", unknown.path, unknown.word),
                None => format!("{} {}", unknown.path, unknown.word),
            };
            let found: Vec<String> = unknown_types(&Value::parse(schema).unwrap()).iter().map(shown).collect();
            assert_eq!(found, expected, "schema: {schema}");
        }
    }
}
