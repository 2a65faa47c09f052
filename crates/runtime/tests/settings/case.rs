//! A setting, and the behaviour that it changes.

use std::path::Path;

use reknit_runtime::config::Config;

use crate::scene::{Observation, Scene};

/// A setting, and the behaviour that it changes.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The value as TOML; `FOLDER` is replaced by a folder with a prompt in it, `RULES` by a file with rules.
    pub(crate) value: &'static str,
    /// Other settings, without the setting and with it.
    pub(crate) also: &'static str,
    pub(crate) scene: fn() -> Scene,
    /// Describes the behaviour. It does not see the configuration, which would prove nothing.
    pub(crate) describe: fn(&Observation) -> String,
    /// The description without the setting.
    pub(crate) without: &'static str,
    /// The description with the setting.
    pub(crate) with: &'static str,
}

/// A rule for the call of `mending::allowed_values`, and one for another tool.
const RULES: &str = "
rules:
  - {state: accepted, capability: t/read, error: {code: X, message: \"there is no price *\"}, change: {to: upper(parameters.to)}}
  - {state: accepted, capability: other/read, error: {code: X, message: \"there is no price *\"}, remove: [to]}
";

pub(crate) fn case(
    name: &'static str,
    value: &'static str,
    scene: fn() -> Scene,
    describe: fn(&Observation) -> String,
    (without, with): (&'static str, &'static str),
) -> Case {
    Case { name, value, also: "", scene, describe, without, with }
}

impl Case {
    /// Adds other settings, both without the setting and with it.
    pub(crate) fn also_set(self, also: &'static str) -> Self {
        Self { also, ..self }
    }

    /// Plays the scene without the setting and with it, and describes both.
    pub(crate) async fn play(&self) -> (String, String) {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("choice.txt"), "MINE {{ tools }} {{ request }}").expect("a prompt");
        let rules = tempfile::tempdir().expect("a folder");
        let rules = rules.path().join("rules.yaml");
        let path = folder.path().display().to_string();
        let setting = format!("{} = {}\n", self.name, self.value);
        let mut descriptions = Vec::new();
        for text in [self.also.to_owned(), format!("{setting}{}", self.also)] {
            // A run may have changed them.
            std::fs::write(&rules, RULES).expect("rules");
            let text = text.replace("FOLDER", &path).replace("RULES", &rules.display().to_string());
            let config = Config::read(&text, self.name, &|_| None).expect("the configuration is valid");
            let observed = (self.scene)().play(config).await;
            let files = std::fs::read_dir(folder.path()).expect("the folder exists");
            let names = files.map(|file| file.expect("a file").file_name().display().to_string());
            let files = names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "db")).collect();
            descriptions.push((self.describe)(&Observation { files, ..observed }));
        }
        (descriptions.swap_remove(0), descriptions.swap_remove(0))
    }
}
