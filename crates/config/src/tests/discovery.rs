//! Which registry is used.

use super::*;

fn with_variables(text: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::read(text, "reknit.toml", &|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

fn registry(text: &str, variables: &[(&str, &str)]) -> Option<String> {
    let config = with_variables(text, variables).expect("the configuration is valid");
    config.discovery.registry().map(|registry| registry.url().expose().to_owned())
}

#[test]
fn the_usual_variable_counts_only_if_another_variable_turns_discovery_on() {
    let usual = ("REDIS_URL", "redis://usual");
    let enabled = ("GOMIND_DISCOVERY_ENABLED", "true");
    assert_eq!(registry("", &[usual]), None, "other programs use it too");
    assert_eq!(registry("discovery.enabled = true", &[usual]), None);
    assert_eq!(registry("", &[usual, enabled]).as_deref(), Some("redis://usual"));
    assert_eq!(registry("", &[usual, enabled, ("GOMIND_REDIS_URL", "redis://own")]).as_deref(), Some("redis://own"));
    assert_eq!(registry("", &[("GOMIND_REDIS_URL", "redis://own")]).as_deref(), Some("redis://own"));
    assert_eq!(registry("discovery.redis = \"redis://file\"", &[usual]).as_deref(), Some("redis://file"));
    let off = ("GOMIND_DISCOVERY_ENABLED", "false");
    assert_eq!(registry("discovery.redis = \"redis://file\"", &[usual, off]), None);
    assert_eq!(
        with_variables("", &[enabled]).expect_err("there is no address").to_string(),
        "GOMIND_DISCOVERY_ENABLED: `discovery.enabled` is true, but no registry is named; write its address into \
         `discovery.redis`"
    );
}

#[test]
fn the_password_of_a_registry_is_never_shown() {
    let config = read("discovery.redis = \"redis://me:hunter2@host:6379/1\"\n");
    let shown = config.to_toml(ShowSettings::Changed);
    assert!(shown.contains("redis = \"redis://[redacted]@host:6379/1\""), "{shown}");
    let shown = format!("{shown} {} {config:?}", config.to_value(ShowSettings::All));
    assert!(!shown.contains("hunter2"), "{shown}");
    for wrong in ["http://me:hunter2@host", "me:hunter2@host", "redis://me:hunter2@host/x"] {
        let errors = [
            error(&format!("discovery.redis = \"{wrong}\"\n")),
            with_variables("", &[("REKNIT_REDIS_URL", wrong)]).expect_err("it is wrong").to_string(),
            with_variables("", &[("REKNIT_DISCOVERY_ENABLED", "true"), ("REDIS_URL", wrong)])
                .expect_err("it is wrong")
                .to_string(),
            Config::default().with("discovery.redis", wrong, SettingOrigin::Program).expect_err("wrong").to_string(),
        ];
        for error in errors {
            assert!(error.contains("write the address of a Redis server") && !error.contains("hunter2"), "{error}");
        }
    }
}

#[test]
fn with_a_registry_a_class_may_name_a_tool_that_is_not_configured() {
    let classes = "[effects.classes]\n\"shop/buy\" = \"unsafe\"\n";
    assert!(read(classes).check_effect_tools().is_err());
    assert!(read(&format!("discovery.redis = \"redis://host\"\n{classes}")).check_effect_tools().is_ok());
}
