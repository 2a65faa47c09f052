use super::*;

fn translated(dialect: Dialect, schema: &str) -> Option<String> {
    translate(dialect, &Value::parse(schema).unwrap()).map(|schema| schema.to_string())
}

fn object(property: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"a":{property}}},"required":["a"]}}"#)
}

/// The translation of the one property of an object.
fn property(dialect: Dialect, property: &str) -> Option<String> {
    let schema = translate(dialect, &Value::parse(&object(property)).unwrap())?;
    Some(schema.get("properties")?.get("a")?.to_string())
}

#[test]
fn a_constraint_is_kept_where_it_is_known_and_told_to_the_model_elsewhere() {
    for (schema, openai, azure, anthropic) in [
        (
            r#"{"type":"integer","minimum":1}"#,
            r#"{"type":"integer","minimum":1}"#,
            r#"{"type":"integer","description":"(minimum: 1)"}"#,
            r#"{"type":"integer","description":"(minimum: 1)"}"#,
        ),
        (
            r#"{"type":"string","format":"uri","description":"Where."}"#,
            r#"{"description":"Where. (format: \"uri\")","type":"string"}"#,
            r#"{"description":"Where. (format: \"uri\")","type":"string"}"#,
            r#"{"description":"Where.","type":"string","format":"uri"}"#,
        ),
        (
            r#"{"type":"string","pattern":"^a$","maxLength":3}"#,
            r#"{"type":"string","pattern":"^a$","description":"(maxLength: 3)"}"#,
            r#"{"type":"string","description":"(pattern: \"^a$\", maxLength: 3)"}"#,
            r#"{"type":"string","description":"(pattern: \"^a$\", maxLength: 3)"}"#,
        ),
    ] {
        assert_eq!(property(Dialect::OpenAi, schema).as_deref(), Some(openai));
        assert_eq!(property(Dialect::Azure, schema).as_deref(), Some(azure));
        assert_eq!(property(Dialect::Anthropic, schema).as_deref(), Some(anthropic));
    }
    let looking_ahead = property(Dialect::OpenAi, r#"{"type":"string","pattern":"(?=a)"}"#).unwrap();
    assert!(looking_ahead.starts_with(r#"{"type":"string","description""#), "{looking_ahead}");
}

#[test]
fn an_optional_property_is_nullable_where_every_property_is_required() {
    for (schema, expected) in [
        (r#"{"type":"string"}"#, r#"{"type":["string","null"]}"#),
        (r#"{"type":["string","null"]}"#, r#"{"type":["string","null"]}"#),
        (r#"{"enum":["x","y"]}"#, r#"{"type":["string","null"],"enum":["x","y",null]}"#),
        (r#"{"const":"x"}"#, r#"{"anyOf":[{"type":"string","const":"x"},{"type":"null"}]}"#),
        (r##"{"$ref":"#/definitions/b"}"##, r##"{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]}"##),
        (r#"{"anyOf":[{"type":"string"}]}"#, r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#),
    ] {
        let all =
            format!(r#"{{"type":"object","properties":{{"a":{schema}}},"definitions":{{"b":{{"type":"integer"}}}}}}"#);
        let translated = translate(Dialect::OpenAi, &Value::parse(&all).unwrap()).unwrap();
        let found = translated.get("properties").and_then(|properties| properties.get("a")).unwrap();
        assert_eq!(found.to_string(), expected);
        assert_eq!(translated.get("required").unwrap().to_string(), r#"["a"]"#);
        let optional = translate(Dialect::Anthropic, &Value::parse(&all).unwrap()).unwrap();
        assert!(optional.get("required").is_none(), "{optional}");
    }
}

#[test]
fn references_and_unions_have_the_spelling_that_every_provider_knows() {
    for (schema, expected) in [
        (r##"{"$ref":"#/$defs/b","description":"x"}"##, Some(r##"{"$ref":"#/$defs/b"}"##)),
        (r##"{"allOf":[{"$ref":"#/definitions/b"}],"default":1}"##, Some(r##"{"$ref":"#/$defs/b"}"##)),
        (r#"{"oneOf":[{"type":"string"},{"type":"null"}]}"#, Some(r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#)),
        (r##"{"$ref":"#/properties/a"}"##, None),
        (r#"{"allOf":[{"type":"string"},{"minLength":1}]}"#, None),
    ] {
        for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
            assert_eq!(property(dialect, schema).as_deref(), expected, "{schema}");
        }
    }
}

#[test]
fn what_a_dialect_cannot_express_has_no_translation() {
    for property in [
        r#"{"type":"object"}"#,
        r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
        r#"{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":true}"#,
        r#"{"type":"array"}"#,
        r#"{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"string"}}"#,
        "{}",
        "true",
        r#"{"enum":[[1]]}"#,
    ] {
        for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
            assert_eq!(translated(dialect, &object(property)), None, "{property}");
        }
        assert!(translated(Dialect::Gemini, &object(property)).is_some(), "{property}");
    }
    for root in [r#"{"type":"array","items":{"type":"string"}}"#, r#"{"anyOf":[{"type":"object"}]}"#, "true", "7"] {
        assert_eq!(translated(Dialect::OpenAi, root), None, "{root}");
    }
    let nested = (0..12).fold(r#"{"type":"string"}"#.to_owned(), |inner, _| object(&inner));
    assert_eq!(translated(Dialect::OpenAi, &nested), None);
    assert!(translated(Dialect::Anthropic, &nested).is_some());
}

#[test]
fn a_recursive_schema_has_no_translation_for_anthropic() {
    let list = r##"{"type":"object","properties":{"next":{"$ref":"#/$defs/a"}},"$defs":{
        "a":{"type":"object","properties":{"b":{"$ref":"#/$defs/b"}}},"b":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}}}}}"##;
    assert!(translated(Dialect::OpenAi, list).is_some());
    assert_eq!(translated(Dialect::Anthropic, list), None);
    let whole = r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##;
    assert_eq!(translated(Dialect::Anthropic, whole), None);
    let twice = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}"##;
    assert!(translated(Dialect::Anthropic, twice).is_some());
}

#[test]
fn too_many_optional_properties_have_no_translation_for_anthropic() {
    let schema = |count: usize| {
        let properties: Vec<String> = (0..count).map(|index| format!(r#""p{index}":{{"type":"string"}}"#)).collect();
        format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","))
    };
    assert!(translated(Dialect::Anthropic, &schema(24)).is_some());
    assert_eq!(translated(Dialect::Anthropic, &schema(25)), None);
    assert!(translated(Dialect::OpenAi, &schema(25)).is_some());
}

#[test]
fn a_translation_needs_no_further_translation() {
    for schema in [
        object(r#"{"type":"string","format":"uri","minLength":2}"#),
        object(r#"{"type":"array","items":{"type":"object","properties":{"b":{"const":1}}}}"#),
        r#"{"$schema":"x","type":"object","properties":{"a":{"type":"integer","minimum":1,"default":3}}}"#.to_owned(),
    ] {
        for dialect in [Dialect::OpenAi, Dialect::Azure, Dialect::Anthropic, Dialect::Gemini] {
            let once = translate(dialect, &Value::parse(&schema).unwrap()).unwrap();
            assert_eq!(translate(dialect, &once), Some(once), "{dialect:?}");
        }
    }
}
