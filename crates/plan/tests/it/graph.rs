//! Drawings of plans.

use reknit_plan::{GraphState, GraphStep, StepGraph, plan_graph, read_plan_file};

fn step(id: &str, needs: &[&str]) -> GraphStep {
    let needs = needs.iter().map(|need| (*need).into()).collect();
    GraphStep { id: id.into(), label: format!("shop/{id}"), state: GraphState::Planned, needs }
}

fn drawn(steps: &[(&str, &[&str])]) -> String {
    StepGraph::new(steps.iter().map(|(id, needs)| step(id, needs)).collect()).to_text()
}

#[test]
fn a_reference_is_a_need() {
    let (plan, _) = read_plan_file(
        r#"
steps:
  - {id: convert, tool: convert_currency, with: {amount: "{{100 * quote.price}}"}}
  - {id: quote, tool: stocks/get_quote}
  - {id: note, tool: notes/write, after: [quote]}
  - {id: sum, compute: "{{convert.won + quote.price}}", after: note}
"#,
    )
    .expect("it is a plan");
    let graph = plan_graph(&plan).expect("it has no problems");
    insta::assert_snapshot!(graph.to_text(), @"
    ○      quote    stocks/get_quote
    ├─○    convert  convert_currency
    ├─│─○  note     notes/write
    │ │ │
    └─┴─○  sum      compute
    ");
}

#[test]
fn a_plan_with_a_circle_is_not_drawn_but_its_problem_is_named() {
    let text = "steps: [{id: a, tool: t, after: b}, {id: b, tool: t, after: a}]";
    let (plan, _) = read_plan_file(text).expect("it is a plan");
    let problems = plan_graph(&plan).expect_err("it cannot run");
    assert_eq!(problems.len(), 1, "{problems:?}");
}

#[test]
fn a_lane_leads_to_each_step_that_needs_it() {
    insta::assert_snapshot!(drawn(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]), @"
    ○  a  shop/a
    │
    ○  b  shop/b
    │
    ○  c  shop/c
    ");
    insta::assert_snapshot!(drawn(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])]), @"
    ○    a  shop/a
    ├─○  b  shop/b
    ○ │  c  shop/c
    └─○  d  shop/d
    ");
}

#[test]
fn a_lane_that_is_only_crossed_is_not_joined() {
    let text = drawn(&[("a", &[]), ("b", &[]), ("c", &["a"]), ("d", &["b"]), ("e", &["a", "d"]), ("f", &["c"])]);
    insta::assert_snapshot!(text, @"
    ○      a  shop/a
    │ ○    b  shop/b
    ├─│─○  c  shop/c
    │ ○ │  d  shop/d
    │ │ │
    └─○ │  e  shop/e
        ○  f  shop/f
    ");
}

#[test]
fn steps_without_needs_stand_below_each_other() {
    insta::assert_snapshot!(drawn(&[("a", &[]), ("b", &[])]), @"
    ○  a  shop/a
    ○  b  shop/b
    ");
    assert_eq!(drawn(&[]), "");
}

#[test]
fn with_too_many_lanes_the_needs_are_named() {
    let ids: Vec<String> = (0..20).map(|n| format!("s{n}")).collect();
    let mut steps: Vec<GraphStep> = ids.iter().map(|id| step(id, &[])).collect();
    steps.push(step("all", &ids.iter().map(String::as_str).collect::<Vec<_>>()));
    let text = StepGraph::new(steps).to_text();
    let last = text.lines().last().expect("there is a line");
    assert!(last.starts_with("○  all  shop/all  after s0, s1, "), "{last}");
}

#[test]
fn a_circle_does_not_hide_a_step() {
    let graph = StepGraph::new(vec![step("a", &["b"]), step("b", &["a", "a", "b", "nobody"]), step("c", &[])]);
    let ids: Vec<&str> = graph.steps().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["c", "a", "b"]);
}

#[test]
fn the_svg_has_a_box_for_each_step_and_escapes_its_text() {
    let mut last = step("<c>&", &["a", "b"]);
    last.state = GraphState::Failed;
    let svg = StepGraph::new(vec![step("a", &[]), step("b", &[]), last]).to_svg();
    assert_eq!((svg.matches("<rect").count(), svg.matches("<path").count()), (3, 2), "{svg}");
    assert!(svg.contains("✗ &lt;c&gt;&amp;") && svg.contains("class=\"failed\""), "{svg}");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && svg.ends_with("</svg>\n"), "{svg}");
}
