//! Rules for rejected calls: proposed by the runs in the journal, accepted by a person into a file, retired by a tool.

use std::fs;

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{Category, Retryable, SideEffect, ToolError, Value};

use crate::world::{World, assert_contains, assert_ended};

const PLAN: &str = "request: convert it\nsteps:\n  - {id: convert, tool: bank/convert, with: {from: Yen, to: KRW}}\n";

/// A tool that knows currencies by their codes, and only some of them.
async fn bank(codes: &[&str]) -> RunningTool {
    let known = codes.iter().map(|code| Value::from(*code)).collect::<Vec<_>>();
    let error = ToolError::new("NO_RATE", "no rate from this currency", Category::NotFound)
        .retryable(Retryable::Yes)
        .detail("names", vec![Value::from("JPY"), Value::from("SEK")]);
    let is_known = move |from: Option<&Value>| from.is_some_and(|from| known.contains(from));
    ScriptedTool::new("bank")
        .capability("convert", SideEffect::Read)
        .on(
            "convert",
            CallMatcher::any().passes(move |call| is_known(call.parameters.get("from"))),
            Reply::data(Value::from([("rate", 9.into())])),
        )
        .on("convert", CallMatcher::any(), Reply::error(error))
        .start()
        .await
        .expect("the tool starts")
}

