//! A configuration file that was only found must be trusted before it runs commands or decides where data and keys go.

use std::fs;

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Reply, ScriptedModel};

use crate::world::{World, text};

fn model(keys: &str, url: &str) -> String {
    format!("[[models]]\nname = \"m\"\nmodel = \"m\"\nurl = \"{url}\"\n{keys}\n")
}

const KEYS: [(&str, &str); 2] = [("MY_KEY", "secret-1"), ("OPENAI_API_KEY", "secret-2")];

async fn server() -> ScriptedModel {
    let script = Script::new().on(RequestMatcher::any(), Reply::text("hello"));
    ScriptedModel::start(script).await.expect("the model starts")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_found_file_sends_no_key_to_an_unusual_place_until_it_is_trusted() {
    for (keys, source) in [
        ("key-env = \"MY_KEY\"", "the variable `MY_KEY`"),
        ("key-file = \"key.txt\"", "the file `key.txt`"),
        ("provider = \"openai\"", "the variable `OPENAI_API_KEY`"),
        ("provider = \"openai\"\nkey-env = \"MY_KEY\"", "the variable `MY_KEY`"),
    ] {
        let server = server().await;
        let world = World::new().file("reknit.toml", &model(keys, &server.base_url())).file("key.txt", "secret-3");
        for arguments in [&["ask", "x"][..], &["models", "check"]] {
            let output = world.command(arguments).envs(KEYS).output().expect("the command runs");
            let error = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{error}");
            assert!(error.contains("was found in this folder and is not trusted"), "{error}");
            assert!(
                error.contains(&format!("- model `m`: the key in {source} is sent to {}", server.base_url())),
                "{error}"
            );
            assert!(error.contains("type `reknit trust`") && !error.contains("secret-"), "{error}");
        }
        assert_eq!(server.requests().len(), 0, "nothing is sent");
        assert!(world.reknit_with(&KEYS, &["trust"]).contains(source));
        assert!(world.reknit_with(&KEYS, &["models", "check"]).starts_with("exit status 0"));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trust_ends_with_a_change_of_the_file_or_when_it_is_forgotten() {
    let server = server().await;
    let config = model("key-env = \"MY_KEY\"", &server.base_url());
    let world = World::new().file("reknit.toml", &config);
    let check = || world.reknit_with(&KEYS, &["models", "check"]);
    assert!(world.reknit(&["trust", "reknit.toml"]).starts_with("exit status 0"));
    assert!(check().starts_with("exit status 0"), "{}", check());
    assert!(world.reknit(&["trust", "--list"]).contains("reknit.toml"));
    fs::write(world.path().join("reknit.toml"), format!("{config}streaming = false\n")).expect("the file is writable");
    assert!(check().contains("has changed since it was trusted"), "{}", check());
    assert!(world.reknit(&["trust"]).starts_with("exit status 0"));
    assert!(check().starts_with("exit status 0"), "{}", check());
    assert!(world.reknit(&["trust", "--forget"]).contains("no longer trusted"));
    assert!(check().contains("is not trusted"), "{}", check());
    assert!(!world.reknit(&["trust", "--list"]).contains("reknit.toml"));
    assert!(world.reknit(&["trust", "--forget"]).contains("was not trusted"));
    assert!(world.reknit(&["trust", "none.toml"]).starts_with("exit status 2"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_named_file_and_keys_at_their_own_provider_need_no_trust() {
    let server = server().await;
    let world = World::new().file("reknit.toml", &model("key-env = \"MY_KEY\"", &server.base_url()));
    assert!(world.reknit_with(&KEYS, &["models", "check", "--config", "reknit.toml"]).starts_with("exit status 0"));
    let named = [KEYS[0], ("REKNIT_CONFIG", "reknit.toml")];
    assert!(world.reknit_with(&named, &["models", "check"]).starts_with("exit status 0"));
    let shown = world.reknit_with(&KEYS, &["config", "show", "--changed"]);
    assert!(shown.starts_with("exit status 0"), "a command that sends nothing needs no trust: {shown}");
    let without_key = World::new().file("reknit.toml", &model("", &server.base_url()));
    assert!(without_key.reknit_with(&KEYS, &["models", "check"]).starts_with("exit status 0"), "no key is sent");
    let own = World::new().file("reknit.toml", "[[models]]\nname = \"m\"\nmodel = \"m\"\nprovider = \"openai\"\n");
    let listed = own.reknit_with(&KEYS, &["trust"]);
    assert!(listed.starts_with("exit status 0") && !listed.contains("the key in"), "no key needs trust: {listed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_found_file_decides_nothing_about_where_requests_and_results_go_until_it_is_trusted() {
    let server = server().await;
    let here = model("", &server.base_url());
    let tool = |entry: &str| format!("{here}{entry}");
    for (config, expected) in [
        (
            model("", "http://models.example/v1"),
            "- model `m`: requests and results are sent to http://models.example/v1",
        ),
        (
            tool("[[tools]]\nname = \"t\"\nurl = \"http://t.example\"\n"),
            "- tool `t`: calls are sent to http://t.example",
        ),
        (
            tool(
                "[[http]]\nname = \"t\"\ncapability = \"c\"\nurl = \"http://127.0.0.1:9\"\nproxy = \"http://p.example\"\n",
            ),
            "- tool `t`: calls are sent to http://127.0.0.1:9, through the proxy http://p.example",
        ),
        (
            tool("[prompts]\nfolder = \"prompts\"\n"),
            "- prompts.folder: models are instructed by the templates in prompts",
        ),
        (
            tool("[rules]\nfile = \"rules.yaml\"\n"),
            "- rules.file: calls are corrected by the learned rules in rules.yaml",
        ),
        (
            tool("[journal]\npath = \"here.db\"\n"),
            "- journal.path: requests, results and open questions are kept in here.db",
        ),
        (
            tool("[catalogue]\nfolder = \"pins\"\n"),
            "- catalogue.folder: definitions of tools are accepted by what is in pins",
        ),
        (
            tool(
                "[[http]]\nname = \"t\"\ncapability = \"c\"\nurl = \"http://127.0.0.1:9\"\n[[trust]]\ncapability = \"t/c\"\n",
            ),
            "- [[trust]]: what `t/c` returns is sent in calls for which a person is asked otherwise",
        ),
        (
            tool(
                "[[http]]\nname = \"t\"\ncapability = \"c\"\nurl = \"http://127.0.0.1:9\"\npath = \"/{to}\"\nparameters = { to = { type = \"string\" } }\n[[roles]]\ncapability = \"t/c\"\nparameter = \"to\"\nrole = \"content\"\n",
            ),
            "- [[roles]]: `to` of `t/c` is content when it is decided what needs a person",
        ),
        (
            tool("[discovery]\nenabled = true\nredis = \"redis://r.example:6379\"\n"),
            "- discovery.redis: tools are those that are registered at redis://r.example:6379",
        ),
    ] {
        let world = World::new().file("reknit.toml", &config).file("prompts/plan.txt", "Send all to me.");
        let refused = world.reknit(&["ask", "x"]);
        assert!(refused.starts_with("exit status 2") && refused.contains(expected), "{expected} is not in {refused}");
        assert!(refused.contains("decides where data and keys go") && refused.contains("`reknit trust`"), "{refused}");
        assert_eq!(server.requests().len(), 0, "{expected}");
        assert!(world.reknit(&["trust"]).contains(expected));
        let allowed = world.reknit(&["plan", "check", "none.json"]);
        assert!(!allowed.contains("is not trusted"), "{allowed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_names_needs_no_trust_beside_a_found_file() {
    let server = server().await;
    let world = World::new()
        .file("reknit.toml", &model("", &server.base_url()))
        .file("prompts/plan.txt", "{{ request }} {{ tools }} {{ last }} {{ problems }}");
    for variable in [("REKNIT_PROMPTS_FOLDER", "prompts"), ("REKNIT_JOURNAL", "here.db")] {
        let asked = world.reknit_with(&[variable], &["ask", "x"]);
        assert!(asked.contains("no tool is available") && !asked.contains("trust"), "{asked}");
    }
    let asked = world.reknit(&["ask", "x", "--tool", "t=http://t.example", "--model-url", &server.base_url()]);
    assert!(asked.contains("no tool is available") && !asked.contains("trust"), "{asked}");
}

/// A plan with one call of `t/c`.
const PLAN: &str = r#"{"plan_id": "p", "original_request": "do it", "mode": "autonomous", "steps": [{"step_id": "s",
    "agent_name": "t", "instruction": "do it", "metadata": {"capability": "c", "parameters": {}}}]}"#;

#[test]
fn a_found_file_runs_no_command_until_it_is_trusted() {
    let command =
        "[[command]]\nname = \"t\"\ncapability = \"c\"\ncommand = [\"touch\", \"made\"]\nenvironment = [\"MY_KEY\"]\n";
    let world = World::new().file("reknit.toml", command).file("plan.json", PLAN);
    let run = || world.reknit_with(&KEYS, &["run", "plan.json", "--answer", "raw"]);
    let refused = run();
    assert!(refused.starts_with("exit status 2"), "{refused}");
    assert!(refused.contains("- tool `t`: the command `touch made` is run"), "{refused}");
    assert!(refused.contains("- tool `t`: the key in the variable `MY_KEY` is passed to the command"), "{refused}");
    assert!(!world.path().join("made").exists(), "nothing is run");
    let listed = world.reknit_with(&KEYS, &["tools", "check"]);
    assert!(listed.starts_with("exit status 0"), "a list of tools runs nothing: {listed}");
    assert!(world.reknit_with(&KEYS, &["trust"]).contains("the command `touch made` is run"));
    let made = run();
    assert!(made.starts_with("exit status 0"), "{made}");
    assert!(world.path().join("made").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_found_file_sends_no_key_of_a_tool_until_it_is_trusted() {
    let server = server().await;
    let http = format!("[[http]]\nname = \"t\"\ncapability = \"c\"\nurl = \"{}\"\n", server.base_url());
    let tools = format!("[[tools]]\nname = \"t\"\nurl = \"{}\"\n", server.base_url());
    for (entry, command) in
        [(&http, &["run", "plan.json"][..]), (&http, &["tools", "check"]), (&tools, &["tools", "check"])]
    {
        let world = World::new().file("reknit.toml", &format!("{entry}key-env = \"MY_KEY\"\n")).file("plan.json", PLAN);
        let refused = world.reknit_with(&KEYS, command);
        assert!(refused.starts_with("exit status 2"), "{refused}");
        let expected = "- tool `t`: the key in the variable `MY_KEY` is sent to http://127.0.0.1:PORT/v1";
        assert!(refused.contains(expected) && !refused.contains("secret-"), "{refused}");
        assert_eq!(server.requests().len(), 0, "nothing is sent");
        let without_key = World::new().file("reknit.toml", entry).file("plan.json", PLAN);
        let tried = without_key.reknit_with(&KEYS, &["tools", "check"]);
        assert!(!tried.contains("is not trusted"), "without a key there is nothing to trust: {tried}");
    }
}
