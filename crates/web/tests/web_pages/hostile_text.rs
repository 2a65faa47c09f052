//! Text of models, tools and users can never become markup: a page has the same elements with hostile text as with plain text.

use std::collections::BTreeSet;

use proptest::prelude::*;
use reknit_engine::{AskPerson, Overview, Question};
use reknit_mend::{ErrorPattern, LearnedRule, RuleEvidence, RuleState, RuleValue};
use reknit_model_api::{BreakerStatus, RotationRules};
use reknit_protocol::{CallTool, Object, RunId, SideEffect, StepId, Value};
use reknit_web::{
    AskedQuestion, ComparedRun, ErrorUse, ListedHealth, ListedInstance, ListedModel, ListedRule, ListedRun, ListedTool,
    ModelPrices, ModelUse, NewRunForm, NewRunKind, PlanFindings, RuleCase, RuleList, RunList, RunUsage, ToolCapability,
    ToolUse, compare_choice_page, compare_page, error_page, models_page, new_run_page, questions_page, rules_page,
    run_page, runs_page, sign_in_page, stats_page, tool_page, tools_page,
};
use serde_json::Value as Json;

use crate::stored_runs::{endings, facts, frame, overview, pages};
use crate::tags::tags;

const HOSTILE: [&str; 6] = [
    "<script>alert()</script>",
    "\"><img src=x onerror=alert()>",
    "' onmouseover='alert()",
    "</pre></details></main><form action=https://evil.example>",
    "&lt;b&gt; &amp; &#x;",
    "javascript:alert() <!-- <![CDATA[ \u{202e}\u{0}\u{1b}",
];

/// A text with the same spaces and line breaks, and nothing in it that HTML knows.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() { c } else { 'x' }).collect()
}

/// Every text in a stored run: values, and names in objects.
fn texts(json: &Json, found: &mut BTreeSet<String>) {
    match json {
        Json::String(text) => {
            found.insert(text.clone());
        }
        Json::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Json::Object(object) => {
            for (name, item) in object {
                found.insert(name.clone());
                texts(item, found);
            }
        }
        _ => {}
    }
}

/// The same run with one text replaced everywhere.
fn replaced(json: &Json, text: &str, by: &str) -> Json {
    let renamed = |own: &String| if own == text { by.to_owned() } else { own.clone() };
    match json {
        Json::String(own) => Json::String(renamed(own)),
        Json::Array(items) => items.iter().map(|item| replaced(item, text, by)).collect(),
        Json::Object(object) => {
            Json::Object(object.iter().map(|(name, item)| (renamed(name), replaced(item, text, by))).collect())
        }
        other => other.clone(),
    }
}

/// The elements of all pages of a run in which a text was replaced; `None` if that is no run.
fn elements(ending: &Json, text: &str, by: &str) -> Option<Vec<Vec<String>>> {
    let overview = overview(&replaced(ending, text, by))?;
    let shown = pages(&overview).into_iter().chain([compared(&overview)]);
    Some(shown.map(|page| tags(&page)).collect())
}

/// A run beside another one, which shares no step with it or some.
fn compared(overview: &Overview) -> String {
    let (_, other) = endings().swap_remove(1);
    let other = crate::stored_runs::overview(&other).expect("a stored run");
    let run = |overview| ComparedRun { run: "run-1", status: "partial", created_ms: 0, updated_ms: 5_000, overview };
    compare_page(&frame(), &run(overview), &run(&other), 0).into_string()
}

#[test]
fn hostile_text_in_any_field_of_a_run_changes_no_element() {
    let mut tried = 0;
    for (name, ending) in endings() {
        let mut found = BTreeSet::new();
        texts(&ending, &mut found);
        for (index, text) in found.iter().enumerate() {
            let hostile = HOSTILE[index % HOSTILE.len()];
            let Some(plain) = elements(&ending, text, &harmless(hostile)) else { continue };
            let Some(shown) = elements(&ending, text, hostile) else { continue };
            assert_eq!(shown, plain, "{name}: `{text}`");
            tried += 1;
        }
    }
    assert!(tried > 200, "only {tried} texts were replaced");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_text_in_any_field_of_a_run_changes_no_element(
        run in any::<prop::sample::Index>(), field in any::<prop::sample::Index>(), text in "[^0-9]{0,60}",
    ) {
        let all = endings();
        let (_, ending) = run.get(&all);
        let mut found = BTreeSet::new();
        texts(ending, &mut found);
        let found: Vec<String> = found.into_iter().collect();
        let field = field.get(&found);
        if let (Some(shown), Some(plain)) = (elements(ending, field, &text), elements(ending, field, &harmless(&text))) {
            prop_assert_eq!(shown, plain);
        }
    }

    #[test]
    fn any_text_in_a_list_a_question_and_an_error_changes_no_element(text in "[^0-9]{0,60}") {
        prop_assert_eq!(other_pages(&text), other_pages(&harmless(&text)));
    }
}

