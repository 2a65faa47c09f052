//! `reknit models` and `reknit models check`.

use reknit_testing::model::{Script, When};
use reknit_testing::{Reply, ScriptedModel};

use crate::world::World;

fn section(name: &str, rest: &str) -> String {
    format!("[[models]]\nname = \"{name}\"\nmodel = \"m-1\"\n{rest}\n")
}

async fn scripted(reply: Reply) -> ScriptedModel {
    ScriptedModel::start(Script::new().on(When::any(), reply)).await.expect("the model starts")
}

#[test]
fn models_are_listed_with_where_their_keys_are() {
    let config = [
        section("main", "provider = \"openai\""),
        section("second", "provider = \"anthropic\"\nkey-env = \"MY_KEY\""),
        section("third", "provider = \"gemini\"\nkey-file = \"key.txt\""),
        section("local", "url = \"http://127.0.0.1:8080/v1\""),
    ];
    let world = World::new().file("reknit.toml", &config.concat()).file("key.txt", "s3cret\n");
    let shown = world.reknit_with(&[("MY_KEY", "s3cret")], &["models"]);
    assert!(!shown.contains("s3cret"));
    insta::assert_snapshot!(shown, @r#"
    exit status 0
    --- stdout
    NAME    PROVIDER    MODEL  KEY
    main    openai      m-1    OPENAI_API_KEY (not set)
    second  anthropic   m-1    MY_KEY
    third   gemini      m-1    key.txt
    local   compatible  m-1    none
    "#);
}

#[test]
fn without_a_model_one_is_found_by_its_key() {
    let found = [("REKNIT_FIND_MODEL", "true"), ("GROQ_API_KEY", "s3cret"), ("OPENROUTER_API_KEY", "s3cret")];
    insta::assert_snapshot!(World::new().reknit_with(&found, &["models"]), @r#"
    exit status 0
    --- stdout
    NAME  PROVIDER    MODEL                KEY
    groq  compatible  openai/gpt-oss-120b  GROQ_API_KEY
    --- stderr
    note: no model is configured; `openai/gpt-oss-120b` of groq is asked, found by the key in GROQ_API_KEY
    "#);
    insta::assert_snapshot!(World::new().reknit_with(&[("OPENAI_API_KEY", "s3cret")], &["models"]), @r#"
    exit status 2
    --- stderr
    error: there is no model to ask

    hint: name one: `--model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml
    "#);
    insta::assert_snapshot!(World::new().reknit_with(&[("REKNIT_FIND_MODEL", "yes")], &["models"]), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: the variable `REKNIT_FIND_MODEL` is "yes"; write `true` or `false`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_model_is_asked_once_and_what_came_of_it_stands_in_a_table() {
    let well = scripted(Reply::text("ok").usage(9, 1)).await;
    let refusing = scripted(Reply::status(401).body(r#"{"error":{"message":"no such key"}}"#)).await;
    let busy = scripted(Reply::status(429).retry_after(7)).await;
    let url = |model: &ScriptedModel| format!("url = \"{}\"", model.base_url());
    let config = [
        section("chat", &url(&well)),
        section("claude", &format!("provider = \"anthropic\"\nkey-env = \"MY_KEY\"\n{}", url(&refusing))),
        section("busy", &url(&busy)),
        section("gone", "url = \"http://127.0.0.1:9/v1\""),
        section("keyless", "provider = \"openai\""),
    ];
    let world = World::new().file("reknit.toml", &config.concat());
    insta::assert_snapshot!(world.reknit_with(&[("MY_KEY", "s3cret")], &["models", "check"]), @r#"
    exit status 1
    --- stdout
    NAME     MODEL  RESULT
    chat     m-1    answered in N ms, 10 tokens
    claude   m-1    not allowed (HTTP 401): no such key
    busy     m-1    rate limited (HTTP 429): Too Many Requests; asks to wait 7 s
    gone     m-1    network error: no connection to 127.0.0.1:9: Connection refused (os error 111)
    keyless  m-1    not asked: OPENAI_API_KEY is not set
    --- stderr
    hint: claude: see whether the key in `MY_KEY` is right
    hint: busy: try again later, or name a second model
    hint: gone: see whether a server runs at http://127.0.0.1:9/v1
    hint: keyless: set it: `export OPENAI_API_KEY=...`
    "#);
    assert_eq!(well.requests().len(), 1);
}

#[test]
fn what_cannot_work_is_said_before_anything_is_asked() {
    for (config, expected) in [
        (section("a", "provider = \"azure\""), "write one of `openai`"),
        (section("a", "url = \"localhost:8080\""), "write an address like"),
        (section("a", ""), "it needs a `url`"),
    ] {
        let shown = World::new().file("reknit.toml", &config).reknit(&["models", "check"]);
        assert!(shown.starts_with("exit status 2") && shown.contains(expected), "{shown}");
    }
}

#[test]
fn without_any_model_there_is_nothing_to_list() {
    insta::assert_snapshot!(World::new().reknit(&["models"]), @r#"
    exit status 2
    --- stderr
    error: there is no model to ask

    hint: name one: `--model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_model_is_said_with_what_to_do_before_a_run_where_that_is_possible() {
    let ask = |config: &str| World::new().file("reknit.toml", config).reknit(&["ask", "buy tea"]);
    insta::assert_snapshot!(ask(&section("a", "provider = \"opnai\"")), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: reknit.toml, line 4: `models.provider` is "opnai"; write one of `openai`, `openai-responses`, `anthropic`, `gemini`, `compatible`
    "#);
    insta::assert_snapshot!(ask(&section("a", "url = \"htp://127.0.0.1/v1\"")), @r#"
    exit status 2
    --- stderr
    error: a model cannot be used: the base URL of model `a` is not usable: it does not begin with http:// or https://

    hint: write an address like `http://127.0.0.1:8080/v1`
    "#);
    insta::assert_snapshot!(ask(&section("a", "provider = \"anthropic\"")), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: the key of model `a` should be in the variable `ANTHROPIC_API_KEY`, which is not set
    "#);
    insta::assert_snapshot!(ask(&section("a", "provider = \"openai\"\nkey-file = \"no/such/key\"")), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: the key of model `a` should be in the file `no/such/key`, which cannot be used: No such file or directory (os error 2)
    "#);
    let body = r#"{"error":{"message":"The model `m-1` does not exist","code":"model_not_found"}}"#;
    let refusing = scripted(Reply::status(404).body(body)).await;
    let config = section("a", &format!("url = \"{}\"", refusing.base_url()));
    let shop = crate::endings::shop().await;
    let world = World::new().configured(&[&shop], &config);
    insta::assert_snapshot!(world.reknit(&["ask", "buy tea"]), @r#"
    exit status 1
    --- stdout
    no model gave a plan: model error (HTTP 404): The model `m-1` does not exist; no answer after 3 attempts
    --- stderr
    planning: asking a model

    failed: 0 of 0 steps done, 0 tool calls, 3 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["models", "check"]), @r#"
    exit status 1
    --- stdout
    NAME  MODEL  RESULT
    a     m-1    model error (HTTP 404): The model `m-1` does not exist
    --- stderr
    hint: a: see whether http://127.0.0.1:PORT/v1 is right, and whether there is a model `m-1`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_in_nothing_that_is_shown_or_kept() {
    let body = r#"{"error":{"message":"the key sk-s3cret has no access","code":"bad_request"}}"#;
    let model = scripted(Reply::status(400).body(body)).await;
    let config = section("a", &format!("url = \"{}\"\nkey-env = \"MY_KEY\"", model.base_url()));
    let shop = crate::endings::shop().await;
    let world = World::new().configured(&[&shop], &config);
    let key = [("MY_KEY", "sk-s3cret"), ("RUST_LOG", "trace")];
    let asked = world.reknit_with(&key, &["ask", "buy tea"]);
    assert!(asked.contains("the key [redacted] has no access"), "{asked}");
    let checked = world.reknit_with(&key, &["models", "check"]);
    let sent = model.requests();
    assert_eq!(sent[0].header("authorization"), Some("Bearer sk-s3cret"));
    for shown in [asked, checked, world.reknit_with(&key, &["models"]), world.reknit_with(&key, &["runs", "list"])] {
        assert!(!shown.contains("s3cret"), "{shown}");
    }
    let mut folders = vec![world.path().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&entry).expect("a file");
            assert!(!bytes.windows(6).any(|six| six == b"s3cret"), "{}", entry.display());
        }
    }
    assert!(files >= 2, "the journal is among them");
}
