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
        $method:ident($kind:ident $(<$choice:ty>)?) $name:literal $(= $variable:literal)? $(| $alias:literal)*
            => $($place:ident).+ $(, $($other:ident).+)*;
    )*) => {
        fn built() -> Vec<(&'static str, Builder, String)> {
            vec![$({
                let (value, written) = sample!($kind $($choice)?);
                ($name, Config::builder().$method(value), written.to_owned())
            }),*]
        }
    };
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
    assert_eq!(built.len(), SETTINGS.len());
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
