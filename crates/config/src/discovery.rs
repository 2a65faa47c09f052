//! `[discovery]`: the registry in which services register themselves.

use std::sync::Arc;

#[cfg(feature = "registry")]
use reknit_registry::Registry;
use reknit_registry::{Namespace, RedisUrl};
use reknit_tools::SourceProvider;

use super::error::ConfigError;
use super::origin::ConfiguredValues;
use super::{Config, EnvironmentLookup, Setting, SettingOrigin, SourceOpener};
#[cfg(feature = "registry")]
use crate::registry_services::RegistryServices;

/// The variable that names a Redis server by custom. Other programs use it too, so it counts only if another
/// variable turns discovery on.
const USUAL_VARIABLE: &str = "REDIS_URL";

/// Where services register themselves, and which of them are used.
#[derive(Debug, Clone)]
pub struct DiscoverySettings {
    pub enabled: bool,
    /// The Redis server, if one is named.
    pub redis: Option<RedisUrl>,
    /// The first part of the keys.
    pub namespace: Namespace,
    /// The names of the services to use; all if it is empty.
    pub include: Vec<String>,
    /// The names of services that are not used.
    pub exclude: Vec<String>,
}

impl Default for DiscoverySettings {
    fn default() -> Self {
        let (include, exclude) = (Vec::new(), Vec::new());
        Self { enabled: true, redis: None, namespace: Namespace::default(), include, exclude }
    }
}

impl DiscoverySettings {
    pub fn uses_registry(&self) -> bool {
        self.enabled && self.redis.is_some()
    }

    #[cfg(feature = "registry")]
    pub fn registry(&self) -> Option<Registry> {
        let redis = self.redis.clone().filter(|_| self.enabled)?;
        Some(Registry::new(redis, self.namespace.clone()))
    }
}

impl Config {
    /// What finds tools that are not configured one by one. Fails if a registry is configured and this build has none.
    #[cfg(not(feature = "registry"))]
    pub(crate) fn source_providers(&self, _opener: &SourceOpener) -> Result<Vec<Arc<dyn SourceProvider>>, ConfigError> {
        if self.discovery.uses_registry() {
            let problem =
                "`discovery.redis` is set, but this program was built without the feature `registry`".to_owned();
            return Err(ConfigError::Invalid { origin: SettingOrigin::Program, problem });
        }
        Ok(Vec::new())
    }

    /// What finds tools that are not configured one by one.
    #[cfg(feature = "registry")]
    #[expect(clippy::unnecessary_wraps, reason = "it fails in a build without a registry")]
    pub(crate) fn source_providers(&self, opener: &SourceOpener) -> Result<Vec<Arc<dyn SourceProvider>>, ConfigError> {
        let services = |registry| {
            let DiscoverySettings { include, exclude, .. } = self.discovery.clone();
            Arc::new(RegistryServices { registry, client: opener.client.clone(), include, exclude })
                as Arc<dyn SourceProvider>
        };
        Ok(self.discovery.registry().map(services).into_iter().collect())
    }
}

/// Reads `REDIS_URL` if a variable turns discovery on and no other address is set. Fails if there is none at all.
pub(super) fn add_usual_variable(
    values: &mut ConfiguredValues,
    environment: EnvironmentLookup<'_>,
) -> Result<(), ConfigError> {
    let (Some(enabled), Some(redis)) = (Setting::find("discovery.enabled"), Setting::find("discovery.redis")) else {
        return Ok(());
    };
    let Some((value, origin @ SettingOrigin::Variable { .. })) = values.get(enabled) else { return Ok(()) };
    if value.as_bool() != Some(true) || values.get(redis).is_some() {
        return Ok(());
    }
    let Some(url) = environment(USUAL_VARIABLE).filter(|url| !url.is_empty()) else {
        let (enabled, redis) = (enabled.name, redis.name);
        let problem = format!("`{enabled}` is true, but no registry is named; write its address into `{redis}`");
        return Err(ConfigError::Invalid { origin: origin.clone(), problem });
    };
    let origin = SettingOrigin::Variable { name: USUAL_VARIABLE.to_owned(), overridden: None };
    let Some(value) = redis.kind.parse(&url) else {
        let written = redis.kind.shown(url);
        return Err(ConfigError::invalid_value(origin, redis.name, &written, &redis.kind.expected()));
    };
    values.insert(redis, value, origin);
    Ok(())
}
