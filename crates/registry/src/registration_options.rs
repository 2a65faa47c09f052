//! Where and how a service registers itself.

use std::time::Duration;

use crate::advertised_address::{AdvertisedAddress, AdvertisedAddressError};
use crate::key_layout::{Namespace, NamespaceError};
use crate::redis_url::{RedisUrl, RedisUrlError};
use crate::registration::DEFAULT_TTL;

/// The variables that name the Redis server, by priority.
const REDIS_VARIABLES: [&str; 3] = ["REKNIT_REDIS_URL", "GOMIND_REDIS_URL", "REDIS_URL"];
const NAMESPACE_VARIABLES: [&str; 2] = ["REKNIT_DISCOVERY_NAMESPACE", "GOMIND_DISCOVERY_NAMESPACE"];
const SWITCH_VARIABLES: [&str; 2] = ["REKNIT_DISCOVERY_ENABLED", "GOMIND_DISCOVERY_ENABLED"];

/// Where and how a service registers itself.
#[derive(Debug, Clone)]
pub struct RegistrationOptions {
    /// The Redis server.
    pub redis: RedisUrl,
    /// The first part of the keys.
    pub namespace: Namespace,
    /// How long the record stays if the service ends without removing it.
    pub ttl: Duration,
    /// The address under which others reach the service.
    pub address: AdvertisedAddress,
}

/// Why the environment does not say where to register.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationOptionsError {
    /// The address of the Redis server is not one.
    #[error(transparent)]
    Redis(#[from] RedisUrlError),
    /// The namespace is not one.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The address of the service is not known.
    #[error(transparent)]
    Address(#[from] AdvertisedAddressError),
    /// A switch is neither on nor off.
    #[error("`{variable}` is `{value}`; write `true` or `false`")]
    Switch {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
}

impl RegistrationOptions {
    /// Registers in a Redis server, under the address on which the service listens.
    pub fn new(redis: RedisUrl) -> Self {
        Self { redis, namespace: Namespace::default(), ttl: DEFAULT_TTL, address: AdvertisedAddress::default() }
    }

    /// Reads `REKNIT_REDIS_URL`, `GOMIND_REDIS_URL` or `REDIS_URL`, and the address of the service; see
    /// [`AdvertisedAddress::from_environment`]. `None` if no Redis server is named, or if `REKNIT_DISCOVERY_ENABLED` or
    /// `GOMIND_DISCOVERY_ENABLED` is `false`.
    pub fn from_environment(
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, RegistrationOptionsError> {
        let read = |names: &[&'static str]| {
            names.iter().find_map(|name| Some((*name, environment(name).filter(|value| !value.is_empty())?)))
        };
        let is_enabled = match read(&SWITCH_VARIABLES) {
            None => true,
            Some((variable, value)) => match value.to_ascii_lowercase().parse() {
                Ok(is_enabled) => is_enabled,
                Err(_) => return Err(RegistrationOptionsError::Switch { variable, value }),
            },
        };
        let Some((_, redis)) = read(&REDIS_VARIABLES).filter(|_| is_enabled) else { return Ok(None) };
        let mut options = Self::new(RedisUrl::parse(&redis)?);
        if let Some((_, namespace)) = read(&NAMESPACE_VARIABLES) {
            options.namespace = Namespace::parse(&namespace)?;
        }
        options.address = AdvertisedAddress::from_environment(environment)?;
        Ok(Some(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<RegistrationOptions>, RegistrationOptionsError> {
        RegistrationOptions::from_environment(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_names_the_redis_server_by_priority() {
        assert!(read(&[]).unwrap().is_none());
        let all = [
            ("REDIS_URL", "redis://c"),
            ("GOMIND_REDIS_URL", "redis://b"),
            ("REKNIT_REDIS_URL", "redis://a"),
            ("GOMIND_DISCOVERY_NAMESPACE", "team"),
        ];
        for (number, expected) in [(1, "redis://c"), (2, "redis://b"), (3, "redis://a")] {
            assert_eq!(read(&all[..number]).unwrap().unwrap().redis.expose(), expected);
        }
        assert_eq!(read(&all).unwrap().unwrap().namespace.as_str(), "team");
    }

    #[test]
    fn a_switch_turns_the_registration_off() {
        let with = |value| read(&[("REDIS_URL", "redis://a"), ("GOMIND_DISCOVERY_ENABLED", value)]);
        assert!(with("false").unwrap().is_none());
        assert!(with("true").unwrap().is_some());
        let error = with("maybe").unwrap_err().to_string();
        assert_eq!(error, "`GOMIND_DISCOVERY_ENABLED` is `maybe`; write `true` or `false`");
    }

    #[test]
    fn a_value_that_cannot_be_used_is_an_error_without_its_password() {
        let error = read(&[("REDIS_URL", "http://me:hunter2@a")]).unwrap_err().to_string();
        assert!(error.contains("write it like `redis://") && !error.contains("hunter2"), "{error}");
        let in_cluster = [("KUBERNETES_SERVICE_HOST", "h"), ("GOMIND_K8S_SERVICE_NAME", "shop")];
        let variables = [&in_cluster[..], &[("REDIS_URL", "redis://a")]].concat();
        assert!(matches!(read(&variables), Err(RegistrationOptionsError::Address(_))));
    }
}
