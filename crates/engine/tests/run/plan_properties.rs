//! Properties of plan reading and plan checks, for any plan and any text.

use proptest::prelude::*;
use reknit_engine::Status;
use reknit_plan::{PlanAuthor, PlanProblem, check, check_structure, correct_plan, read_plan, read_plan_file};
use reknit_protocol::{EffectKind, Object, Plan, PlanInput, Step, Value};

use crate::world::{Play, catalogue, effect_id, plan, policy, started};

/// Texts made of the tokens of plan files, so that many are almost plans.
fn almost_a_plan() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "steps",
        "id",
        "tool",
        "with",
        "after",
        "do",
        "inputs",
        "outputs",
        "step_id",
        "agent_name",
        "metadata",
        "plan_id",
        ": ",
        ":",
        "\n",
        "\n  ",
        "\n  - ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "\"",
        "'",
        "{{",
        "}}",
        "a",
        "b",
        "t/read",
        "a.v",
        "inputs.n",
        "1",
        "-0.50",
        "12345678901234567890.10",
        "null",
        "true",
        "no",
        "#",
        "|",
        "&x",
        "*x",
        "!t",
        "---",
        "é",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// A parameter value: a literal, a reference to a step that may exist, or a calculation.
fn parameter() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::parse("12345678901234567890.10").expect("a number")),
        Just(Value::from("KRW")),
        Just(Value::Null),
        (0usize..6).prop_map(|step| Value::from(format!("{{{{s{step}.v}}}}"))),
        (0usize..6).prop_map(|step| Value::from(format!("{{{{2 * s{step}.response.v}}}}"))),
        (0usize..6).prop_map(|step| Value::from(format!("{{{{inputs.n + s{step}.v}}}}"))),
        Just(Value::from("{{")),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let id = (0usize..6).prop_map(|index| format!("s{index}"));
    let capability = prop::sample::select(vec!["read", "keyed", "convert", "Convert", "fly"]);
    let name = prop::sample::select(vec!["amount", "amount", "to", "x"]);
    let deep = Value::parse(r#"{"deep": ["{{s0.v}}", 1]}"#).expect("an object");
    let parameter = prop_oneof![4 => (name, parameter()), 1 => Just(("x", deep))];
    let after = prop::collection::vec((0usize..6).prop_map(|index| format!("s{index}")), 0..2);
    (id, capability, prop::collection::vec(parameter, 0..3), after).prop_map(|(id, capability, parameters, after)| {
        let parameters: Object = parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let step = Step::new(id, "t", capability, "").with_parameters(parameters);
        after.into_iter().fold(step, Step::after)
    })
}

fn any_plan() -> impl Strategy<Value = Plan> {
    (prop::collection::vec(any_step(), 0..5), any::<bool>(), any::<bool>()).prop_map(|(steps, inputs, outputs)| {
        let mut plan = plan(steps);
        if inputs {
            let input = PlanInput { default: Some(Value::from(1)), ..PlanInput::default() };
            plan.inputs.push(("n".to_owned(), input));
        }
        if outputs {
            plan.outputs.push(("o".to_owned(), "s0.v".into()));
        }
        plan
    })
}

/// Plans whose steps refer only to earlier ones; most of them are valid.
fn runnable_plan() -> impl Strategy<Value = Plan> {
    let step = (any::<bool>(), prop::collection::vec(0usize..5, 0..3), any::<bool>());
    prop::collection::vec(step, 1..6).prop_map(|steps| {
        let steps = steps.into_iter().enumerate().map(|(index, (strict, reads, is_declared))| {
            let reads: Vec<usize> = reads.into_iter().filter(|other| *other < index).collect();
            let amount =
                reads.first().map_or_else(|| Value::from(1), |other| Value::from(format!("{{{{s{other}.v * 2}}}}")));
            let capability = if strict { "convert" } else { "keyed" };
            let step =
                Step::new(format!("s{index}"), "t", capability, "").with_parameters(Object::from([("amount", amount)]));
            reads.iter().filter(|_| is_declared).fold(step, |step, other| step.after(format!("s{other}")))
        });
        let mut steps: Vec<Step> = steps.collect();
        // The order of steps in a plan does not matter.
        steps.reverse();
        plan(steps)
    })
}

/// The plan with the parameters of each step in reverse order.
fn with_reversed_parameters(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for step in &mut plan.steps {
        if let Some(parameters) = step.metadata.get_mut("parameters").and_then(Value::as_object_mut) {
            *parameters = parameters.iter().rev().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        }
    }
    plan
}

fn sorted_lines(problems: &[PlanProblem]) -> Vec<String> {
    let mut lines: Vec<String> = problems.iter().map(|problem| problem.to_value().to_string()).collect();
    lines.sort();
    lines
}

proptest! {
    #[test]
    fn no_text_makes_the_readers_or_the_check_panic(text in prop_oneof![almost_a_plan(), any::<String>()]) {
        for read in [read_plan(&text, "x").map(|(plan, _)| plan), read_plan_file(&text).map(|(plan, _)| plan)] {
            let Ok(mut plan) = read else { continue };
            let _ = check_structure(&plan);
            correct_plan(&mut plan, &catalogue(), PlanAuthor::Model);
            let _ = check(&plan, &catalogue(), PlanAuthor::Model);
        }
    }

    #[test]
    fn a_plan_survives_serialization(plan in any_plan(), text in almost_a_plan()) {
        let written = plan.to_value().to_string();
        let (read, fixes) = read_plan_file(&written).expect("the text is a plan");
        prop_assert_eq!(&fixes, &[]);
        prop_assert_eq!(&read, &plan);
        prop_assert_eq!(read.to_value().to_string(), written);
        if let Ok((plan, _)) = read_plan_file(&text) {
            let again = read_plan_file(&plan.to_value().to_string()).expect("the text is a plan");
            prop_assert_eq!(again.0, plan);
        }
    }

    #[test]
    fn every_plan_that_passes_the_check_can_be_executed_in_some_order(plan in prop_oneof![1 => any_plan(), 3 => runnable_plan()]) {
        // A missing parameter may or may not be found in results; a plan without missing parameters must run.
        let has_amount = |step: &Step| step.parameters().is_some_and(|parameters| parameters.contains_key("amount"));
        prop_assume!(plan.steps.iter().all(|step| step.capability() != Some("convert") || has_amount(step)));
        prop_assume!(!plan.steps.is_empty() && check(&plan, &catalogue(), PlanAuthor::Person).is_ok());
        let mut play = Play::begin(started(Some(plan.clone()), policy()));
        for _ in &plan.steps {
            let id = effect_id(play.due().first().expect("an effect is pending"));
            prop_assert_eq!((id.kind(), id.ordinal()), (EffectKind::Call, 1), "{} is pending", id);
            play.answer_tool(&id.to_string(), 200, r#"{"v": 1}"#);
        }
        prop_assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Complete));
    }

    #[test]
    fn problems_do_not_depend_on_the_order_of_parameters(plan in any_plan()) {
        let results = [plan.clone(), with_reversed_parameters(&plan)].map(|plan| check(&plan, &catalogue(), PlanAuthor::Person));
        let [one, other] = results.map(|result| result.map(|_| ()).map_err(|problems| sorted_lines(&problems)));
        prop_assert_eq!(one, other);
    }
}
