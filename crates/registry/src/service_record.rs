//! The record of a service: who it is, where it is and what it can do.

use std::fmt;
use std::net::Ipv6Addr;

use reknit_protocol::{Object, Value};

reknit_protocol::word_enum! {
    /// What a service is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ServiceType {
        /// A tool.
        #[default]
        Tool = "tool",
        /// An agent.
        Agent = "agent",
    }
}

reknit_protocol::word_enum! {
    /// What a service says about itself.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Health {
        /// It can be called.
        Healthy = "healthy",
        /// It cannot be called.
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
    /// What it is.
    pub service_type: ServiceType,
    /// What it is for; empty if it does not say.
    pub description: String,
    /// Its host.
    pub address: String,
    /// Its port.
    pub port: u16,
    /// Its capabilities, as it announces them.
    pub capabilities: Vec<Value>,
    /// Further information.
    pub metadata: Object,
    /// What it says about itself.
    pub health: Health,
    /// When it renewed the record last, as RFC 3339.
    pub last_seen: String,
    /// Fields that the layout does not define.
    pub extra: Object,
}

/// Why a record cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It is not a JSON object.
    #[error("it is not a JSON object: {0}")]
    NotJson(String),
    /// A field is missing, or has a value that cannot be used.
    #[error("its field `{field}` must be {expected}")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// It is larger than a record may be.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The largest size.
        limit: usize,
    },
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

    /// Reads the JSON of a record.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        match Value::parse(text) {
            Ok(Value::Object(fields)) => Self::from_object(fields),
            Ok(_) => Err(RecordError::NotJson("it is another value".to_owned())),
            Err(error) => Err(RecordError::NotJson(error.to_string())),
        }
    }

    /// Reads the fields of a record.
    pub fn from_object(mut fields: Object) -> Result<Self, RecordError> {
        let record = Self {
            id: take_name(&mut fields, "id")?,
            name: take_name(&mut fields, "name")?,
            service_type: take_word(&mut fields, "type", ServiceType::from_word, "`tool` or `agent`")?,
            description: take_text(&mut fields, "description")?,
            address: take_text(&mut fields, "address")?,
            port: take_port(&mut fields)?,
            capabilities: take_list(&mut fields, "capabilities")?,
            metadata: take_object(&mut fields, "metadata")?,
            health: take_word(&mut fields, "health", Health::from_word, "`healthy`, `unhealthy` or `unknown`")?,
            last_seen: take_text(&mut fields, "last_seen")?,
            extra: fields,
        };
        record.base_url()?;
        Ok(record)
    }

    /// The record as JSON.
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
        let invalid = || field("address", "a host name or an IP address, without a path");
        let (scheme, rest) = self.address.split_once("://").unwrap_or(("http", &self.address));
        let host = rest.strip_suffix('/').filter(|_| self.address.contains("://")).unwrap_or(rest);
        // Some services write the port twice.
        let host = host.strip_suffix(&format!(":{}", self.port)).filter(|host| is_host(host)).unwrap_or(host);
        if !matches!(scheme, "http" | "https") || !is_host(host) {
            return Err(invalid());
        }
        match host.parse::<Ipv6Addr>() {
            Ok(address) => Ok(format!("{scheme}://[{address}]:{}", self.port)),
            Err(_) => Ok(format!("{scheme}://{host}:{}", self.port)),
        }
    }

    /// The names of the capabilities.
    pub(crate) fn capability_names(&self) -> impl Iterator<Item = &str> {
        self.capabilities.iter().filter_map(|capability| capability.get("name")?.as_str())
    }
}

impl fmt::Display for ServiceRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.to_object())
    }
}

/// Whether a text is a host name or an IP address.
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
    let expected = "a text of at most 200 characters";
    let name = take_text(fields, key)?;
    let is_usable = !name.trim().is_empty() && name.chars().count() <= 200 && !name.chars().any(char::is_control);
    if is_usable { Ok(name) } else { Err(field(key, expected)) }
}

fn take_text(fields: &mut Object, key: &'static str) -> Result<String, RecordError> {
    match fields.remove(key) {
        Some(Value::String(text)) => Ok(text),
        None | Some(Value::Null) => Ok(String::new()),
        Some(_) => Err(field(key, "a text")),
    }
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

fn take_port(fields: &mut Object) -> Result<u16, RecordError> {
    let port = match fields.remove("port") {
        Some(Value::Number(number)) => number.as_u64().and_then(|port| u16::try_from(port).ok()),
        _ => None,
    };
    port.filter(|port| *port > 0).ok_or_else(|| field("port", "a number from 1 to 65535"))
}

/// Go writes an empty list as null.
fn take_list(fields: &mut Object, key: &'static str) -> Result<Vec<Value>, RecordError> {
    match fields.remove(key) {
        Some(Value::Array(list)) => Ok(list),
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(_) => Err(field(key, "a list")),
    }
}

fn take_object(fields: &mut Object, key: &'static str) -> Result<Object, RecordError> {
    match fields.remove(key) {
        Some(Value::Object(object)) => Ok(object),
        None | Some(Value::Null) => Ok(Object::new()),
        Some(_) => Err(field(key, "an object")),
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
