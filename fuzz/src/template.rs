//! Templates in any parameters, bound to any results.

use reknit_bind::{Binding, Parameters, Part, Template, bind};
use reknit_protocol::{Object, Value};

use crate::expression::{ids, results};
use crate::text_of;

/// A template is parts of its text; without braces it is its text; escaped it is too. Binding sends no open reference.
///
/// The input is a text, a line break or NUL, and a value that has the results.
pub fn template(data: &[u8]) {
    let text = text_of(data);
    let (text, document) = text.split_once(['\n', '\0']).unwrap_or((&text, ""));
    let value = Value::from(text);
    match Template::parse(&value, &ids()) {
        Ok(template) => holds(&template, text),
        Err(error) => {
            assert!(text.contains("{{"), "a text without braces was refused: {error}");
            assert!(error.position <= text.chars().count(), "position {} is no place in the text", error.position);
        }
    }
    let escaped = Value::from(text.replace("{{", "{{{{"));
    assert_eq!(Template::parse(&escaped, &ids()), Ok(Template::Literal(value.clone())), "escaped, it is only text");
    binds(value, document);
}

fn holds(template: &Template, text: &str) {
    match template {
        Template::Literal(Value::String(literal)) => assert_eq!(*literal, text.replace("{{{{", "{{")),
        Template::Literal(other) => panic!("{text} became {other}"),
        Template::Reference(reference) => reads_back(&reference.to_string(), template),
        Template::Expression(expression) => reads_back(&expression.to_string(), template),
        Template::Text(parts) => {
            let is_hole = |part: &Part| matches!(part, Part::Hole(_));
            assert!(parts.parts.iter().any(is_hole), "a text without holes is a literal");
            assert!(parts.parts.windows(2).all(|pair| is_hole(&pair[0]) || is_hole(&pair[1])), "literals are joined");
        }
        Template::Array(_) | Template::Object(_) => panic!("{text} became a list or an object"),
    }
}

/// What a hole holds, written out and put into braces again, is the same hole.
fn reads_back(printed: &str, template: &Template) {
    let again = Template::parse(&Value::from(format!("{{{{{printed}}}}}")), &ids());
    assert_eq!(again.as_ref(), Ok(template), "printed as {printed}");
}

fn binds(value: Value, document: &str) {
    let plan = Object::from([("whole", value.clone()), ("inside", Value::Array(vec![value]))]);
    let Ok(parameters) = Parameters::parse(&plan, &ids()) else { return };
    let results = results(document);
    let first = bind(&parameters, &results, &ids(), None);
    if let Binding::Bound(bound) = &first {
        let sent = bound.parameters.to_string();
        assert_eq!(Value::parse(&sent), Ok(Value::Object(bound.parameters.clone())), "what is sent is JSON");
        assert_eq!(bound.provenance.len(), 2, "every value says where it comes from");
    }
    assert_eq!(first, bind(&parameters, &results, &ids(), None), "the same every time");
}
