//! The record of a service: who it is, where it is and what it can do.

use std::fmt;
use std::net::Ipv6Addr;

use reknit_protocol::{Object, Value};

reknit_protocol::word_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ServiceType {
        #[default]
        Tool = "tool",
        Agent = "agent",
    }
}

reknit_protocol::word_enum! {
    /// What a service says about itself.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Health {
        Healthy = "healthy",
        Unhealthy = "unhealthy",
        /// It does not say.
        #[default]
        Unknown = "unknown",
    }
}

/// The record of a service. Fields that the layout does not define are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceRecord {
    /// The id of this instance: `<name>-<8 hexadecimal digits>`.
    pub id: String,
    /// The name of the service, which all its instances share.
    pub name: String,
    pub service_type: ServiceType,
    /// What it is for; empty if it does not say.
    pub description: String,
    pub address: String,
    pub port: u16,
    /// Its capabilities, as it announces them.
    pub capabilities: Vec<Value>,
    pub metadata: Object,
    pub health: Health,
    /// When it renewed the record last, as RFC 3339.
    pub last_seen: String,
    /// Fields that the layout does not define.
    pub extra: Object,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    #[error("it is not a JSON object: {0}")]
    NotJson(String),
    #[error("its field `{field}` must be {expected}")]
    Field { field: &'static str, expected: &'static str },
    #[error("it is larger than {limit} bytes")]
    TooLarge { limit: usize },
    /// The record is under the key of another service.
    #[error("its `id` is not the one in its key")]
    OtherId,
}

fn field(field: &'static str, expected: &'static str) -> RecordError {
    RecordError::Field { field, expected }
}

impl ServiceRecord {
    /// A record of a new instance, with a random id.
    pub fn new(name: &str) -> Self {
        let [.., a, b, c, d] = *uuid::Uuid::now_v7().as_bytes();
        Self {
            id: format!("{name}-{:08x}", u32::from_be_bytes([a, b, c, d])),
            name: name.to_owned(),
            service_type: ServiceType::Tool,
            description: String::new(),
            address: String::new(),
            port: 0,
            capabilities: Vec::new(),
            metadata: Object::new(),
            health: Health::Healthy,
            last_seen: String::new(),
            extra: Object::new(),
        }
    }

    pub fn parse(text: &str) -> Result<Self, RecordError> {
        match Value::parse(text) {
            Ok(Value::Object(fields)) => Self::from_object(fields),
            Ok(_) => Err(RecordError::NotJson("it is another value".to_owned())),
            Err(error) => Err(RecordError::NotJson(error.to_string())),
        }
    }

    pub fn from_object(mut fields: Object) -> Result<Self, RecordError> {
        let port = |value: Value| u16::try_from(value.as_number()?.as_u64()?).ok().filter(|port| *port > 0);
        let record = Self {
            id: take_name(&mut fields, "id")?,
            name: take_name(&mut fields, "name")?,
            service_type: take_word(&mut fields, "type", ServiceType::from_word, "`tool` or `agent`")?,
            description: take_text(&mut fields, "description")?,
            address: take_text(&mut fields, "address")?,
            port: fields.remove("port").and_then(port).ok_or_else(|| field("port", "a number from 1 to 65535"))?,
            capabilities: take(&mut fields, "capabilities", |value| Some(value.as_array()?.to_vec()), "a list")?,
            metadata: take(&mut fields, "metadata", |value| value.as_object().cloned(), "an object")?,
            health: take_word(&mut fields, "health", Health::from_word, "`healthy`, `unhealthy` or `unknown`")?,
            last_seen: take_text(&mut fields, "last_seen")?,
            extra: fields,
        };
        record.base_url()?;
        Ok(record)
    }

    pub fn to_object(&self) -> Object {
        let mut fields = Object::from([
            ("id", self.id.as_str().into()),
            ("name", self.name.as_str().into()),
            ("type", self.service_type.as_str().into()),
            ("description", self.description.as_str().into()),
            ("address", self.address.as_str().into()),
            ("port", u32::from(self.port).into()),
            ("capabilities", Value::Array(self.capabilities.clone())),
            ("metadata", Value::Object(self.metadata.clone())),
            ("health", self.health.as_str().into()),
            ("last_seen", self.last_seen.as_str().into()),
        ]);
        fields.extend(self.extra.iter().map(|(key, value)| (key.to_owned(), value.clone())));
        fields
    }

    /// The base URL of the service. Its address is a host, or a host after `http://` or `https://`; nothing else may be in it,
    /// such as credentials or a path.
    pub fn base_url(&self) -> Result<String, RecordError> {
        let (scheme, rest) = self.address.split_once("://").unwrap_or(("http", &self.address));
        let host = rest.strip_suffix('/').filter(|_| self.address.contains("://")).unwrap_or(rest);
        // Some services write the port twice.
        let host = host.strip_suffix(&format!(":{}", self.port)).filter(|host| is_host(host)).unwrap_or(host);
        if !matches!(scheme, "http" | "https") || !is_host(host) {
            return Err(field("address", "a host name or an IP address, without a path"));
        }
        let host = host.parse::<Ipv6Addr>().map_or_else(|_| host.to_owned(), |address| format!("[{address}]"));
        Ok(format!("{scheme}://{host}:{}", self.port))
    }