#[test]
fn hostile_text_in_a_list_a_question_and_an_error_changes_no_element() {
    for hostile in HOSTILE {
        assert_eq!(other_pages(hostile), other_pages(&harmless(hostile)), "{hostile}");
    }
}

fn question(text: &str) -> AskedQuestion {
    let parameters = Object::from([(text, Value::from(text)), ("amount", Value::from(text))]);
    let call = CallTool {
        id: "pay/call/1".parse().unwrap(),
        step: text.into(),
        tool: text.into(),
        capability: text.into(),
        parameters,
        side_effect: SideEffect::Unsafe,
        idempotency_key: None,
        business_key: None,
        timeout_ms: 1,
        job: None,
        callback: None,
    };
    let question = Question::SendCorrected {
        call: Box::new(call),
        error: text.to_owned(),
        change: text.to_owned(),
        reason: text.to_owned(),
        asked_by: reknit_engine::AskedBy::Correction,
        row: None,
    };
    let ask = AskPerson {
        id: "pay/approval/1".parse().unwrap(),
        step: text.into(),
        question,
        provenance: vec![("amount".to_owned(), reknit_expressions::Provenance::Inferred)],
        hash: text.to_owned(),
        expires_ms: 0,
    };
    let before = Some(Object::from([("amount", Value::from("y"))]));
    AskedQuestion { run: text.to_owned(), request: text.to_owned(), ask, before, decided: None }
}

const HEALTH: Option<ListedHealth> =
    Some(ListedHealth { breaker: BreakerStatus::Open { until_ms: 1 }, calls: 1, max_calls: 2 });

/// A tool with two capabilities, and the first of them.
fn tool(text: &str) -> (ListedTool, ToolCapability) {
    let object = |name: &str, value: Value| Value::Object(Object::from([(name, value)]));
    let schema = object("properties", object(text, object("description", format!("y{text}").into())));
    let capability = ToolCapability {
        name: text.to_owned(),
        description: text.to_owned(),
        effect: format!("y{text}"),
        schema: Some(schema),
        withheld: None,
        calls: (1, 1),
        used: ToolUse::default(),
    };
    let withheld = ToolCapability { withheld: Some(text.to_owned()), ..capability.clone() };
    let tool = ListedTool {
        name: text.to_owned(),
        description: format!("y{text}"),
        instances: vec![ListedInstance { address: Some(text.to_owned()), problem: Some(text.to_owned()) }],
        health: HEALTH,
        capabilities: vec![capability.clone(), withheld],
    };
    (tool, capability)
}

/// What the recorded runs used, with this text as the name of a model and as an error.
fn usage(text: &str) -> RunUsage {
    let mut usage = RunUsage::default();
    for (_, ending) in endings() {
        let overview = crate::stored_runs::overview(&ending).expect("a stored run");
        usage.merge(&RunUsage::of(&overview, text, 0, &ModelPrices::new()));
    }
    let failing = ModelUse { last_failure: Some((0, text.to_owned())), ..ModelUse::default() };
    usage.models.insert(text.to_owned(), failing);
    let example = Some((RunId::new(text), StepId::new(text)));
    usage.errors.insert(text.to_owned(), ErrorUse { times: 9_999, mended: [(text.to_owned(), 1)].into(), example });
    usage
}

/// A rule whose every text is hostile, with cases for and against it.
fn rules(text: &str) -> RuleList {
    let change =
        [(text.to_owned(), RuleValue { of: text.to_owned(), map: Some(Object::from([(text, Value::from(text))])) })];
    let rule = LearnedRule {
        id: text.to_owned(),
        state: RuleState::Retired,
        accepted_by: None,
        capability: text.to_owned(),
        error: ErrorPattern {
            status: Some(404),
            code: text.to_owned(),
            message: text.to_owned(),
            fields: vec![text.to_owned()],
        },
        absent: vec![text.to_owned()],
        results: [(text.to_owned(), text.to_owned())].into(),
        change: change.into(),
        remove: vec![text.to_owned()],
        evidence: RuleEvidence { retired: Some(text.to_owned()), ..RuleEvidence::default() },
    };
    let object = || Object::from([(text, Value::from(text))]);
    let case = RuleCase {
        run: text.to_owned(),
        step: text.to_owned(),
        rejected: object(),
        accepted: object(),
        by_rule: object(),
    };
    let (helps, harms) = ((20, vec![case.clone()]), (1, vec![case]));
    let listed = ListedRule { rule, helps, harms, model_calls: 1, uses: 1, saved: 1 };
    RuleList { rules: vec![listed], file: Some(text.to_owned()), runs: 200, unread: 1 }
}

