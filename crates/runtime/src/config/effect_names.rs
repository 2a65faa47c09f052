//! Whether `effects.classes` names tools and capabilities that exist.

use reknit_plan::Catalogue;
use reknit_protocol::spelling::nearest;

use super::{Config, ConfigError, SettingOrigin};

/// The setting.
const NAME: &str = "effects.classes";

impl Config {
    /// Fails if `effects.classes` names a tool that is not configured.
    pub fn check_effect_tools(&self) -> Result<(), ConfigError> {
        let tools: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        let unknown = self.policy.effects.classes.keys().find(|name| !tools.contains(&tool_of(name)));
        match unknown {
            Some(name) => {
                let tool = tool_of(name);
                Err(self.unknown_effect_name(name, &format!("no tool `{tool}`"), nearest(tool, &tools), &tools))
            }
            None => Ok(()),
        }
    }

    /// Fails if `effects.classes` names a tool that is not configured, or a capability that a tool of the catalogue does not
    /// have. Nothing is known about the capabilities of a tool that is not in the catalogue, such as one that is down.
    pub fn check_effect_names(&self, catalogue: &Catalogue) -> Result<(), ConfigError> {
        self.check_effect_tools()?;
        for name in self.policy.effects.classes.keys() {
            let Some((tool, capability)) = name.split_once('/') else { continue };
            let Some(found) = catalogue.tool(tool).filter(|tool| tool.entry(capability).is_none()) else { continue };
            let names: Vec<String> = found.capabilities.iter().map(|entry| found.key(entry)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let problem = format!("no capability `{capability}` of tool `{tool}`");
            return Err(self.unknown_effect_name(name, &problem, nearest(name, &names), &names));
        }
        Ok(())
    }

    fn unknown_effect_name(&self, name: &str, problem: &str, nearest: Option<&&str>, all: &[&str]) -> ConfigError {
        let origin = self.effective().iter().find(|one| one.setting.name == NAME).map(|one| one.origin.clone());
        let hint = match (nearest, all) {
            (Some(nearest), _) => format!("did you mean `{nearest}`?"),
            (None, []) => "there is none".to_owned(),
            (None, all) => format!("there is: {}", all.join(", ")),
        };
        let problem = format!("`{NAME}` names `{name}`, but there is {problem}; {hint}");
        ConfigError::Invalid { origin: origin.unwrap_or(SettingOrigin::Program), problem }
    }
}

/// The tool of `tool/capability` or `tool`.
fn tool_of(name: &str) -> &str {
    name.split_once('/').map_or(name, |(tool, _)| tool)
}
