//! Parsing templates, and binding them to results.

use reknit_expressions::{Binding, Parameters, Template, TextPart, bind};
use reknit_protocol::{Object, Value};

use crate::expression::{ids, results};
use crate::text_of;

/// A template keeps the literal parts of its text; a text without braces, or with escaped ones, is a literal; a bound value
/// is JSON with its provenance.
///
/// The input is a text, a line break or NUL, and a value with the results.
pub fn template(data: &[u8]) {
    let text = text_of(data);
    let (text, document) = text.split_once(['\n', '\0']).unwrap_or((&text, ""));
    let value = Value::from(text);
    match Template::parse(&value, &ids()) {
        Ok(template) => assert_template_matches(&template, text),
        Err(error) => {
            assert!(text.contains("{{"), "a text without braces was refused: {error}");
            assert!(error.position <= text.chars().count(), "position {} is outside the text", error.position);
        }
    }
    let escaped = Value::from(text.replace("{{", "{{{{"));
    assert_eq!(Template::parse(&escaped, &ids()), Ok(Template::Literal(value.clone())), "an escaped text is a literal");
    assert_binds(value, document);
}

fn assert_template_matches(template: &Template, text: &str) {
    match template {
        Template::Literal(Value::String(literal)) => assert_eq!(*literal, text.replace("{{{{", "{{")),
        Template::Literal(other) => panic!("{text} became {other}"),
        Template::Reference(reference) => assert_parses_back(&reference.to_string(), template),
        Template::Expression(expression) => assert_parses_back(&expression.to_string(), template),
        Template::Text(parts) => {
            let is_hole = |part: &TextPart| matches!(part, TextPart::Placeholder(_));
            assert!(parts.parts.iter().any(is_hole), "a text without holes is a literal");
            assert!(
                parts.parts.windows(2).all(|pair| is_hole(&pair[0]) || is_hole(&pair[1])),
                "adjacent literals are joined"
            );
        }
        Template::Array(_) | Template::Object(_) => panic!("{text} became an array or an object"),
    }
}

/// Asserts that the printed content of a hole, in braces again, parses to the same hole.
fn assert_parses_back(printed: &str, template: &Template) {
    let again = Template::parse(&Value::from(format!("{{{{{printed}}}}}")), &ids());
    assert_eq!(again.as_ref(), Ok(template), "printed as {printed}");
}

fn assert_binds(value: Value, document: &str) {
    let plan = Object::from([("whole", value.clone()), ("inside", Value::Array(vec![value]))]);
    let Ok(parameters) = Parameters::parse(&plan, &ids()) else { return };
    let results = results(document);
    let first = bind(&parameters, &results, &ids(), None);
    if let Binding::Bound(bound) = &first {
        let sent = bound.parameters.to_string();
        assert_eq!(Value::parse(&sent), Ok(Value::Object(bound.parameters.clone())), "the bound parameters are JSON");
        assert_eq!(bound.provenance.len(), 2, "every value has its provenance");
    }
    assert_eq!(first, bind(&parameters, &results, &ids(), None), "binding is deterministic");
}
