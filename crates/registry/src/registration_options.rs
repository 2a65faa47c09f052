//! Where and how a service registers itself, in and outside of Kubernetes.

use std::time::Duration;

use reknit_protocol::Object;

use crate::location::{Namespace, NamespaceError, RedisUrl, RedisUrlError};
use crate::registration::DEFAULT_TTL;

/// The variables that name the Redis server, by priority.
const REDIS_VARIABLES: [&str; 3] = ["REKNIT_REDIS_URL", "GOMIND_REDIS_URL", "REDIS_URL"];
const NAMESPACE_VARIABLES: [&str; 2] = ["REKNIT_DISCOVERY_NAMESPACE", "GOMIND_DISCOVERY_NAMESPACE"];
const SWITCH_VARIABLES: [&str; 2] = ["REKNIT_DISCOVERY_ENABLED", "GOMIND_DISCOVERY_ENABLED"];

/// Where and how a service registers itself.
#[derive(Debug, Clone)]
pub struct RegistrationOptions {
    pub redis: RedisUrl,
    pub namespace: Namespace,
    /// How long the record stays if the service ends without removing it.
    pub ttl: Duration,
    pub address: AdvertisedAddress,
}

/// Why the environment does not say where to register.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationOptionsError {
    #[error(transparent)]
    Redis(#[from] RedisUrlError),
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    #[error(transparent)]
    Address(#[from] AdvertisedAddressError),
    #[error("`{variable}` is `{value}`; write `true` or `false`")]
    Switch { variable: &'static str, value: String },
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
        let read = |names: &[&'static str]| names.iter().find_map(|name| Some((*name, variable(environment, name)?)));
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

/// The address under which others reach a service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdvertisedAddress {
    /// The host; if it is left out, the one on which the service listens.
    pub host: Option<String>,
    /// The port; if it is left out, the one on which the service listens.
    pub port: Option<u16>,
    /// Which pod it is.
    pub metadata: Object,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdvertisedAddressError {
    #[error("`GOMIND_K8S_SERVICE_NAME` is set, but `GOMIND_K8S_NAMESPACE` is not; both are part of the address")]
    NoNamespace,
    #[error("`GOMIND_K8S_SERVICE_PORT` is `{0}`; write a number from 1 to 65535")]
    InvalidPort(String),
}

/// The port of a Kubernetes service that names none.
const SERVICE_PORT: u16 = 80;

impl AdvertisedAddress {
    /// In a Kubernetes cluster, with `GOMIND_K8S_SERVICE_NAME`, the address is that of the Kubernetes service, not of the pod.
    /// Otherwise `GOMIND_ADDRESS` names the host, unless it is one to listen on all interfaces.
    pub fn from_environment(environment: &dyn Fn(&str) -> Option<String>) -> Result<Self, AdvertisedAddressError> {
        let read = |name| variable(environment, name);
        let service = read("KUBERNETES_SERVICE_HOST").and_then(|_| read("GOMIND_K8S_SERVICE_NAME"));
        let Some(service) = service else {
            let host = read("GOMIND_ADDRESS").filter(|host| !matches!(host.as_str(), "0.0.0.0" | "::" | "[::]"));
            return Ok(Self { host, port: None, metadata: Object::new() });
        };
        let namespace = read("GOMIND_K8S_NAMESPACE").ok_or(AdvertisedAddressError::NoNamespace)?;
        let port = match read("GOMIND_K8S_SERVICE_PORT") {
            None => SERVICE_PORT,
            Some(text) => match text.parse() {
                Ok(port @ 1..) => port,
                _ => return Err(AdvertisedAddressError::InvalidPort(text)),
            },
        };
        let pod = [("pod_name", "HOSTNAME"), ("pod_ip", "GOMIND_K8S_POD_IP"), ("node_name", "GOMIND_K8S_NODE_NAME")];
        let pod = pod.into_iter().filter_map(|(key, variable)| Some((key.to_owned(), read(variable)?.into())));
        let mut metadata: Object = pod.collect();
        metadata.insert("namespace", namespace.as_str());
        metadata.insert("service_name", service.as_str());
        Ok(Self { host: Some(format!("{service}.{namespace}.svc.cluster.local")), port: Some(port), metadata })
    }
}

/// The value of a variable that is set and not empty.
fn variable(environment: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    environment(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from<T>(variables: &[(&str, &str)], read: impl Fn(&dyn Fn(&str) -> Option<String>) -> T) -> T {
        read(&|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    fn read(variables: &[(&str, &str)]) -> Result<Option<RegistrationOptions>, RegistrationOptionsError> {
        from(variables, |environment| RegistrationOptions::from_environment(environment))
    }

    fn read_address(variables: &[(&str, &str)]) -> Result<AdvertisedAddress, AdvertisedAddressError> {
        from(variables, |environment| AdvertisedAddress::from_environment(environment))
    }

    const IN_CLUSTER: [(&str, &str); 6] = [
        ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
        ("GOMIND_K8S_SERVICE_NAME", "shop"),
        ("GOMIND_K8S_NAMESPACE", "prod"),
        ("HOSTNAME", "shop-7d9f-x2x"),
        ("GOMIND_K8S_POD_IP", "10.1.2.3"),
        ("GOMIND_K8S_NODE_NAME", "node-4"),
    ];

    #[test]
    fn in_a_cluster_the_address_is_that_of_the_kubernetes_service() {
        let address = read_address(&IN_CLUSTER).unwrap();
        assert_eq!((address.host.as_deref(), address.port), (Some("shop.prod.svc.cluster.local"), Some(80)));
        let metadata = r#"{"pod_name":"shop-7d9f-x2x","pod_ip":"10.1.2.3","node_name":"node-4","namespace":"prod","service_name":"shop"}"#;
        assert_eq!(address.metadata.to_string(), metadata);
        let with_port = [&IN_CLUSTER[..], &[("GOMIND_K8S_SERVICE_PORT", "8085")]].concat();
        assert_eq!(read_address(&with_port).unwrap().port, Some(8085));
    }

    #[test]
    fn an_address_that_cannot_be_made_is_an_error() {
        assert_eq!(read_address(&IN_CLUSTER[..2]), Err(AdvertisedAddressError::NoNamespace));
        for port in ["0", "http", "65536"] {
            let variables = [&IN_CLUSTER[..], &[("GOMIND_K8S_SERVICE_PORT", port)]].concat();
            assert_eq!(read_address(&variables), Err(AdvertisedAddressError::InvalidPort(port.to_owned())));
        }
    }

    #[test]
    fn outside_of_a_cluster_the_service_name_has_no_effect() {
        assert_eq!(read_address(&IN_CLUSTER[1..]).unwrap().host, None);
        assert_eq!(
            read_address(&[("GOMIND_ADDRESS", "tools.example")]).unwrap().host.as_deref(),
            Some("tools.example")
        );
        assert_eq!(read_address(&[("GOMIND_ADDRESS", "0.0.0.0")]).unwrap().host, None);
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
