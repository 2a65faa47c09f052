//! The builder: each method does what the setting does in a file.

use std::collections::BTreeMap;
use std::time::Duration;

use reknit_dialogue::Effort;

use super::super::list::each_setting;
use super::*;
use crate::telemetry::log::{Form, Level};

/// For each setting: its name, a configuration that its method made, and the same value as it stands in a file.
macro_rules! built {
    ($(
        $(#[doc = $meaning:literal])+
        $method:tt($kind:ident $(<$choice:ty>)?) $name:literal $(= $variable:literal)? $(| $alias:literal)*
            => $($place:ident).+ $(, $($other:ident).+)*;
    )*) => {
        fn built() -> Vec<(&'static str, Builder, String)> {
            vec![$(one!($name, $method, sample!($kind $($choice)?))),*].into_iter().flatten().collect()
        }
    };
}

macro_rules! one {
    ($name:literal, _, $sample:expr) => {
        None
    };
    ($name:literal, $method:ident, $sample:expr) => {{
        let (value, written) = $sample;
        Some(($name, Config::builder().$method(value), written.to_owned()))
    }};
}

macro_rules! sample {
    (switch) => {
        (false, "false")
    };
    (time) => {
        (Duration::from_millis(1_500), "\"1500ms\"")
    };
    (positive_time) => {
        (Duration::from_secs(90), "\"90s\"")
    };
    (word $choice:ty) => {
        last::<$choice>()
    };
    (money) => {
        (0.75, "0.75")
    };
    (temperature) => {
        (0.75, "0.75")
    };
    (temperature_or_default) => {
        (None, "\"default\"")
    };
    (statuses) => {
        (vec![418], "[418]")
    };
    (classes) => {
        (BTreeMap::from([("shop".to_owned(), Effect::Unsafe)]), "{ shop = \"unsafe\" }")
    };
    (text) => {
        ("there", "\"there\"")
    };
    ($count:ident) => {
        (7, "7")
    };
}

fn last<T: place::Words>() -> (T, String) {
    let (word, value) = T::WORDS.last().expect("there are words");
    (*value, format!("{word:?}"))
}

each_setting!(built);

#[test]
fn each_method_does_what_its_setting_does_in_a_file() {
    let built = built();
    let methods: Vec<&str> = built.iter().map(|(name, ..)| *name).collect();
    let without: Vec<&str> =
        SETTINGS.iter().map(|setting| setting.name).filter(|name| !methods.contains(name)).collect();
    assert_eq!(without, ["find-model"], "a program names its models");
    for (name, builder, written) in built {
        let config = builder.build().unwrap_or_else(|error| panic!("{name}: {error}"));
        let file = read(&format!("{name} = {written}"));
        let shown = |config: &Config| config.effective().iter().map(|one| one.value.clone()).collect::<Vec<_>>();
        assert_eq!(shown(&config), shown(&file), "{name}");
        // The sample of a switch is off, which this one is anyway.
        if name != "llm-debug.enabled" {
            assert_ne!(shown(&config), shown(&read("")), "{name}");
        }
        assert_eq!((config.policy, config.session), (file.policy, file.session), "{name}");
    }
}

#[test]
fn the_first_thing_that_is_wrong_is_told_at_the_end() {
    let wrong = Config::builder().breaker_percent(101).plan_temperature(f64::NAN).tool("a", "nowhere");
    insta::assert_snapshot!(wrong.build().expect_err("it is wrong"), @"the program: `breaker.percent` is 101; write a whole number from 1 to 100");
    let wrong = Config::builder().tool("a", "nowhere");
    insta::assert_snapshot!(wrong.build().expect_err("it is wrong"), @r#"the program: `tools.url` is "nowhere"; write an http or https address"#);
}

#[test]
fn tools_and_models_are_added_one_by_one_and_what_was_read_is_kept() {
    let config = Builder::from(read("[plan]\nretries = 5\n"))
        .tool("a", "http://127.0.0.1:1")
        .tool("b", "http://127.0.0.1:2")
        .model(Target { max_context: Some(9), ..Target::new("m", "http://x/v1", "m") })
        .model(Target::new("n", "http://x/v1", "n"))
        .reasoning(Some(Effort::Low))
        .build()
        .expect("it is whole");
    assert_eq!((config.tools.len(), config.models.len(), config.policy.planning.retries), (2, 2, 5));
    assert_eq!(config.policy.rotation.windows, [("m".into(), 9)].into());
}

#[test]
fn a_model_beside_those_that_were_read_changes_nothing_about_them() {
    let text =
        |name: &str| format!("[[models]]\nname = \"{name}\"\nurl = \"http://x/v1\"\nmodel = \"m\"\nkey-env = \"K\"\n");
    let read = read(&(text("a") + &text("b")));
    let mut config = Builder::from(read.clone()).model(Target::new("c", "http://x/v1", "m")).build().unwrap();
    assert_eq!(config.keys, read.keys);
    assert_eq!(config.check_keys().unwrap_err().to_string(), read.check_keys().unwrap_err().to_string());
    config.ask_last("a");
    assert_eq!(config.models[0].limits, config.models[1].limits, "nobody stands behind it there");
    let alone = config.with_models(vec![Target::new("a", "http://y/v1", "m")], &Origin::Program);
    assert!(alone.keys.is_empty() && alone.check_keys().is_ok(), "it is another one, of the same name");
}

#[test]
fn words_from_code_count_before_those_in_a_folder_whoever_is_named_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    for name in ["choice", "answer"] {
        let ours = match name {
            "choice" => Templates::default().choice,
            _ => Templates::default().answer,
        };
        std::fs::write(folder.path().join(format!("{name}.txt")), format!("Folder. {ours}")).unwrap();
    }
    let code = |name: &str, ours: &str| (name == "answer").then(|| format!("Code. {ours}"));
    for (case, builder) in [
        ("code first", Config::builder().prompts(code).prompts_folder(&path)),
        ("folder first", Config::builder().prompts_folder(&path).prompts(code)),
    ] {
        let templates = builder.build().unwrap().templates().unwrap();
        assert!(templates.choice.starts_with("Folder. "), "{case}: {}", templates.choice);
        assert!(templates.answer.starts_with("Code. Folder. "), "{case}: {}", templates.answer);
    }
}
