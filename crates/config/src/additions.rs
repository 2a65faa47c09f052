//! What a program adds to a configuration: models, tools, and rules about calls.

use std::collections::BTreeMap;

use reknit_engine::{ApprovalRule, Confirmation, OutcomeCheck, RoleRule, TrustRule};
use reknit_models::Target;
use reknit_protocol::KeyRule;

use super::entry::entry_name;
use super::{Config, ConfigError, ConfiguredTool, SettingOrigin};

impl Config {
    #[must_use]
    pub fn with_models(self, models: Vec<Target>, origin: &SettingOrigin) -> Self {
        let mut none = Self { models: Vec::new(), keys: BTreeMap::new(), last_limits: BTreeMap::new(), ..self };
        none.copy_model_data();
        models.into_iter().fold(none, |config, target| config.with_model(target, origin))
    }

    /// Adds a model behind all others. `target` contains its API key, if it has one.
    #[must_use]
    pub fn with_model(mut self, target: Target, origin: &SettingOrigin) -> Self {
        self.entry_origins.insert(("models", target.name.to_string()), origin.clone());
        self.models.push(target);
        self.copy_model_data();
        self
    }

    /// Copies the context windows and prices of the models to the policy.
    pub(super) fn copy_model_data(&mut self) {
        let windows = self.models.iter().filter_map(|target| Some((target.name.clone(), target.max_context?)));
        self.policy.rotation.context_windows = windows.collect();
        let prices = self.models.iter().filter_map(|target| Some((target.name.clone(), target.prices?)));
        self.policy.prices = prices.collect();
    }

    /// Gives a model the longer time limits of one that no other model follows. An agent may list it last, whatever its
    /// place in the file is.
    pub fn use_limits_of_last_model(&mut self, name: &str) {
        for target in self.models.iter_mut().filter(|target| target.name.as_str() == name) {
            target.timeouts = self.last_limits.get(&target.name).copied().unwrap_or(target.timeouts);
        }
    }

    /// Adds a tool, or replaces the one with its name. A tool that is one capability replaces only that one.
    #[must_use]
    pub fn with_tool(mut self, tool: ConfiguredTool, origin: SettingOrigin) -> Self {
        self.entry_origins.insert((tool.list, entry_name(&tool.shown)), origin);
        let at = self.tools.iter().position(|known| tool.replaces(known));
        self.tools.retain(|known| !tool.replaces(known));
        self.tools.insert(at.unwrap_or(self.tools.len()).min(self.tools.len()), tool);
        self
    }

    /// Adds a check of the calls of a capability, or replaces it. Fails if a template or an expression cannot be read.
    pub fn with_check(mut self, of: &str, check: OutcomeCheck) -> Result<Self, ConfigError> {
        check.validate().map_err(|(field, problem)| ConfigError::Invalid {
            origin: SettingOrigin::Program,
            problem: format!("`checks.{field}` of `{of}`: {problem}"),
        })?;
        self.checks.insert(of.to_owned(), check);
        Ok(self.apply_values())
    }

    /// Sets what is expected of the results of a capability (`tool/capability`). Fails if an expression or a template is not valid.
    pub fn with_confirmation(mut self, capability: &str, confirmation: Confirmation) -> Result<Self, ConfigError> {
        confirmation.validate().map_err(|(field, problem)| ConfigError::Invalid {
            origin: SettingOrigin::Program,
            problem: format!("`confirm.{field}` of `{capability}`: {problem}"),
        })?;
        self.confirmations.insert(capability.to_owned(), confirmation);
        Ok(self.apply_values())
    }

    /// Sets which parameters of a capability (`tool/capability`) identify a deed. Fails if there is none.
    pub fn with_business_key(mut self, capability: &str, rule: KeyRule) -> Result<Self, ConfigError> {
        if rule.fields.is_empty() {
            let problem =
                format!("`keys.fields` of `{capability}` is empty; name the parameters that identify the deed");
            return Err(ConfigError::Invalid { origin: SettingOrigin::Program, problem });
        }
        self.business_keys.insert(capability.to_owned(), rule);
        Ok(self.apply_values())
    }

    /// Adds a rule about which calls a person approves before they are sent. Fails if it is empty or its expression cannot be
    /// read.
    pub fn with_approval_rule(mut self, rule: ApprovalRule) -> Result<Self, ConfigError> {
        let origin = SettingOrigin::Program;
        rule.validate().map_err(|(field, problem)| ConfigError::Invalid {
            origin: origin.clone(),
            problem: format!("`approve.{field}`: {problem}"),
        })?;
        self.approval_rules.push((rule, origin));
        Ok(self.apply_values())
    }

    /// Adds the role of a parameter. The first one that matches counts.
    #[must_use]
    pub fn with_role(mut self, rule: RoleRule) -> Self {
        self.role_rules.push((rule, SettingOrigin::Program));
        self.apply_values()
    }

    /// Adds results that you vouch for.
    #[must_use]
    pub fn with_trust(mut self, rule: TrustRule) -> Self {
        self.trust_rules.push((rule, SettingOrigin::Program));
        self.apply_values()
    }
}
