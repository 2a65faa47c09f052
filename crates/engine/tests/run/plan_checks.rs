//! The plan check reports all problems before any step runs.

use reknit_plan::{
    Catalogue, CatalogueEntry, CatalogueTool, PlanAuthor, PlanFixKind, ProblemCode as Code, check, check_structure,
    correct_plan,
};
use reknit_plan::{PlanFix, PlanProblem, read_plan};
use reknit_protocol::{Capability, Plan, Step};

use crate::world::{json, object, plan};

/// Stock quotes, a conversion with a strict schema, and an internal capability, which planners do not see.
fn catalogue() -> Catalogue {
    let entry = |text: &str| {
        CatalogueEntry::new(Capability::from_value(&json(text)).expect("a capability"), None).expect("a schema")
    };
    let tool = |name: &str, capabilities: Vec<CatalogueEntry>| CatalogueTool {
        name: name.into(),
        description: String::new(),
        capabilities,
    };
    let quote = r#"{"name": "get_quote", "input_summary": {"required": [{"name": "symbol", "type": "string"}]},
        "output_summary": {"required": [{"name": "current_price", "type": "number"}, {"name": "exchange", "type": "object"},
                                        {"name": "history", "type": "[]number"}]}}"#;
    let convert = r#"{"name": "convert", "input_summary": {
        "required": [{"name": "amount", "type": "number"}],
        "optional": [{"name": "to", "type": "string"}, {"name": "dry_run", "type": "boolean"}]},
        "output_summary": {"required": [{"name": "amount", "type": "number"}]}}"#;
    let internal = r#"{"name": "reset", "internal": true}"#;
    Catalogue {
        tools: vec![
            tool("stock-service", vec![entry(quote), entry(internal)]),
            tool("currency-service", vec![entry(convert), entry(r#"{"name": "ping"}"#)]),
            tool("mail-service", vec![entry(r#"{"name": "ping"}"#)]),
        ],
    }
}

fn quote(id: &str, parameters: &str) -> Step {
    Step::new(id, "stock-service", "get_quote", "").with_parameters(object(parameters))
}

fn convert(id: &str, parameters: &str) -> Step {
    Step::new(id, "currency-service", "convert", "").with_parameters(object(parameters))
}

fn problems_of(plan: &Plan, author: PlanAuthor) -> Vec<PlanProblem> {
    check(plan, &catalogue(), author).err().unwrap_or_default()
}

fn problems(steps: Vec<Step>) -> Vec<PlanProblem> {
    problems_of(&plan(steps), PlanAuthor::Person)
}

fn lines(problems: &[PlanProblem]) -> String {
    let line = |problem: &PlanProblem| format!("{} at {}\n  {problem}", problem.code, problem.location.path);
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

const TSLA: &str = r#"{"symbol": "TSLA"}"#;

#[test]
fn all_problems_are_reported_at_once_with_code_path_and_hint() {
    let steps = vec![
        Step::new("", "stock-servise", "get_quote", ""),
        quote("q", r#"{"symbol": ["TSLA", "AAPL"], "sybmol": 1}"#).after("qq"),
        quote("q", "{}").after("q"),
        convert("c", r#"{"amount": "{{q.curent_price}}", "to": "{{q.exchange}}", "dry_run": "{{nobody.x}}"}"#),
        convert("d", r#"{"amount": "{{e.amount +}}", "to": "{{q.history.first}}"}"#),
        convert("e", r#"{"amount": "a lot"}"#).after("f"),
        Step::new("f", "currency-service", "convrt", "").with_parameters(object(r#"{"x": "{{e.amount}}"}"#)),
    ];
    insta::assert_snapshot!(lines(&problems(steps)), @r#"
    empty_id at $.steps[0].step_id
      step 1: the step has no id (call it `step-1`)
    unknown_tool at $.steps[0].agent_name
      step 1: there is no tool `stock-servise` (did you mean `stock-service`?)
    unknown_dependency at $.steps[1].depends_on[0]
      step `q`: the step depends on `qq`, but there is no such step (did you mean `q`?)
    unknown_parameter at $.steps[1].metadata.parameters.sybmol
      `q.sybmol`: `get_quote` has no parameter `sybmol` (did you mean `symbol`?)
    bad_value at $.steps[1].metadata.parameters.symbol
      `q.symbol`: expected a string, found an array
    duplicate_id at $.steps[2].step_id
      step `q`: the steps 2 and 3 have the same id
    self_dependency at $.steps[2].depends_on[0]
      step `q`: the step depends on itself
    missing_parameter at $.steps[2].metadata.parameters
      step `q`: `get_quote` needs the parameter `symbol`
    unknown_reference at $.steps[3].metadata.parameters.dry_run
      `c.dry_run`: character 3: there is no step `nobody` (there is ``, `q`, `q`, `c`, `d`, `e`, `f`)
    bad_path at $.steps[3].metadata.parameters.amount
      `c.amount`: `q.curent_price` does not exist: there is no `curent_price` (did you mean `current_price`?)
    bad_type at $.steps[3].metadata.parameters.to
      `c.to`: `q.exchange` is an object, and `to` takes a string
    bad_expression at $.steps[4].metadata.parameters.amount
      `d.amount`: character 13: expected a value, found the end of the expression
    bad_path at $.steps[4].metadata.parameters.to
      `d.to`: `q.history.first` does not exist: an array has no field `first`
    bad_value at $.steps[5].metadata.parameters.amount
      `e.amount`: expected a number, found the string "a lot"
    unknown_capability at $.steps[6].metadata.capability
      step `f`: `currency-service` has no capability `convrt` (did you mean `convert`?)
    cycle at $.steps
      these steps wait for each other: `e` runs after `f`, `f` reads from `e`
    "#);
}

#[test]
fn a_valid_plan_has_no_problems() {
    let steps = vec![
        quote("q", TSLA),
        convert("c", r#"{"amount": "{{100 * q.response.current_price}}", "to": "won: {{q.exchange.name}}"}"#),
        convert("d", r#"{"amount": "{{q.data.history[0]}}", "dryRun": "true"}"#),
        convert("e", r#"{"amount": "{{q.history.0}}", "dry_run": "{{q.success}}"}"#).after("c"),
        convert("f", r#"{"amount": "1,000.50", "to": 5}"#),
        convert("g", "{}").after("e"),
        Step::new("h", "mail-service", "ping", ""),
    ];
    assert_eq!(lines(&problems(steps)), "");
}

#[test]
fn each_problem_code_has_a_plan_with_this_problem_only() {
    let many = (0..10_001).map(|index| quote(&format!("s{index}"), TSLA)).collect();
    let pinging = |agent: &str| Step::new("p", agent, "ping", "");
    let mut never_retried = quote("q", TSLA);
    never_retried.metadata.insert("retry", "never");
    let cases: Vec<(Code, Vec<Step>)> = vec![
        (Code::TooManySteps, many),
        (Code::EmptyId, vec![quote(" ", TSLA)]),
        (Code::DuplicateId, vec![quote("q", TSLA), quote("q", TSLA)]),
        (Code::SelfDependency, vec![quote("q", TSLA).after("q")]),
        (Code::SelfDependency, vec![quote("q", r#"{"symbol": "{{q.symbol}}"}"#)]),
        (Code::UnknownDependency, vec![quote("q", TSLA).after("r")]),
        (Code::Cycle, vec![quote("q", TSLA).after("r"), quote("r", TSLA).after("q")]),
        (Code::UnknownTool, vec![pinging("telegraph")]),
        (Code::AmbiguousTool, vec![pinging("")]),
        (Code::UnknownCapability, vec![Step::new("q", "stock-service", "sell", "")]),
        (Code::MissingParameter, vec![quote("q", "{}")]),
        (Code::UnknownParameter, vec![quote("q", r#"{"symbol": "TSLA", "colour": "red"}"#)]),
        (Code::BadValue, vec![convert("c", r#"{"amount": "a lot"}"#)]),
        (Code::UnknownReference, vec![convert("c", r#"{"amount": "{{q.price}}"}"#)]),
        (Code::BadPath, vec![quote("q", TSLA), convert("c", r#"{"amount": "{{q.current_price.usd}}"}"#)]),
        (Code::BadType, vec![quote("q", TSLA), convert("c", r#"{"amount": "{{q.history}}"}"#)]),
        (Code::BadExpression, vec![convert("c", r#"{"amount": "{{1 +}}"}"#)]),
        (Code::BadControl, vec![never_retried]),
        (Code::UnbracedReference, vec![quote("q", TSLA), quote("c", r#"{"symbol": "$q.current_price"}"#)]),
    ];
    for (code, steps) in &cases {
        let found: Vec<Code> = problems(steps.clone()).iter().map(|problem| problem.code).collect();
        assert_eq!(found, [*code], "{}", lines(&problems(steps.clone())));
    }
    // Other tests cover these: they depend on the author of the plan, on its inputs, or on other tools.
    let elsewhere = [
        Code::NotShown,
        Code::Withheld,
        Code::UnusableSchema,
        Code::UnknownInput,
        Code::MissingInput,
        Code::UnknownType,
        Code::ReservedId,
    ];
    let covered = |code: &Code| cases.iter().any(|(covered, _)| covered == code) || elsewhere.contains(code);
    assert_eq!(Code::ALL.iter().find(|code| !covered(code)), None, "every code has a case");
}

#[test]
fn a_capability_that_is_withheld_or_has_a_schema_that_is_found_to_be_wrong_later_is_a_problem() {
    let mut withheld = CatalogueEntry::new(Capability::new("pay"), None).expect("there is no schema");
    withheld.withheld = Some("its definition has changed".to_owned());
    let wrong = || json(r#"{"type": 7}"#);
    let capabilities = vec![withheld, CatalogueEntry::deferred(Capability::new("book"), wrong)];
    let shop = CatalogueTool { name: "shop".into(), description: String::new(), capabilities };
    let catalogue = Catalogue { tools: vec![shop] };
    assert_eq!(catalogue.search("pay"), ["shop/book"], "a planner does not see what is withheld");
    let plan = plan(vec![Step::new("p", "shop", "pay", ""), Step::new("b", "shop", "book", "")]);
    for author in [PlanAuthor::Person, PlanAuthor::Model] {
        let problems = check(&plan, &catalogue, author).expect_err("nothing can be called");
        let codes: Vec<Code> = problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, [Code::Withheld, Code::UnusableSchema]);
        let shown = lines(&problems);
        assert!(shown.contains("`pay` of `shop` is withheld: its definition has changed"), "{shown}");
        assert!(shown.contains("the schema of `book` of `shop` cannot be used: "), "{shown}");
    }
}

#[test]
fn a_capability_hidden_from_models_has_its_own_problem_code() {
    let reset = plan(vec![Step::new("r", "stock-service", "reset", "")]);
    insta::assert_snapshot!(lines(&problems_of(&reset, PlanAuthor::Model)), @r#"
    not_shown at $.steps[0].metadata.capability
      step `r`: `reset` of `stock-service` is not among the capabilities that were offered (there is `get_quote`)
    "#);
    assert_eq!(problems_of(&reset, PlanAuthor::Person), [], "a user may call it");
    let other = plan(vec![Step::new("r", "stock-service", "restart", "")]);
    let lines = lines(&problems_of(&other, PlanAuthor::Model));
    assert!(
        lines.contains("unknown_capability") && !lines.contains("reset"),
        "a hint does not reveal hidden capabilities: {lines}"
    );
}

#[test]
fn every_cycle_is_reported_with_its_edges_beside_other_problems() {
    let steps = vec![
        quote("a", TSLA).after("b"),
        convert("b", r#"{"amount": "{{a.current_price}}"}"#),
        quote("c", TSLA).after("d"),
        quote("d", TSLA).after("e"),
        quote("e", TSLA).after("c"),
        quote("f", "{}"),
        quote("g", TSLA).after("a"),
    ];
    insta::assert_snapshot!(lines(&problems(steps)), @r#"
    missing_parameter at $.steps[5].metadata.parameters
      step `f`: `get_quote` needs the parameter `symbol`
    cycle at $.steps
      these steps wait for each other: `a` runs after `b`, `b` reads from `a`
    cycle at $.steps
      these steps wait for each other: `c` runs after `d`, `d` runs after `e`, `e` runs after `c`
    "#);
}

#[test]
fn the_reported_cycle_does_not_depend_on_the_order_of_parameters() {
    let report = |parameters: &str| {
        let steps = vec![quote("a", TSLA).after("c"), quote("b", TSLA).after("c"), convert("c", parameters)];
        lines(&problems(steps))
    };
    let first = report(r#"{"amount": "{{a.current_price}}", "to": "{{b.exchange.name}}"}"#);
    assert_eq!(report(r#"{"to": "{{b.exchange.name}}", "amount": "{{a.current_price}}"}"#), first);
    assert!(first.contains("`a` runs after `c`, `c` reads from `a`"), "{first}");
}

#[test]
fn a_structural_check_without_tools_covers_ids_order_and_templates() {
    let steps = vec![
        Step::new("a", "nobody", "knows", "").with_parameters(object(r#"{"x": "{{b.y}}", "z": "{{c}}"}"#)),
        Step::new("b", "", "", "").after("a"),
    ];
    let problems = check_structure(&plan(steps)).expect_err("a cycle and an unknown step");
    let codes: Vec<Code> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::UnknownReference, Code::Cycle]);
}

#[test]
fn a_dependency_that_a_reference_implies_may_be_left_out_or_repeated() {
    let dependencies = |steps: Vec<Step>| {
        let checked = check(&plan(steps), &catalogue(), PlanAuthor::Person).expect("the plan is valid");
        checked.steps.last().map(|step| step.dependencies.clone()).unwrap_or_default()
    };
    let amount = r#"{"amount": "{{q.current_price}}"}"#;
    assert_eq!(dependencies(vec![quote("q", TSLA), convert("c", amount)]), ["q".into()]);
    assert_eq!(dependencies(vec![quote("q", TSLA), convert("c", amount).after("q").after("q")]), ["q".into()]);
}

#[test]
fn names_are_corrected_in_case_and_separators_but_never_guessed() {
    let fix = |of, before: &str, after: &str| PlanFix {
        step: "s".into(),
        kind: of,
        before: before.into(),
        after: after.into(),
    };
    for (agent, capability, expected) in [
        ("stock-service", "get_quote", vec![]),
        ("Stock_Service", "get_quote", vec![fix(PlanFixKind::Tool, "Stock_Service", "stock-service")]),
        ("stock-service", "GetQuote", vec![fix(PlanFixKind::Capability, "GetQuote", "get_quote")]),
        ("quotes", "get_quote", vec![fix(PlanFixKind::Tool, "quotes", "stock-service")]),
        ("", "get_quote", vec![]),
        ("", "get-quote", vec![fix(PlanFixKind::Capability, "get-quote", "get_quote")]),
        ("stock-servic", "get_qoute", vec![]),
        ("quotes", "ping", vec![]),
    ] {
        let mut plan = plan(vec![Step::new("s", agent, capability, "")]);
        assert_eq!(correct_plan(&mut plan, &catalogue(), PlanAuthor::Model), expected, "case: {agent}/{capability}");
        let found = &plan.steps[0];
        if capability != "ping" && !agent.ends_with("servic") {
            assert_eq!((found.tool.as_str(), found.capability()), ("stock-service", Some("get_quote")));
        }
    }
}

#[test]
fn checking_a_plan_does_not_change_it() {
    let steps = vec![quote("q", TSLA), convert("c", r#"{"amount": "{{q.current_price}}"}"#)];
    let before = plan(steps);
    let after = before.clone();
    check(&after, &catalogue(), PlanAuthor::Model).expect("the plan is valid");
    assert_eq!(after.to_value().to_string(), before.to_value().to_string());
}

#[test]
fn a_bare_array_of_steps_is_a_plan() {
    let step = r#"{"step_id": "s", "agent_name": "a", "metadata": {"capability": "c", "parameters": {"n": 12345678901234567890123.10}}}"#;
    for (case, text) in [
        ("an array", format!("[{step}]")),
        ("an array in a fence", format!("Here you are:\n```json\n[{step},]\n```\nGood luck!")),
        ("a plan", format!(r#"{{"steps": [{step}]}}"#)),
    ] {
        let (plan, _) = read_plan(&text, "how much?").unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(plan.steps.len(), 1, "case: {case}");
        assert_eq!(plan.original_request, "how much?", "case: {case}");
        let number = plan.steps[0].parameters().and_then(|parameters| parameters.get("n")).map(ToString::to_string);
        assert_eq!(number.as_deref(), Some("12345678901234567890123.10"), "case: {case}");
    }
    assert_eq!(read_plan("[]", "x").expect("an empty plan").0.steps, []);
    for text in ["[1, 2]", r#"[{"step_id": "s"}]"#, r#"[{"step_id": "s", "agent_name": "a"}, {"step"#] {
        assert!(read_plan(text, "x").is_err(), "case: {text}");
    }
}