    pub(crate) fn capability_names(&self) -> impl Iterator<Item = &str> {
        self.capabilities.iter().filter_map(|capability| capability.get("name")?.as_str())
    }
}

impl fmt::Display for ServiceRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.to_object())
    }
}

fn is_host(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if inner.unwrap_or(text).parse::<Ipv6Addr>().is_ok() {
        return true;
    }
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    !text.is_empty() && text.len() <= 253 && text.chars().all(is_allowed)
}

/// Takes a text that is not empty and can be part of a key and a message.
fn take_name(fields: &mut Object, key: &'static str) -> Result<String, RecordError> {
    let name = take_text(fields, key)?;
    let is_usable = !name.trim().is_empty() && name.chars().count() <= 200 && !name.chars().any(char::is_control);
    if is_usable { Ok(name) } else { Err(field(key, "a text of at most 200 characters")) }
}

/// Takes a field, which is empty if it is missing: Go writes an empty list as null.
fn take<T: Default>(
    fields: &mut Object,
    key: &'static str,
    read: impl Fn(Value) -> Option<T>,
    expected: &'static str,
) -> Result<T, RecordError> {
    match fields.remove(key) {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => read(value).ok_or_else(|| field(key, expected)),
    }
}

fn take_text(fields: &mut Object, key: &'static str) -> Result<String, RecordError> {
    take(fields, key, |value| value.as_str().map(str::to_owned), "a text")
}

fn take_word<T: Default>(
    fields: &mut Object,
    key: &'static str,
    read: fn(&str) -> Option<T>,
    expected: &'static str,
) -> Result<T, RecordError> {
    match take_text(fields, key)?.as_str() {
        "" => Ok(T::default()),
        word => read(word).ok_or_else(|| field(key, expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = concat!(
        r#"{"id":"shop-1a2b3c4d","name":"shop","type":"tool","description":"Sells","address":"shop.internal","port":8085,"#,
        r#""capabilities":[{"name":"price","description":"Its price"}],"metadata":{"version":"1"},"health":"healthy","#,
        r#""last_seen":"2024-05-01T10:00:00.123456789+02:00","region":"eu"}"#
    );

    #[test]
    fn a_record_is_written_as_it_was_read_with_unknown_fields() {
        let record = ServiceRecord::parse(RECORD).unwrap();
        assert_eq!((record.service_type, record.health, record.port), (ServiceType::Tool, Health::Healthy, 8085));
        assert_eq!(record.to_string(), RECORD);
    }

    #[test]
    fn a_base_url_is_made_only_of_a_host_and_a_port() {
        let url = |address: &str| {
            let record = ServiceRecord { address: address.to_owned(), ..ServiceRecord::parse(RECORD).unwrap() };
            record.base_url().ok()
        };
        for (address, expected) in [
            ("localhost", "http://localhost:8085"),
            ("10.0.0.7", "http://10.0.0.7:8085"),
            ("shop.default.svc.cluster.local", "http://shop.default.svc.cluster.local:8085"),
            ("::1", "http://[::1]:8085"),
            ("[::1]", "http://[::1]:8085"),
            ("http://shop", "http://shop:8085"),
            ("https://shop:8085/", "https://shop:8085"),
            ("shop:8085", "http://shop:8085"),
        ] {
            assert_eq!(url(address).as_deref(), Some(expected), "{address}");
        }
        for address in
            ["", " ", "me:pw@shop", "shop/admin", "shop?x", "ftp://shop", "shop:1", "a b", "shop#", "http://", "ä"]
        {
            assert_eq!(url(address), None, "{address}");
        }
    }

    #[test]
    fn a_broken_record_is_refused_with_the_field() {
        for (text, expected) in [
            ("[]", "it is not a JSON object: it is another value"),
            (r#"{"name":"a","address":"h","port":1}"#, "its field `id` must be a text of at most 200 characters"),
            (r#"{"id":"a","name":5,"address":"h","port":1}"#, "its field `name` must be a text"),
            (r#"{"id":"a","name":"a","address":"h","port":0}"#, "its field `port` must be a number from 1 to 65535"),
            (r#"{"id":"a","name":"a","address":"h"}"#, "its field `port` must be a number from 1 to 65535"),
            (
                r#"{"id":"a","name":"a","type":"x","address":"h","port":1}"#,
                "its field `type` must be `tool` or `agent`",
            ),
            (
                r#"{"id":"a","name":"a","address":"h/../x","port":1}"#,
                "its field `address` must be a host name or an IP address, without a path",
            ),
        ] {
            assert_eq!(ServiceRecord::parse(text).unwrap_err().to_string(), expected);
        }
        assert!(ServiceRecord::parse("{\"id\"").unwrap_err().to_string().starts_with("it is not a JSON object: "));
    }

    #[test]
    fn two_instances_of_a_service_have_different_ids() {
        let (one, other) = (ServiceRecord::new("shop"), ServiceRecord::new("shop"));
        assert_ne!(one.id, other.id);
        assert!(one.id.strip_prefix("shop-").is_some_and(|digits| digits.len() == 8), "{}", one.id);
    }
}
