//! Whether `effects.classes` and the lists `[[checks]]`, `[[keys]]`, `[[confirm]]`, `[[approve]]`, `[[roles]]` and `[[trust]]` name
//! tools, capabilities and parameters that exist.

use reknit_plan::Catalogue;
use reknit_protocol::spelling::nearest;
use reknit_protocol::{Object, SideEffect, Value};

use super::capability_rules::{problem_of_key, problem_of_role};
use super::{Config, ConfigError, ConfiguredTool, SettingOrigin};

/// The setting.
const CLASSES: &str = "effects.classes";

/// The list of business keys.
const KEYS: &str = "keys";

/// A name of a tool or capability in the configuration.
struct EffectName<'a> {
    key: &'static str,
    /// `tool/capability` or `tool`.
    name: String,
    origin: &'a SettingOrigin,
}

impl EffectName<'_> {
    fn tool(&self) -> &str {
        self.name.split_once('/').map_or(self.name.as_str(), |(tool, _)| tool)
    }

    fn unknown(&self, problem: &str, nearest: Option<&&str>, all: &[&str]) -> ConfigError {
        let hint = match (nearest, all) {
            (Some(nearest), _) => format!("did you mean `{nearest}`?"),
            (None, []) => "there is none".to_owned(),
            (None, all) => format!("there is: {}", all.join(", ")),
        };
        self.invalid(&format!("there is {problem}; {hint}"))
    }

    fn invalid(&self, problem: &str) -> ConfigError {
        let problem = format!("`{}` names `{}`, but {problem}", self.key, self.name);
        ConfigError::Invalid { origin: self.origin.clone(), problem }
    }
}

impl Config {
    /// Fails if `effects.classes` or an entry about capabilities names a tool that is not configured. With a registry, any
    /// tool may appear later.
    pub fn check_effect_tools(&self) -> Result<(), ConfigError> {
        if self.discovery.uses_registry() {
            return Ok(());
        }
        let mut tools: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        // Several entries may be the capabilities of one tool.
        tools.dedup();
        let is_unknown = |name: &EffectName<'_>| !name.tool().contains('*') && !tools.contains(&name.tool());
        match self.effect_names().into_iter().find(is_unknown) {
            Some(name) => {
                let tool = name.tool();
                Err(name.unknown(&format!("no tool `{tool}`"), nearest(tool, &tools), &tools))
            }
            None => Ok(()),
        }
    }

    /// Fails if `effects.classes` or an entry about capabilities names a tool that is not configured, or a capability that a
    /// tool of the catalogue does not have, if a check may change something, or if a key names a parameter that its capability does
    /// not have. Nothing is known about the capabilities of a tool that is not in
    /// the catalogue, such as one that is down.
    pub fn check_effect_names(&self, catalogue: &Catalogue) -> Result<(), ConfigError> {
        self.check_effect_tools()?;
        for name in self.effect_names() {
            let Some((tool, capability)) = name.name.split_once('/') else { continue };
            let Some(found) = catalogue.tool(tool).filter(|_| !capability.contains('*')) else { continue };
            let Some(entry) = found.entry(capability) else {
                let names: Vec<String> = found.capabilities.iter().map(|entry| found.key(entry)).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let problem = format!("no capability `{capability}` of tool `{tool}`");
                return Err(name.unknown(&problem, nearest(&name.name, &names), &names));
            };
            let class = self.policy.effects.class(tool, capability, entry.capability.effect);
            if matches!(name.key, "checks.call" | "confirm.verify") && class != SideEffect::Read {
                let problem = format!(
                    "its side effect class is `{}`; a check must read only: name another one, or declare it with \
                     `\"{}\" = \"read\"` in `[{CLASSES}]`",
                    class.as_str(),
                    name.name
                );
                return Err(name.invalid(&problem));
            }
            if name.key == "keys.capability"
                && let Some(rule) = self.policy.effects.key(tool, capability)
                && let Some(problem) = problem_of_key(rule, entry, class)
            {
                return Err(name.invalid(&problem));
            }
        }
        for (rule, origin) in &self.role_rules {
            if let Some(problem) = problem_of_role(rule, catalogue) {
                let name = EffectName { key: "roles.capability", name: rule.capability.clone(), origin };
                return Err(name.invalid(&problem));
            }
        }
        Ok(())
    }

    /// The configuration with other tools: what it says about the tools before is left out.
    pub fn with_other_tools(mut self, tools: Vec<ConfiguredTool>) -> Result<Self, ConfigError> {
        let is_kept = |name: &str| {
            let tool = name.split_once('/').map_or(name, |(tool, _)| tool);
            tool.contains('*') || tools.iter().any(|known| known.name.as_str() == tool)
        };
        let classes = self.policy.effects.classes.iter().filter(|(name, _)| is_kept(name));
        let classes: Object = classes.map(|(name, class)| (name.clone(), class.as_str().into())).collect();
        self.checks.retain(|name, _| is_kept(name));
        self.business_keys.retain(|name, _| is_kept(name));
        self.confirmations.retain(|name, _| is_kept(name));
        self.approval_rules.retain(|(rule, _)| rule.capability.as_deref().is_none_or(is_kept));
        self.role_rules.retain(|(rule, _)| is_kept(&rule.capability));
        self.trust_rules.retain(|(rule, _)| is_kept(&rule.capability));
        self.tools = tools;
        self.with(CLASSES, Value::Object(classes), SettingOrigin::Program)
    }

    fn effect_names(&self) -> Vec<EffectName<'_>> {
        let origin = self.effective().iter().find(|one| one.setting.name == CLASSES).map(|one| &one.origin);
        let origin = origin.unwrap_or(&SettingOrigin::Program);
        let classes = self.policy.effects.classes.keys();
        let classes = classes.map(|name| EffectName { key: CLASSES, name: name.clone(), origin });
        let checks = self.policy.effects.checks.iter().flat_map(|(of, check)| {
            let origin = self.entry_origins.get(&("checks", of.clone())).unwrap_or(&SettingOrigin::Program);
            let call = format!("{}/{}", check.tool, check.capability);
            [
                EffectName { key: "checks.of", name: of.clone(), origin },
                EffectName { key: "checks.call", name: call, origin },
            ]
        });
        let keys = self.policy.effects.keys.keys().map(|capability| {
            let origin = self.entry_origins.get(&(KEYS, capability.clone())).unwrap_or(&SettingOrigin::Program);
            EffectName { key: "keys.capability", name: capability.clone(), origin }
        });
        let rules = self.approval_rules.iter().filter_map(|(rule, origin)| {
            Some(EffectName { key: "approve.capability", name: rule.capability.clone()?, origin })
        });
        let declared_roles =
            self.role_rules.iter().map(|(rule, origin)| ("roles.capability", &rule.capability, origin));
        let trust = self.trust_rules.iter().map(|(rule, origin)| ("trust.capability", &rule.capability, origin));
        let declared =
            declared_roles.chain(trust).map(|(key, name, origin)| EffectName { key, name: name.clone(), origin });
        let confirmations = self.policy.effects.confirmations.iter().flat_map(|(capability, confirmation)| {
            let origin = self.entry_origins.get(&("confirm", capability.clone())).unwrap_or(&SettingOrigin::Program);
            let call = confirmation.verify.as_ref().map(|call| format!("{}/{}", call.tool, call.capability));
            let of = EffectName { key: "confirm.capability", name: capability.clone(), origin };
            [of].into_iter().chain(call.map(|name| EffectName { key: "confirm.verify", name, origin }))
        });
        classes.chain(checks).chain(keys).chain(confirmations).chain(rules).chain(declared).collect()
    }
}
