//! Lists the services of a registry.

use std::collections::BTreeSet;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, RedisResult};

use crate::location::{Namespace, RedisUrl};
use crate::service_record::{Health, RecordError, ServiceRecord};

const MAX_SERVICES: usize = 10_000;

const MAX_RECORD_BYTES: usize = 256 * 1024;

/// The most that all records together may have.
const MAX_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// How many keys are looked at, and how many records are read, at a time.
const SCANNED_KEYS: usize = 1_000;
const READ_RECORDS: usize = 100;

const CONNECT_TIME: Duration = Duration::from_secs(3);
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// A registry of services in Redis. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Registry {
    url: RedisUrl,
    namespace: Namespace,
}

#[derive(Debug, Default)]
pub struct RegisteredServices {
    /// The services, by name and id.
    pub services: Vec<ServiceRecord>,
    /// The services that say that they cannot be called.
    pub unhealthy: Vec<ServiceRecord>,
    /// The records that cannot be used.
    pub problems: Vec<RecordProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct RecordProblem {
    /// The key or the pattern of the records.
    pub key: String,
    pub message: String,
}

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("cannot connect to Redis at {url}")]
    Connect {
        /// The address, redacted.
        url: String,
        source: RedisError,
    },
    #[error("Redis at {url} did not carry out a command")]
    Command {
        /// The address, redacted.
        url: String,
        source: RedisError,
    },
}

impl RegistryError {
    /// The error and its cause in one text.
    pub fn with_cause(&self) -> String {
        let (Self::Connect { source, .. } | Self::Command { source, .. }) = self;
        format!("{self}: {source}")
    }
}

impl Registry {
    /// The registry in a Redis server. No connection is made yet.
    pub fn new(url: RedisUrl, namespace: Namespace) -> Self {
        Self { url, namespace }
    }

    pub fn url(&self) -> &RedisUrl {
        &self.url
    }

    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    pub(crate) async fn connect(&self) -> Result<MultiplexedConnection, RegistryError> {
        let failed = |source| RegistryError::Connect { url: self.url.to_string(), source };
        // An error only says that another part of the process installed one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::open(self.url.expose()).map_err(failed)?;
        let times = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIME))
            .set_response_timeout(Some(ANSWER_TIME));
        client.get_multiplexed_async_connection_with_config(&times).await.map_err(failed)
    }

    pub(crate) fn command_error(&self, source: RedisError) -> RegistryError {
        RegistryError::Command { url: self.url.to_string(), source }
    }

    /// Lists all services. A record that cannot be used becomes a problem.
    pub async fn list(&self) -> Result<RegisteredServices, RegistryError> {
        let mut connection = self.connect().await?;
        let mut found = RegisteredServices::default();
        let keys = self.keys(&mut connection, &mut found).await.map_err(|error| self.command_error(error))?;
        let mut bytes = 0;
        for keys in keys.into_iter().collect::<Vec<_>>().chunks(READ_RECORDS) {
            let texts = read_texts(&mut connection, keys).await.map_err(|error| self.command_error(error))?;
            for (key, text) in keys.iter().zip(texts) {
                bytes += text.as_ref().map_or(0, Vec::len);
                self.add(key, text, &mut found);
            }
            if bytes > MAX_TOTAL_BYTES {
                let message = format!("its records have more than {MAX_TOTAL_BYTES} bytes; the others are not used");
                found.problems.push(RecordProblem { key: self.namespace.record_pattern(), message });
                break;
            }
        }
        found.services.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Ok(found)
    }

    /// The keys of all records. `SCAN`, for `KEYS` would block the server, and the index sets may contain services that have
    /// ended.
    async fn keys(
        &self,
        connection: &mut MultiplexedConnection,
        found: &mut RegisteredServices,
    ) -> RedisResult<BTreeSet<String>> {
        let pattern = self.namespace.record_pattern();
        let mut keys = BTreeSet::new();
        let mut cursor = 0_u64;
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCANNED_KEYS);
            let (next, page): (u64, Vec<Vec<u8>>) = scan.query_async(connection).await?;
            for key in page {
                match String::from_utf8(key) {
                    Ok(key) => _ = keys.insert(key),
                    Err(error) => found.problems.push(RecordProblem {
                        key: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                        message: "its key is not UTF-8".to_owned(),
                    }),
                }
            }
            if keys.len() > MAX_SERVICES {
                let message = format!("there are more than {MAX_SERVICES} services; the others are not used");
                found.problems.push(RecordProblem { key: pattern, message });
                return Ok(keys.into_iter().take(MAX_SERVICES).collect());
            }
            if next == 0 {
                return Ok(keys);
            }
            cursor = next;
        }
    }

    fn add(&self, key: &str, text: RedisResult<Vec<u8>>, found: &mut RegisteredServices) {
        let record = match text {
            // The record expired after its key was listed.
            Ok(text) if text.is_empty() => return,
            Ok(text) => self.read(key, text).map_err(|error| error.to_string()),
            Err(error) => Err(format!("it cannot be read: {error}")),
        };
        match record {
            Ok(record) if record.health == Health::Unhealthy => found.unhealthy.push(record),
            Ok(record) => found.services.push(record),
            Err(message) => found.problems.push(RecordProblem { key: key.to_owned(), message }),
        }
    }

    fn read(&self, key: &str, text: Vec<u8>) -> Result<ServiceRecord, RecordError> {
        if text.len() > MAX_RECORD_BYTES {
            return Err(RecordError::TooLarge { limit: MAX_RECORD_BYTES });
        }
        let text = String::from_utf8(text).map_err(|_| RecordError::NotJson("it is not UTF-8".to_owned()))?;
        let record = ServiceRecord::parse(&text)?;
        if self.namespace.id_in(key) != Some(record.id.as_str()) {
            return Err(RecordError::OtherId);
        }
        Ok(record)
    }
}

/// The first bytes of each record, so that a large one cannot fill the memory. In one round trip.
async fn read_texts(connection: &mut MultiplexedConnection, keys: &[String]) -> RedisResult<Vec<RedisResult<Vec<u8>>>> {
    let mut commands = redis::pipe();
    commands.ignore_errors();
    for key in keys {
        // The end is part of the range: one byte more than a record may have.
        commands.cmd("GETRANGE").arg(key).arg(0).arg(MAX_RECORD_BYTES);
    }
    commands.query_async(connection).await
}
