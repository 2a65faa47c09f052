//! Tools and models with their health, and statistics.

use reknit_engine::Overview;
use reknit_mend::{ErrorPattern, LearnedRule, RuleEvidence, RuleState, RuleValue};
use reknit_model_api::{BreakerStatus, Price, Prices, RotationRules, TargetName};
use reknit_web::{
    ListedHealth, ListedInstance, ListedModel, ListedRule, ListedTool, ModelPrices, PageFrame, RuleList, RunUsage,
    models_page, rules_page, stats_page, tools_page,
};

use crate::pages::text_of;
use crate::stored_runs::{endings, frame, overview};

const NOW_MS: u64 = 1_800_000_000_000;

fn health(breaker: BreakerStatus) -> ListedHealth {
    ListedHealth { breaker, calls: 0, max_calls: 4 }
}

/// What the recorded runs used, each started in the week of this time.
fn usage(prices: &ModelPrices, created_ms: i64) -> RunUsage {
    let mut usage = RunUsage::default();
    for (_, ending) in endings() {
        usage.merge(&RunUsage::of(&overview(&ending).expect("an overview"), "complete", created_ms, prices));
    }
    usage
}

/// A price for every model that the recorded runs asked.
fn prices() -> ModelPrices {
    let price = Price::from_micros(1_000_000_000);
    let names = usage(&ModelPrices::new(), 0).models.into_keys();
    names.map(|name| (TargetName::new(name), Prices::new(price, price))).collect()
}

