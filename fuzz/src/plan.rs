//! Plans: a model's words, JSON of the protocol, and the files that people write.

use std::sync::LazyLock;

use reknit_plan::{Author, Catalogue, PlanError, check, check_structure, correct_names, read_plan, read_plan_file};
use reknit_protocol::{Plan, Value};

use crate::text_of;

static TOOLS: LazyLock<Catalogue> = LazyLock::new(|| {
    let text = r#"{"t": [{"name": "read", "output_summary": {"required": [{"name": "v", "type": "number"},
            {"name": "list", "type": "[]string"}]}},
        {"name": "convert", "schema": {"type": "object", "required": ["amount"], "additionalProperties": false,
            "properties": {"amount": {"type": "number"}, "to": {"enum": ["USD", "KRW"]}}}}]}"#;
    Catalogue::from_value(&Value::parse(text).expect("it is JSON")).expect("it lists tools")
});

/// A plan that was read is written without loss, and the check has an answer about it, every time the same.
pub fn plan(data: &[u8]) {
    let text = text_of(data);
    if let Ok((plan, _)) = read_plan(&text, "the request") {
        holds(plan);
    }
    match read_plan_file(&text) {
        Ok((plan, _)) => holds(plan),
        Err(PlanError::File(problems)) => {
            assert!(!problems.is_empty(), "something is wrong, and nobody says what");
            // To YAML a carriage return alone ends a line, too.
            let lines = text.replace("\r\n", "\n").split(['\r', '\n']).count();
            for (line, column) in problems.iter().filter_map(|problem| problem.place) {
                assert!(
                    (1..=lines).contains(&line) && column >= 1,
                    "line {line}, column {column} is no place in the text"
                );
            }
        }
        Err(_) => {}
    }
}

fn holds(mut plan: Plan) {
    let written = plan.to_value().to_string();
    let (again, fixes) = read_plan_file(&written).expect("what was written can be read");
    assert_eq!(again, plan, "written and read again");
    assert!(fixes.is_empty(), "what was written had to be repaired: {fixes:?}");
    assert_eq!(again.to_value().to_string(), written);
    let _ = check_structure(&plan);
    correct_names(&mut plan, &TOOLS, Author::Model);
    assert_eq!(correct_names(&mut plan.clone(), &TOOLS, Author::Model), [], "names are put right once");
    match [(); 2].map(|()| check(&plan, &TOOLS, Author::Model)) {
        [Ok(first), Ok(second)] => {
            assert_eq!(first.steps.len(), plan.steps.len());
            assert_eq!(first.steps.len(), second.steps.len());
            assert!(check(&plan, &TOOLS, Author::Person).is_ok(), "what a model may do a person may");
            assert!(check_structure(&plan).is_ok(), "tools do not mend the structure");
        }
        [Err(first), Err(second)] => {
            assert!(!first.is_empty(), "something is wrong, and nobody says what");
            assert_eq!(first, second);
        }
        _ => panic!("the check says one thing and then another"),
    }
}
