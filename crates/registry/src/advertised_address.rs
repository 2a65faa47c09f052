//! The address under which a service registers, in and outside of Kubernetes.

use reknit_protocol::Object;

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

/// Why the environment names no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdvertisedAddressError {
    /// A variable is missing.
    #[error("`GOMIND_K8S_SERVICE_NAME` is set, but `GOMIND_K8S_NAMESPACE` is not; both are part of the address")]
    NoNamespace,
    /// A variable is not a port.
    #[error("`GOMIND_K8S_SERVICE_PORT` is `{0}`; write a number from 1 to 65535")]
    InvalidPort(String),
}

/// The port of a Kubernetes service that names none.
const SERVICE_PORT: u16 = 80;

impl AdvertisedAddress {
    /// In a Kubernetes cluster, with `GOMIND_K8S_SERVICE_NAME`, the address is that of the Kubernetes service, not of the pod.
    /// Otherwise `GOMIND_ADDRESS` names the host, unless it is one to listen on all interfaces.
    pub fn from_environment(environment: &dyn Fn(&str) -> Option<String>) -> Result<Self, AdvertisedAddressError> {
        let read = |name: &str| environment(name).filter(|value| !value.is_empty());
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
        let mut metadata = Object::new();
        for (key, variable) in
            [("pod_name", "HOSTNAME"), ("pod_ip", "GOMIND_K8S_POD_IP"), ("node_name", "GOMIND_K8S_NODE_NAME")]
        {
            if let Some(value) = read(variable) {
                metadata.insert(key, value);
            }
        }
        metadata.insert("namespace", namespace.as_str());
        metadata.insert("service_name", service.as_str());
        Ok(Self { host: Some(format!("{service}.{namespace}.svc.cluster.local")), port: Some(port), metadata })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<AdvertisedAddress, AdvertisedAddressError> {
        AdvertisedAddress::from_environment(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
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
        let address = read(&IN_CLUSTER).unwrap();
        assert_eq!((address.host.as_deref(), address.port), (Some("shop.prod.svc.cluster.local"), Some(80)));
        let metadata = r#"{"pod_name":"shop-7d9f-x2x","pod_ip":"10.1.2.3","node_name":"node-4","namespace":"prod","service_name":"shop"}"#;
        assert_eq!(address.metadata.to_string(), metadata);
        let with_port = [&IN_CLUSTER[..], &[("GOMIND_K8S_SERVICE_PORT", "8085")]].concat();
        assert_eq!(read(&with_port).unwrap().port, Some(8085));
    }

    #[test]
    fn an_address_that_cannot_be_made_is_an_error() {
        assert_eq!(read(&IN_CLUSTER[..2]), Err(AdvertisedAddressError::NoNamespace));
        for port in ["0", "http", "65536"] {
            let variables = [&IN_CLUSTER[..], &[("GOMIND_K8S_SERVICE_PORT", port)]].concat();
            assert_eq!(read(&variables), Err(AdvertisedAddressError::InvalidPort(port.to_owned())));
        }
    }

    #[test]
    fn outside_of_a_cluster_the_service_name_has_no_effect() {
        assert_eq!(read(&IN_CLUSTER[1..]).unwrap().host, None);
        assert_eq!(read(&[("GOMIND_ADDRESS", "tools.example")]).unwrap().host.as_deref(), Some("tools.example"));
        assert_eq!(read(&[("GOMIND_ADDRESS", "0.0.0.0")]).unwrap().host, None);
    }
}