/// A model that corrects the currency.
async fn model(code: &str) -> ScriptedModel {
    let advice = format!(r#"{{"should_retry": true, "reason": "a code", "suggested_changes": {{"from": "{code}"}}}}"#);
    let script = Script::new().on(RequestMatcher::any(), Reply::text(advice));
    ScriptedModel::start(script).await.expect("the model starts")
}

fn world(bank: &RunningTool, model: &ScriptedModel, rules: &str) -> World {
    let config = format!("{rules}[[models]]\nname = \"main\"\nurl = \"{}\"\nmodel = \"m-1\"\n", model.base_url());
    let world = World::new().configured(&[bank], &config).file("plan.yaml", PLAN);
    world.reknit(&["trust"]);
    world
}

fn run(world: &World) -> String {
    world.reknit(&["run", "--answer", "template", "plan.yaml"])
}

/// The id of the only rule.
fn only_rule(world: &World) -> String {
    let listed = world.reknit(&["rules", "list", "--json"]);
    assert_eq!(listed.matches("\"rule\":").count(), 1, "{listed}");
    listed.split_once("\"rule\":\"").expect("a rule").1.chars().take(10).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_correction_of_a_model_is_proposed_accepted_used_and_exported_as_a_rule() {
    let (bank, model) = (bank(&["JPY"]).await, model("JPY").await);
    let world = world(&bank, &model, "[rules]\nfile = \"rules.yaml\"\n");
    let first = run(&world);
    assert!(first.starts_with("exit status 0") && model.requests().len() == 1, "{first}");
    let id = only_rule(&world);
    let listed = world.reknit(&["rules", "list"]);
    assert!(listed.contains("proposed  bank/convert after NO_RATE \"no rate from this currency\""), "{listed}");
    assert!(listed.contains("from = parameters.from by Yen -> \"JPY\"; helps 1, harms 0"), "{listed}");

    assert!(run(&world).starts_with("exit status 0"));
    assert_eq!(model.requests().len(), 2, "a proposal is not used");
    let accepted = world.reknit(&["rules", "accept", &id]);
    assert!(accepted.starts_with("exit status 0") && accepted.contains("accepted  bank/convert"), "{accepted}");
    let file = fs::read_to_string(world.path().join("rules.yaml")).expect("the rules are in the file");
    assert!(file.contains(&format!("- id: \"{id}\"")) || file.contains(&format!("- id: {id}")), "{file}");
    assert!(file.contains("state: accepted") && file.contains("map: {Yen: JPY}"), "{file}");

    assert!(run(&world).starts_with("exit status 0"));
    assert_eq!(model.requests().len(), 2, "the rule corrects the call without a model");
    let shown = world.reknit(&["runs", "show", "last", "--step", "convert"]);
    assert!(shown.contains(&format!("by the learned rule {id}")), "{shown}");
    let shown = world.reknit(&["rules", "show", &id]);
    assert!(shown.contains("Would have made the correction that succeeded: 3"), "{shown}");
    assert!(shown.contains("used 1 times since, which saved about 1"), "{shown}");
    assert_ended(&world.reknit(&["rules", "test"]), 0, "helps 3, harms 0");

    let exported = world.output(&["rules", "export"]);
    fs::write(world.path().join("shared.yaml"), &exported.stdout).expect("it is written");
    assert_contains(&world.reknit(&["rules", "forget", &id]), "forgot this rule");
    let imported = world.reknit(&["rules", "import", "shared.yaml"]);
    assert!(imported.contains("1 new rule proposed"), "{imported}");
    assert!(run(&world).starts_with("exit status 0"));
    assert_eq!(model.requests().len(), 3, "an imported rule is a proposal");

    let rejected = world.reknit(&["rules", "reject", &id]);
    assert!(rejected.contains("rejected this rule"), "{rejected}");
    assert!(world.reknit(&["rules", "list"]).contains("retired   bank/convert"), "and it is not proposed again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_a_tool_rejects_is_retired_in_the_file() {
    let (bank, model) = (bank(&["SEK"]).await, model("SEK").await);
    let rules = "rules:\n  - {id: wrong, state: accepted, capability: bank/convert, error: {code: NO_RATE, message: \"*\"}, \
                 change: {from: {of: parameters.from, map: {Yen: JPY}}}}\n";
    let world = world(&bank, &model, "[rules]\nfile = \"rules.yaml\"\n").file("rules.yaml", rules);
    let first = run(&world);
    assert!(first.starts_with("exit status 0") && model.requests().len() == 1, "{first}");
    assert_eq!(bank.call_count(), 3, "as the plan says, as the rule says, as the model says");
    let file = fs::read_to_string(world.path().join("rules.yaml")).expect("the rules are in the file");
    assert!(file.contains("state: retired") && file.contains("rejected in run"), "{file}");
    assert!(run(&world).starts_with("exit status 0"));
    assert_eq!(bank.call_count(), 5, "the rule is not tried again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_errors_and_a_missing_file_are_named_with_what_to_write() {
    let (bank, model) = (bank(&["JPY"]).await, model("JPY").await);
    let world = world(&bank, &model, "");
    assert!(run(&world).starts_with("exit status 0"));
    let id = only_rule(&world);
    assert_ended(&world.reknit(&["rules", "accept", &id]), 2, "file = \"reknit-rules.yaml\"");

    let broken = "rules:\n  - capability: bank/convert\n    error: {message: \"no rate\"}\n    change: {from: 5}\n";
    let world = self::world(&bank, &model, "[rules]\nfile = \"rules.yaml\"\n").file("rules.yaml", broken);
    for arguments in [&["rules", "list"][..], &["run", "--answer", "template", "plan.yaml"]] {
        let refused = world.reknit(arguments);
        assert!(refused.starts_with("exit status 2"), "{refused}");
        assert!(
            refused.contains("line 4, column") && refused.contains("a rule states no value of its own"),
            "{refused}"
        );
    }
    let file = fs::File::options().write(true).open(world.path().join("rules.yaml")).expect("it is there");
    file.set_len(5 << 20).expect("it grows");
    let refused = world.reknit(&["rules", "list"]);
    assert!(refused.starts_with("exit status 2") && refused.contains("it is larger than 4 MiB"), "{refused}");
}

/// An accepted rule that the tool rejects, with a comment of a person.
const WRONG: &str = "# reviewed by the bank team\nrules:\n  # names are codes\n  - {id: wrong, state: accepted, capability: \
                     bank/convert, error: {code: NO_RATE, message: \"*\"}, change: {from: {of: parameters.from, map: {Yen: JPY}}}}\n";

fn rules_of(world: &World) -> String {
    fs::read_to_string(world.path().join("rules.yaml")).expect("the rules are in the file")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_rule_is_retired_while_its_run_waits_and_again_if_a_kill_lost_that() {
    let (bank, model) = (bank(&["SEK"]).await, model("SEK").await);
    let plan = "request: convert it\nsteps:\n  - {id: convert, tool: bank/convert, with: {from: Yen, to: KRW}}\n  \
                - {id: again, tool: bank/convert, with: {from: SEK, to: KRW}, after: [convert], approve: true}\n";
    let settings = "[rules]\nfile = \"rules.yaml\"\n";
    let world = world(&bank, &model, settings).file("rules.yaml", WRONG).file("plan.yaml", plan);
    let waiting = run(&world);
    assert!(waiting.starts_with("exit status 6"), "{waiting}");
    let retired = rules_of(&world);
    assert!(retired.contains("state: retired") && retired.contains("rejections:"), "{retired}");
    assert!(retired.starts_with("# reviewed by the bank team\nrules:\n  # names are codes\n"), "{retired}");

    // As if the process had been killed before it could write.
    fs::remove_file(world.path().join("rules.yaml.learned")).expect("there are notes");
    let world = world.file("rules.yaml", WRONG);
    assert!(world.reknit(&["runs", "approve", "last"]).starts_with("exit status 0"));
    let ended = world.reknit(&["runs", "resume", "last"]);
    assert!(ended.starts_with("exit status 0"), "{ended}");
    assert!(rules_of(&world).contains("state: retired"), "by the resumed run: {}", rules_of(&world));

    // The same, with a run that has ended.
    fs::remove_file(world.path().join("rules.yaml.learned")).expect("there are notes");
    let world = world.file("rules.yaml", WRONG).file("plan.yaml", PLAN);
    let calls = bank.call_count();
    assert!(run(&world).starts_with("exit status 0"));
    assert_eq!(bank.call_count() - calls, 2, "the rule is not used: as the plan says, as the model says");
    assert!(rules_of(&world).contains("state: retired"), "by the start: {}", rules_of(&world));

    // A person knows better: neither the ended runs nor another start retire it again.
    assert!(world.reknit(&["rules", "accept", "wrong"]).starts_with("exit status 0"));
    world.reknit(&["runs", "list"]);
    let calls = bank.call_count();
    assert!(run(&world).starts_with("exit status 0"));
    assert_eq!(bank.call_count() - calls, 3, "it is used, and rejected by another run");
    assert!(rules_of(&world).contains("state: retired"));

    // A person corrects the rule under its id: what the old one did says nothing about it.
    let world = world.file("rules.yaml", &WRONG.replace("Yen: JPY", "Yen: SEK"));
    let calls = bank.call_count();
    assert!(run(&world).starts_with("exit status 0"));
    assert_eq!(bank.call_count() - calls, 2, "it is used: as the plan says, as the rule says");
    assert!(rules_of(&world).contains("state: accepted"), "{}", rules_of(&world));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_a_tool_rejects_in_a_session_is_retired_and_not_used_in_the_next_turn() {
    let bank = bank(&["SEK"]).await;
    let call = |from: &str| Reply::tool_call("bank__convert", format!(r#"{{"from": "{from}", "to": "KRW"}}"#));
    let script = Script::new()
        .once(RequestMatcher::any(), call("Yen"))
        .once(RequestMatcher::any(), call("Yen"))
        .on(RequestMatcher::any(), Reply::tool_call("agent__final_report", r#"{"report_content": "no rate"}"#));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let clerk = "---\ntools: [bank]\nmending: rules\n---\nYou work for a bank.\n";
    let world =
        world(&bank, &model, "[rules]\nfile = \"rules.yaml\"\n").file("rules.yaml", WRONG).file("clerk.md", clerk);
    let ended = world.reknit(&["agent", "clerk.md", "convert it"]);
    assert!(rules_of(&world).contains("state: retired"), "{ended}\n{}", rules_of(&world));
    let sent: Vec<String> =
        bank.calls().iter().filter_map(|call| Some(call.parameters.get("from")?.to_string())).collect();
    assert_eq!(sent, ["\"Yen\"", "\"JPY\"", "\"Yen\""], "the second turn does not use it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_note_does_not_change_the_file_and_forks_are_no_evidence() {
    let (bank, model) = (bank(&["JPY"]).await, model("JPY").await);
    let settings = "[rules]\nfile = \"rules.yaml\"\naccept-reads-after = 2\n";
    let file = "# ours\nrules: []\n";
    let plan = PLAN.replace("convert it", "convert it to JPY");
    let world = world(&bank, &model, settings).file("rules.yaml", file).file("plan.yaml", &plan);
    assert!(run(&world).starts_with("exit status 0"));
    assert_eq!(rules_of(&world), file, "a proposal is beside the file");
    assert!(fs::read_to_string(world.path().join("rules.yaml.learned")).expect("notes").contains("state: proposed"));
    for _ in 0..3 {
        assert_ended(&world.reknit(&["runs", "fork", "last", "--at", "convert"]), 0, "");
    }
    assert_eq!(rules_of(&world), file, "three copies of one correction confirm nothing");
    assert!(world.reknit(&["rules", "list"]).contains("helps 1, harms 0"));
    assert!(run(&world).starts_with("exit status 0"));
    let accepted = rules_of(&world);
    assert!(accepted.starts_with("# ours\nrules:\n") && accepted.contains("accepted-by: confirmations"), "{accepted}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_with_the_policy_of_now_uses_the_rules_of_now() {
    let (bank, model) = (bank(&["JPY"]).await, model("JPY").await);
    let world = world(&bank, &model, "[rules]\nfile = \"rules.yaml\"\n");
    assert!(run(&world).starts_with("exit status 0"));
    let id = only_rule(&world);
    assert!(world.reknit(&["rules", "accept", &id]).starts_with("exit status 0"));
    let asked = model.requests().len();
    let forked = world.reknit(&["runs", "fork", "last", "--at", "convert", "--policy"]);
    assert!(forked.starts_with("exit status 0"), "{forked}");
    assert_eq!(model.requests().len(), asked, "the rule corrects the call: {forked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_imported_rule_is_no_other_rule_under_a_known_id() {
    let (bank, model) = (bank(&["JPY"]).await, model("JPY").await);
    let other = WRONG.replace("JPY", "SEK");
    let world = world(&bank, &model, "[rules]\nfile = \"rules.yaml\"\n");
    let world = world.file("rules.yaml", WRONG).file("other.yaml", &other).file("same.yaml", WRONG);
    assert_ended(&world.reknit(&["rules", "import", "other.yaml"]), 2, "other rules under known ids: `wrong`");
    assert_contains(&world.reknit(&["rules", "import", "same.yaml"]), "0 new rules proposed");
    let world = world.file("other.yaml", &other.replace("id: wrong", "id: theirs"));
    let imported = world.reknit(&["rules", "import", "other.yaml"]);
    assert!(
        imported.contains("note: `theirs` is imported as ") && imported.contains("1 new rule proposed"),
        "{imported}"
    );
    assert!(rules_of(&world).starts_with(WRONG), "{}", rules_of(&world));
}
