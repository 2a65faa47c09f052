//! The builder: each method does what its setting does in a file.

use std::collections::BTreeMap;
use std::time::Duration;

use reknit_model_api::Effort;
use reknit_protocol::SideEffect;
use reknit_registry::RedisUrl;

use super::super::field::Choice;
use super::super::list::builders_with_samples;
use super::*;

/// A value that differs from the default of every setting with an argument of this type.
pub(in super::super) trait Sample {
    fn sample() -> Self;
}

impl<T: Choice> Sample for T {
    fn sample() -> Self {
        T::CHOICES.last().expect("there is a choice").1
    }
}

macro_rules! samples {
    ($($type:ty: $sample:expr;)*) => {$(
        impl Sample for $type {
            fn sample() -> Self {
                $sample
            }
        }
    )*};
}

samples! {
    u32: 7;
    f64: 0.75;
    Option<f64>: None;
    Duration: Duration::from_millis(1_500);
    ByteSize: ByteSize(7_000_000);
    &str: "there";
    RedisUrl: RedisUrl::parse("redis://there:6379").expect("an address");
    WebhookUrl: WebhookUrl::parse("https://there.example/hook").expect("an address");
    Vec<u16>: vec![418];
    Vec<String>: vec!["tenant".to_owned()];
    BTreeMap<String, SideEffect>: BTreeMap::from([("shop".to_owned(), SideEffect::Unsafe)]);
}

#[test]
fn each_method_does_what_its_setting_does_in_a_file() {
    let builders = builders_with_samples();
    let methods: Vec<&str> = builders.iter().map(|(name, ..)| *name).collect();
    let without: Vec<&str> =
        SETTINGS.iter().map(|setting| setting.name).filter(|name| !methods.contains(name)).collect();
    assert_eq!(without, ["find-model"], "only the command line looks for models");
    for (name, builder, written) in builders {
        let config = builder.build().unwrap_or_else(|error| panic!("{name}: {error}"));
        let file = read(&format!("{name} = {written}"));
        let values = |config: &Config| config.effective().iter().map(|one| one.value.clone()).collect::<Vec<_>>();
        assert_eq!(values(&config), values(&file), "{name}");
        // The sample of a switch is `false`, which is the default of these.
        if !["llm-debug.enabled", "session.text-answers"].contains(&name) {
            assert_ne!(values(&config), values(&read("")), "{name}");
        }
        assert_eq!((config.policy, config.session), (file.policy, file.session), "{name}");
    }
}

#[test]
fn build_fails_with_the_first_error() {
    let invalid = Config::builder().breaker_percent(101).plan_temperature(f64::NAN).tool("a", "nowhere");
    insta::assert_snapshot!(invalid.build().expect_err("a value is invalid"), @"the program: `breaker.percent` is 101; write a whole number from 1 to 100");
    let invalid = Config::builder().tool("a", "nowhere");
    insta::assert_snapshot!(invalid.build().expect_err("a value is invalid"), @r#"the program: `tools.url` is "nowhere"; write an http or https address"#);
}

#[test]
fn tools_and_models_are_added_to_a_configuration_that_was_read() {
    let config = ConfigBuilder::from(read("[plan]\nretries = 5\n"))
        .tool("a", "http://127.0.0.1:1")
        .tool("b", "http://127.0.0.1:2")
        .model(Target { max_context: Some(9), ..Target::new("m", "http://x/v1", "m") })
        .model(Target::new("n", "http://x/v1", "n"))
        .reasoning(Some(Effort::Low))
        .build()
        .expect("the configuration is valid");
    assert_eq!((config.tools.len(), config.models.len(), config.policy.planning.retries), (2, 2, 5));
    assert_eq!(config.policy.rotation.context_windows, [("m".into(), 9)].into());
}

#[test]
fn adding_a_model_changes_nothing_about_the_models_of_a_file() {
    let read = read(&(model("a", "key-env = \"K\"") + &model("b", "key-env = \"K\"")));
    let mut config = ConfigBuilder::from(read.clone()).model(Target::new("c", "http://x/v1", "m")).build().unwrap();
    assert_eq!(config.keys, read.keys);
    assert_eq!(config.check_keys().unwrap_err().to_string(), read.check_keys().unwrap_err().to_string());
    config.use_limits_of_last_model("a");
    assert_eq!(config.models[0].timeouts, config.models[1].timeouts, "no model follows either of them");
    let alone = config.with_models(vec![Target::new("a", "http://y/v1", "m")], &SettingOrigin::Program);
    assert!(alone.keys.is_empty() && alone.check_keys().is_ok(), "it is another model with the same name");
}

#[test]
fn prompts_from_code_override_those_in_a_folder_in_any_order_of_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    for name in ["choice", "answer"] {
        let built_in = match name {
            "choice" => Templates::default().choice,
            _ => Templates::default().answer,
        };
        std::fs::write(folder.path().join(format!("{name}.txt")), format!("Folder. {built_in}")).unwrap();
    }
    let code = |name: &str, current: &str| (name == "answer").then(|| format!("Code. {current}"));
    for (case, builder) in [
        ("code first", Config::builder().prompts(code).prompts_folder(&path)),
        ("folder first", Config::builder().prompts_folder(&path).prompts(code)),
    ] {
        let templates = builder.build().unwrap().templates().unwrap();
        assert!(templates.choice.starts_with("Folder. "), "{case}: {}", templates.choice);
        assert!(templates.answer.starts_with("Code. Folder. "), "{case}: {}", templates.answer);
    }
}
