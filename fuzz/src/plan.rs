//! Reading plans from model output and from plan files, and checking them.

use std::sync::LazyLock;

use reknit_plan::{Catalogue, PlanAuthor, PlanError, check, check_structure, correct_plan, read_plan, read_plan_file};
use reknit_protocol::{Plan, Value};

use crate::text_of;

static TOOLS: LazyLock<Catalogue> = LazyLock::new(|| {
    let text = r#"{"t": [{"name": "read", "output_summary": {"required": [{"name": "v", "type": "number"},
            {"name": "list", "type": "[]string"}]}},
        {"name": "convert", "schema": {"type": "object", "required": ["amount"], "additionalProperties": false,
            "properties": {"amount": {"type": "number"}, "to": {"enum": ["USD", "KRW"]}}}}]}"#;
    Catalogue::from_value(&Value::parse(text).expect("it is JSON")).expect("it lists tools")
});

/// A plan is written without loss, and its check is deterministic.
pub fn plan(data: &[u8]) {
    let text = text_of(data);
    if let Ok((plan, _)) = read_plan(&text, "the request") {
        assert_written_and_checked(plan);
    }
    match read_plan_file(&text) {
        Ok((plan, _)) => assert_written_and_checked(plan),
        Err(PlanError::File(problems)) => {
            assert!(!problems.is_empty(), "a refused plan names its problems");
            // In YAML a lone carriage return ends a line, too.
            let lines = text.replace("\r\n", "\n").split(['\r', '\n']).count();
            for (line, column) in problems.iter().filter_map(|problem| problem.position) {
                assert!((1..=lines).contains(&line) && column >= 1, "line {line}, column {column} is outside the text");
            }
        }
        Err(_) => {}
    }
}

fn assert_written_and_checked(mut plan: Plan) {
    let written = plan.to_value().to_string();
    let (again, fixes) = read_plan_file(&written).expect("a written plan can be read");
    assert_eq!(again, plan, "a plan is the same after writing and reading");
    assert!(fixes.is_empty(), "a written plan needed repairs: {fixes:?}");
    assert_eq!(again.to_value().to_string(), written);
    let _ = check_structure(&plan);
    correct_plan(&mut plan, &TOOLS, PlanAuthor::Model);
    assert_eq!(correct_plan(&mut plan.clone(), &TOOLS, PlanAuthor::Model), [], "names are corrected once");
    match [(); 2].map(|()| check(&plan, &TOOLS, PlanAuthor::Model)) {
        [Ok(first), Ok(second)] => {
            assert_eq!(first.steps.len(), plan.steps.len());
            assert_eq!(first.steps.len(), second.steps.len());
            assert!(
                check(&plan, &TOOLS, PlanAuthor::Person).is_ok(),
                "a person may write every plan that a model may write"
            );
            assert!(check_structure(&plan).is_ok(), "a plan that passes the check has a valid structure");
        }
        [Err(first), Err(second)] => {
            assert!(!first.is_empty(), "a refused plan names its problems");
            assert_eq!(first, second);
        }
        _ => panic!("the check is not deterministic"),
    }
}
