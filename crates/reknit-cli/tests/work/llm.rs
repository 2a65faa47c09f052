//! `reknit runs show`: prompts, answers and the tools that were selected for planning.

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{self, RunningTool};
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{SideEffect, Value};

use crate::world::{World, assert_contains, assert_refused};

/// A shop with more capabilities than a planner sees, and a model that plans with one of them.
async fn asked(variables: &[(&str, &str)]) -> (World, RunningTool, ScriptedModel) {
    let shop = (0..25).fold(ScriptedTool::new("shop"), |shop, number| {
        let name = format!("look_{number}");
        let found = Reply::data(Value::parse(r#"{"price": 5, "api_key": "abc123456"}"#).expect("JSON"));
        shop.capability(name.as_str(), SideEffect::Read).on(name.as_str(), tool::CallMatcher::any(), found)
    });
    let shop = shop.start().await.expect("the shop opens");
    let plan = r#"{"plan_id": "p", "steps": [{"step_id": "s", "agent_name": "shop", "instruction": "look",
        "metadata": {"capability": "look_3", "parameters": {}}}]}"#;
    let script = Script::new()
        .on(RequestMatcher::any().purpose("tiered_selection"), Reply::text(r#"{"tools": ["shop/look_3", "look_4"]}"#))
        .on(RequestMatcher::any().purpose("plan_generation"), Reply::text(plan))
        .on(RequestMatcher::any().purpose("synthesis"), Reply::text("It costs 5."));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let url = model.base_url();
    let config = format!("[[models]]\nname = \"m\"\nurl = \"{url}\"\nmodel = \"m\"\n");
    let world = World::new().configured(&[&shop], &config);
    assert_contains(&world.reknit_with(variables, &["ask", "What does it cost?"]), "It costs 5.");
    (world, shop, model)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn show_prints_prompts_and_answers_if_the_run_allows_it() {
    let (world, _shop, _model) = asked(&[("GOMIND_LLM_DEBUG_ENABLED", "true")]).await;
    let shown = world.reknit(&["runs", "show", "last", "--llm"]);
    // Without the duration.
    let title = |line: &&str| line.starts_with("===") || line.starts_with("---");
    let titles: Vec<&str> = shown.lines().filter(title).filter_map(|line| line.split(';').next()).collect();
    insta::assert_snapshot!(titles.join("\n"), @"
    === tiered_selection, attempt 1 with m, temperature 0, at most 500 tokens
    --- system
    --- prompt
    --- answer
    === plan_generation, attempt 1 with m, temperature 0.3, at most 2000 tokens
    --- system
    --- prompt
    --- answer
    === synthesis, attempt 1 with m, temperature 0, at most 2000 tokens
    --- system
    --- prompt
    --- answer
    ");
    for words in ["What does it cost?", "It costs 5.", r#""capability": "look_3""#] {
        assert!(shown.contains(words), "{words} is not shown: {shown}");
    }
    assert!(!shown.contains("abc123456"), "a secret of a tool is shown: {shown}");
    let shown = world.reknit(&["runs", "show", "last", "--llm", "--json"]);
    let json = shown.split_once("--- stdout\n").expect("something is printed").1;
    let interactions = Value::parse(json).expect("it is JSON").get("interactions").cloned().expect("there are some");
    assert_eq!(interactions.as_array().map(<[Value]>::len), Some(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_owner_of_the_journal_always_sees_prompts_and_answers() {
    let (world, _shop, _model) = asked(&[]).await;
    let shown = world.reknit(&["runs", "show", "last", "--llm"]);
    assert!(shown.starts_with("exit status 0") && shown.contains("It costs 5."), "{shown}");
    // Only root can give the journal to somebody else.
    let journal = world.path().join("data/reknit/journal.db");
    if std::os::unix::fs::chown(&journal, Some(65_534), None).is_err() {
        return;
    }
    assert_refused(
        &world.reknit(&["runs", "show", "last", "--llm"]),
        "the journal belongs to another user, and LLM debugging is not enabled for run `RUN`, so its prompts and answers are not shown",
        "ask the owner of the journal to set `REKNIT_LLM_DEBUG_ENABLED=true` for the next run",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn show_lists_the_tools_that_were_selected_for_planning() {
    let (world, _shop, _model) = asked(&[]).await;
    let shown = world.reknit(&["runs", "show", "last"]);
    let tools = shown.lines().find(|line| line.starts_with("tools ")).unwrap_or_default();
    insta::assert_snapshot!(tools, @"tools    2 of 25 selected, about 118 tokens saved: shop/look_3, shop/look_4");
    assert!(
        world.reknit(&["runs", "show", "last", "--json"]).contains(r#""tools_shown":{"capabilities":["shop/look_3","#)
    );
}
