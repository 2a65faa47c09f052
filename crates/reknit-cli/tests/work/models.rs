//! `reknit models` and `reknit models check`.

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Reply, ScriptedModel};

use crate::world::{World, assert_bad_config, assert_refused};

fn section(name: &str, rest: &str) -> String {
    format!("[[models]]\nname = \"{name}\"\nmodel = \"m-1\"\n{rest}\n")
}

async fn scripted(reply: Reply) -> ScriptedModel {
    ScriptedModel::start(Script::new().on(RequestMatcher::any(), reply)).await.expect("the model starts")
}

#[test]
fn models_are_listed_with_the_origin_of_their_keys() {
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
    exit status 0 --- stdout
    NAME    PROVIDER    MODEL  KEY
    main    openai      m-1    OPENAI_API_KEY (not set)
    second  anthropic   m-1    MY_KEY
    third   gemini      m-1    key.txt
    local   compatible  m-1    none
    "#);
}

#[test]
fn a_model_is_detected_by_its_key() {
    let found = [("REKNIT_FIND_MODEL", "true"), ("GROQ_API_KEY", "s3cret"), ("OPENROUTER_API_KEY", "s3cret")];
    insta::assert_snapshot!(World::new().reknit_with(&found, &["models"]), @"
    exit status 0 --- stdout
    NAME  PROVIDER    MODEL                KEY
    groq  compatible  openai/gpt-oss-120b  GROQ_API_KEY
    --- stderr
    note: no model is configured; using `openai/gpt-oss-120b` of groq, found through the key in GROQ_API_KEY
    ");
    assert_refused(
        &World::new().reknit_with(&[("OPENAI_API_KEY", "s3cret")], &["models"]),
        "no model is configured",
        "name one with `--model-url http://127.0.0.1:8080/v1`, or add `[[models]]` to reknit.toml",
    );
    assert_bad_config(
        &World::new().reknit_with(&[("REKNIT_FIND_MODEL", "yes")], &["models"]),
        r#"REKNIT_FIND_MODEL: `find-model` is "yes"; write `true` or `false`"#,
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_check_asks_each_model_once_and_prints_a_table() {
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
    assert!(world.reknit(&["trust"]).starts_with("exit status 0"));
    insta::assert_snapshot!(world.reknit_with(&[("MY_KEY", "s3cret")], &["models", "check"]), @"
    exit status 1 --- stdout
    NAME     MODEL  RESULT
    chat     m-1    answered in N ms, 10 tokens
    claude   m-1    unauthorized (HTTP 401): no such key
    busy     m-1    rate limited (HTTP 429): Too Many Requests; asks to wait 7 s
    gone     m-1    network error: cannot connect to 127.0.0.1:9: Connection refused (os error 111)
    keyless  m-1    not asked: OPENAI_API_KEY is not set
    --- stderr
    hint: claude: check the key in `MY_KEY`
    hint: busy: try again later, or name a second model
    hint: gone: check that a server runs at http://127.0.0.1:9/v1
    hint: keyless: set it: `export OPENAI_API_KEY=...`
    ");
    assert_eq!(well.requests().len(), 1);
}

#[test]
fn models_check_reports_bad_configuration_before_any_call() {
    for (config, expected) in [
        (section("a", "provider = \"watson\""), "write one of `openai`"),
        (section("a", "url = \"localhost:8080\""), "write an address like"),
        (section("a", ""), "it needs a `url`"),
    ] {
        let shown = World::new().file("reknit.toml", &config).reknit(&["models", "check", "--config", "reknit.toml"]);
        assert!(shown.starts_with("exit status 2") && shown.contains(expected), "{shown}");
    }
}

#[test]
fn models_fails_without_a_model() {
    assert_refused(
        &World::new().reknit(&["models"]),
        "no model is configured",
        "name one with `--model-url http://127.0.0.1:8080/v1`, or add `[[models]]` to reknit.toml",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_problem_of_a_model_comes_with_a_hint() {
    let ask = |config: &str| World::new().file("reknit.toml", config).reknit(&["ask", "buy tea"]);
    assert_bad_config(
        &ask(&section("a", "provider = \"opnai\"")),
        r#"reknit.toml, line 4: `models.provider` is "opnai"; did you mean `openai`? write one of `openai`, `openai-responses`, `azure`, `anthropic`, `gemini`, `vertex`, `vertex-anthropic`, `bedrock`, `cohere`, …"#,
    );
    assert_refused(
        &ask(&section("a", "url = \"htp://127.0.0.1/v1\"")),
        "the base URL of model `a` is not usable: it does not start with http:// or https://",
        "write an address like `http://127.0.0.1:8080/v1`",
    );
    assert_bad_config(
        &ask(&section("a", "provider = \"anthropic\"")),
        "the key of model `a` should be in the variable `ANTHROPIC_API_KEY`, which is not set",
    );
    assert_bad_config(
        &ask(&section("a", "provider = \"openai\"\nkey-file = \"no/such/key\"")),
        "the key of model `a` should be in the file `no/such/key`, which cannot be used: No such file or directory (os error 2)",
    );
    let body = r#"{"error":{"message":"The model `m-1` does not exist","code":"model_not_found"}}"#;
    let refusing = scripted(Reply::status(404).body(body)).await;
    let config = section("a", &format!("url = \"{}\"", refusing.base_url()));
    let shop = crate::exit_status::shop().await;
    let world = World::new().configured(&[&shop], &config);
    insta::assert_snapshot!(world.reknit(&["ask", "buy tea"]), @"
    exit status 1 --- stdout
    no model wrote a plan: model error (HTTP 404): The model `m-1` does not exist; no answer after 3 attempts
    --- stderr
    planning: asking a model
    - model a: model error (HTTP 404): The model `m-1` does not exist

    failed: 0 of 0 steps done, 0 tool calls, 3 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    insta::assert_snapshot!(world.reknit(&["models", "check"]), @"
    exit status 1 --- stdout
    NAME  MODEL  RESULT
    a     m-1    model error (HTTP 404): The model `m-1` does not exist
    --- stderr
    hint: a: check the URL http://127.0.0.1:PORT/v1 and the model name `m-1`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_key_never_appears_in_output_or_journal() {
    let body = r#"{"error":{"message":"the key sk-s3cret has no access","code":"bad_request"}}"#;
    let model = scripted(Reply::status(400).body(body)).await;
    let config = section("a", &format!("url = \"{}\"\nkey-env = \"MY_KEY\"", model.base_url()));
    let shop = crate::exit_status::shop().await;
    let world = World::new().configured(&[&shop], &config);
    let key = [("MY_KEY", "sk-s3cret"), ("RUST_LOG", "trace")];
    assert!(world.reknit_with(&key, &["trust"]).starts_with("exit status 0"));
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