#[test]
fn a_tool_shows_whether_it_can_be_called_and_where_it_is() {
    let instance = |problem: Option<&str>| ListedInstance {
        address: Some("http://127.0.0.1:9".to_owned()),
        problem: problem.map(ToOwned::to_owned),
    };
    let tool = |breaker, problems: &[Option<&str>]| ListedTool {
        name: "shop".to_owned(),
        health: Some(health(breaker)),
        instances: problems.iter().map(|problem| instance(*problem)).collect(),
        ..ListedTool::default()
    };
    for (breaker, problems, expected) in [
        (BreakerStatus::Closed { failures: 0 }, &[None][..], &["ready", "answers", "http://127.0.0.1:9"][..]),
        (BreakerStatus::Closed { failures: 2 }, &[None], &["failing", "2 failures since the last answer"]),
        (BreakerStatus::Open { until_ms: NOW_MS + 12_000 }, &[None], &["breaker open", "called again in 12 s"]),
        (BreakerStatus::CoolingDown { until_ms: NOW_MS + 3_000 }, &[None], &["rate limited", "in 3 s"]),
        (BreakerStatus::HalfOpen, &[None], &["next call probes it"]),
        (BreakerStatus::Closed { failures: 0 }, &[None, Some("it is down")], &["ready", "not reachable", "it is down"]),
    ] {
        let text = text_of(&tools_page(&frame(), &[tool(breaker, problems)], &[], 1).into_string());
        for word in expected {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
    let down = tool(BreakerStatus::Closed { failures: 0 }, &[Some("it is down")]);
    assert!(!text_of(&tools_page(&frame(), &[down], &[], 1).into_string()).contains("ready"));
}

#[test]
fn models_show_their_order_prices_and_which_one_is_asked_first_now() {
    let model = |name: &str, breaker| ListedModel {
        name: name.to_owned(),
        model: Some(("anthropic".to_owned(), format!("{name}-1"))),
        prices: Some(Prices::new(Price::from_micros(2_500_000), Price::from_micros(10_000_000))),
        health: Some(health(breaker)),
        ..ListedModel::default()
    };
    let open = BreakerStatus::Open { until_ms: NOW_MS + 5_000 };
    let models = [model("big", open), model("small", BreakerStatus::Closed { failures: 0 })];
    let page = models_page(&frame(), &models, &RotationRules::prefer_primary(), &RunUsage::default()).into_string();
    let text = text_of(&page);
    for part in ["second attempt", "at most 6 attempts", "breaker open", "2.50 sent", "10.00 received", "big-1"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.find("small") < text.find("asked first"), "the first one that is not open: {text}");
    let alone = models_page(&frame(), &models[1..], &RotationRules::default(), &RunUsage::default()).into_string();
    assert!(text_of(&alone).contains("no other model"), "{alone}");
}

#[test]
fn statistics_say_what_fails_what_mends_it_and_at_what_cost() {
    let usage = usage(&prices(), 1_799_000_000_000);
    let text = text_of(&stats_page(&frame(), &usage, 99).into_string());
    for part in [
        "By week",
        "What fails, by tool",
        "What fails, by class",
        "What mends it, by rung",
        "Per mended failure",
        "What it costs, by tool",
        "plans, answers and agents",
        "rejected",
        "feedback",
        "of 99 runs",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("at the prices of now"), "{text}");
    let unpriced = crate::fleet_pages::usage(&ModelPrices::new(), 0);
    let text = text_of(&stats_page(&frame(), &unpriced, 1).into_string());
    assert!(text.contains("No model has a price"), "{text}");
}

#[test]
fn questions_are_counted_for_the_tool_the_class_and_the_rung_that_they_were_asked_for() {
    let (_, ending) = endings().into_iter().find(|(name, _)| name == "repair-by-feedback").expect("a recorded run");
    let overview = overview(&ending).expect("an overview");
    let usage = RunUsage::of(&overview, "complete", 0, &prices());
    let asked = usage.rungs["feedback"];
    assert!(asked.questions > 0 && asked.tokens > 0 && asked.nanos > 0, "{usage:?}");
    assert_eq!(usage.classes.values().map(|class| class.questions).sum::<u64>(), asked.questions);
    assert_eq!(usage.tools.values().map(|tool| tool.asked.tokens).sum::<u64>(), asked.tokens);
    let week = usage.weeks.values().next().expect("a week");
    assert_eq!(week.asked.tokens, asked.tokens + usage.planning.tokens);
    let Overview::Run(run) = &overview else { panic!("a run") };
    assert_eq!(usage.cost_nanos, run.spent.cost.nanos());
}

#[test]
fn the_cost_of_the_sessions_of_a_run_is_left_to_the_sessions() {
    let (_, mut ending) = endings().into_iter().find(|(name, _)| name == "repair-by-feedback").expect("a recorded run");
    ending["run"]["spent"]["cost"] = serde_json::json!(100);
    ending["run"]["sessions_cost"] = serde_json::json!(70);
    let usage = RunUsage::of(&overview(&ending).expect("an overview"), "complete", 0, &prices());
    assert_eq!(usage.cost_nanos, 30);
}

#[test]
fn an_error_shows_what_mended_it_and_an_example() {
    let (_, ending) = endings().into_iter().find(|(name, _)| name == "repair-by-feedback").expect("a recorded run");
    let overview = overview(&ending).expect("an overview");
    let usage = RunUsage::of(&overview, "complete", 0, &prices());
    let (_, error) = usage.errors.iter().next().expect("an error");
    assert_eq!((error.times, error.mended.get("feedback")), (1, Some(&1)), "{usage:?}");
    let html = stats_page(&frame(), &usage, 1).into_string();
    let (run, step) = error.example.as_ref().expect("an example");
    assert!(html.contains(&format!("/runs/{run}?step={step}")) && html.contains("feedback 1 ×"), "{html}");
}

#[test]
fn what_runs_used_is_the_same_in_whatever_order_it_is_merged() {
    let parts: Vec<RunUsage> = endings()
        .iter()
        .enumerate()
        .map(|(index, (_, ending))| {
            let created_ms = i64::try_from(index).expect("few") * 400_000_000;
            RunUsage::of(&overview(ending).expect("an overview"), "complete", created_ms, &prices())
        })
        .collect();
    let merged = |parts: Vec<&RunUsage>| {
        let mut all = RunUsage::default();
        for part in parts {
            all.merge(part);
        }
        all
    };
    let all = merged(parts.iter().collect());
    assert_eq!(all.runs, parts.len());
    assert!(all.weeks.len() > 1);
    let backwards = merged(parts.iter().rev().collect());
    // Of two failures at the same time either may be the last one.
    let without = |mut usage: RunUsage| {
        for model in usage.models.values_mut() {
            model.last_failure = None;
        }
        usage
    };
    assert_eq!(without(all), without(backwards));
}

fn listed_rule(id: &str, state: RuleState) -> ListedRule {
    let change = [("from".to_owned(), RuleValue { of: "upper(parameters.from)".to_owned(), map: None })].into();
    let rule = LearnedRule {
        id: id.to_owned(),
        state,
        accepted_by: None,
        capability: "bank/convert".to_owned(),
        error: ErrorPattern {
            status: None,
            code: "NO_RATE".to_owned(),
            message: "no rate from *".to_owned(),
            fields: Vec::new(),
        },
        absent: Vec::new(),
        results: [].into(),
        change,
        remove: Vec::new(),
        evidence: RuleEvidence::default(),
    };
    ListedRule { rule, helps: (3, Vec::new()), harms: (0, Vec::new()), model_calls: 3, uses: 2, saved: 2 }
}

#[test]
fn a_rule_can_be_accepted_or_rejected_as_its_state_allows_and_only_if_there_is_a_file() {
    let page = |state, file: Option<&str>| {
        let rules = vec![listed_rule("one", state)];
        let list = RuleList { rules, file: file.map(ToOwned::to_owned), runs: 200, unread: 0 };
        rules_page(&frame(), &list).into_string()
    };
    for (state, accepts, rejects) in
        [(RuleState::Proposed, true, true), (RuleState::Accepted, false, true), (RuleState::Retired, true, false)]
    {
        let shown = page(state, Some("rules.yaml"));
        assert_eq!(shown.contains("action=\"/rules/one/accept\""), accepts, "{state}: {shown}");
        assert_eq!(shown.contains("action=\"/rules/one/reject\""), rejects, "{state}: {shown}");
        assert!(text_of(&shown).contains("used 2 times, which saved about 2 model calls"), "{shown}");
    }
    let without = page(RuleState::Proposed, None);
    assert!(!without.contains("action=\"/rules/") && text_of(&without).contains("No file for rules"), "{without}");
}

#[test]
fn rules_are_in_the_navigation_of_those_who_may_see_them_and_each_has_a_heading_and_buttons_with_own_names() {
    let rules = vec![listed_rule("one", RuleState::Proposed), listed_rule("two", RuleState::Proposed)];
    let list = RuleList { rules, file: Some("rules.yaml".to_owned()), runs: 200, unread: 0 };
    let shown = rules_page(&PageFrame { may_administer: true, ..frame() }, &list).into_string();
    assert!(shown.contains("<a href=\"/rules\" aria-current=\"page\">"), "{shown}");
    assert!(!rules_page(&frame(), &list).into_string().contains("href=\"/rules\""));
    for part in [
        "aria-labelledby=\"rule-0\"",
        "<h2 id=\"rule-0\">",
        "<h2 id=\"rule-1\">",
        "aria-label=\"Accept this rule of bank/convert one\"",
        "aria-label=\"Accept this rule of bank/convert two\"",
    ] {
        assert_eq!(shown.matches(part).count(), 1, "{part}: {shown}");
    }
}