/// The elements of the pages that show no stored run.
fn other_pages(text: &str) -> Vec<Vec<String>> {
    let frame = reknit_web::PageFrame { here: text, caller: Some(text), ..frame() };
    let run = ListedRun {
        run: text.to_owned(),
        request: format!("y{text}"),
        mended_by: vec![text.to_owned()],
        ..ListedRun::default()
    };
    let list = RunList {
        runs: vec![run],
        next: Some(text.to_owned()),
        search: format!("y{text}"),
        status: format!("y{text}"),
        version: format!("y{text}"),
        questions: vec![question(text)],
        ..RunList::default()
    };
    let (_, ending) = endings().swap_remove(0);
    let overview = overview(&ending).expect("a stored run");
    let questions = [question(text)];
    let facts = reknit_web::RunFacts { questions: &questions, run: text, status: text, ..facts(&overview, Some(text)) };
    let (tool, capability) = tool(text);
    let usage = usage(text);
    let model = Some((text.to_owned(), text.to_owned()));
    let model = ListedModel { name: text.to_owned(), model, health: HEALTH, ..ListedModel::default() };
    let choice = ListedRun { run: text.to_owned(), request: format!("y{text}"), ..ListedRun::default() };
    let other = ListedRun { run: format!("y{text}"), ..choice.clone() };
    let findings = Some(PlanFindings { steps: 1, problems: vec![text.to_owned()] });
    let new = NewRunForm {
        kind: NewRunKind::Agent,
        request: text,
        text,
        findings,
        run_id: text,
        answer: text,
        ask: text,
        has_model: true,
    };
    let pages = [
        questions_page(&frame, &[question(text)], &format!("y{text}")),
        tools_page(&frame, &[tool], &[text.to_owned()], 1),
        tool_page(&frame, text, &capability, text),
        models_page(&frame, &[model], &RotationRules::default(), &usage),
        stats_page(&frame, &usage, 1),
        rules_page(&frame, &rules(text)),
        compare_choice_page(&frame, &choice, &[other]),
        new_run_page(&frame, &new),
        new_run_page(&frame, &NewRunForm { kind: NewRunKind::Plan, ..new.clone() }),
        runs_page(&frame, &list),
        run_page(&frame, &facts),
        error_page(&frame, 500, text, &[text.to_owned()]),
        sign_in_page(&frame, text, Some(text)),
    ];
    pages.into_iter().map(|page| tags(&page.into_string())).collect()
}

#[test]
fn the_end_of_a_long_value_can_be_read_before_it_is_approved() {
    let mut asked = question("pay");
    let Question::SendCorrected { call, .. } = asked.ask.question else { panic!("another question") };
    let text = format!("{}; DELETE FROM orders", "x".repeat(5_000));
    let calls = vec![reknit_engine::ItemCall {
        step: "pay[0]".into(),
        parameters: Object::from([("sql", Value::from(text.as_str()))]),
    }];
    let (agent, capability) = (call.tool.clone(), call.capability.clone());
    let reason = "a rule says so".to_owned();
    asked.ask.question =
        Question::SendItems { tool: agent, capability, side_effect: SideEffect::Unsafe, calls, reason };
    let list = RunList { questions: vec![asked], ..RunList::default() };
    let page = reknit_web::runs_page(&frame(), &list).into_string();
    assert!(page.contains("; DELETE FROM orders"), "{page}");
}

#[test]
fn a_question_shows_characters_that_would_not_be_seen() {
    let mut asked = question("pay\u{200b}ee\u{202e}");
    asked.run = "r".to_owned();
    asked.ask.hash = "h".to_owned();
    let page = questions_page(&frame(), &[asked], "").into_string();
    for hidden in ['\u{200b}', '\u{202e}'] {
        assert!(!page.contains(hidden), "{page}");
    }
    assert!(page.contains("pay\\u{200b}ee\\u{202e}"), "{page}");
    assert!(page.contains("characters that do not show"), "{page}");
    // The parameters that a person may change are the same JSON with escapes.
    assert!(page.contains("pay\\u200bee\\u202e"), "{page}");
    assert!(!questions_page(&frame(), &[question("pay")], "").into_string().contains("characters that do not show"));
}
