//! Keeps a service registered.

use std::time::Duration;

use jiff::Timestamp;
use redis::aio::MultiplexedConnection;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::registry::{Registry, RegistryError};
use crate::service_record::ServiceRecord;

/// How long a record stays in the registry if it is not renewed.
pub const DEFAULT_TTL: Duration = Duration::from_secs(30);

/// The wait before the second attempt to reach Redis; it doubles with every attempt.
const FIRST_WAIT: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistrationStatus {
    /// The first attempt is under way.
    Starting,
    Registered,
    /// It could not be registered, or its record could not be renewed; it is tried again.
    Failing(String),
}

/// Keeps a service registered: renews its record before it expires, and writes it again if Redis lost it. Dropping this leaves
/// the record to expire.
#[derive(Debug)]
pub struct Registration {
    stop: CancellationToken,
    task: AbortOnDropHandle<Result<(), RegistryError>>,
    status: watch::Receiver<RegistrationStatus>,
}

impl Registration {
    /// Registers a service, and tries for ever. Must be called within a tokio runtime.
    pub fn start(registry: Registry, record: ServiceRecord, ttl: Duration) -> Self {
        let (sender, status) = watch::channel(RegistrationStatus::Starting);
        let stop = CancellationToken::new();
        let heart = Heartbeat { registry, record, ttl, connection: None };
        let task = AbortOnDropHandle::new(tokio::spawn(heart.run(sender, stop.clone())));
        Self { stop, task, status }
    }

    /// Whether the service is registered, now and later.
    pub fn status(&self) -> watch::Receiver<RegistrationStatus> {
        self.status.clone()
    }

    /// Removes the record, so that no one calls the service any more. Fails if Redis cannot be reached; the record then expires.
    pub async fn remove(self) -> Result<(), RegistryError> {
        self.stop.cancel();
        // The task does not panic, and nobody aborts it but a drop.
        self.task.await.unwrap_or(Ok(()))
    }
}

struct Heartbeat {
    registry: Registry,
    record: ServiceRecord,
    ttl: Duration,
    connection: Option<MultiplexedConnection>,
}

impl Heartbeat {
    async fn run(
        mut self,
        status: watch::Sender<RegistrationStatus>,
        stop: CancellationToken,
    ) -> Result<(), RegistryError> {
        let mut failures = 0;
        loop {
            let outcome = tokio::select! {
                outcome = self.renew() => outcome,
                () = stop.cancelled() => break,
            };
            let new = match outcome {
                Ok(()) => {
                    failures = 0;
                    RegistrationStatus::Registered
                }
                Err(error) => {
                    failures += 1;
                    RegistrationStatus::Failing(error.with_cause())
                }
            };
            status.send_if_modified(|known| {
                let is_new = *known != new;
                if is_new {
                    report(&self.record, &new);
                    *known = new;
                }
                is_new
            });
            let wait = wait_before_renewal(self.ttl, failures, random());
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stop.cancelled() => break,
            }
        }
        self.delete().await
    }

    /// Writes the record and refreshes the indexes, in one transaction. It always writes the whole record, so that it makes no
    /// difference whether Redis still has it.
    async fn renew(&mut self) -> Result<(), RegistryError> {
        self.record.last_seen = Timestamp::now().to_string();
        let (key, indexes) = self.keys();
        let seconds = self.ttl.as_secs().max(1);
        let mut commands = redis::pipe();
        commands.atomic().cmd("SET").arg(key).arg(self.record.to_string()).arg("EX").arg(seconds);
        for index in indexes {
            commands.cmd("SADD").arg(&index).arg(&self.record.id);
            commands.cmd("EXPIRE").arg(index).arg(2 * seconds);
        }
        self.send(&commands).await
    }

    async fn delete(&mut self) -> Result<(), RegistryError> {
        let (key, indexes) = self.keys();
        let mut commands = redis::pipe();
        commands.atomic().cmd("DEL").arg(key);
        for index in indexes {
            commands.cmd("SREM").arg(index).arg(&self.record.id);
        }
        self.send(&commands).await
    }

    fn keys(&self) -> (String, Vec<String>) {
        let namespace = self.registry.namespace();
        (namespace.record_key(&self.record.id), namespace.index_keys(&self.record))
    }

    async fn send(&mut self, commands: &redis::Pipeline) -> Result<(), RegistryError> {
        if let Some(connection) = &mut self.connection
            && commands.query_async::<()>(connection).await.is_ok()
        {
            return Ok(());
        }
        // The connection may be from before a restart of Redis, so a failure on it says nothing.
        self.connection = None;
        let mut connection = self.registry.connect().await?;
        let sent = commands.query_async::<()>(&mut connection).await;
        sent.map_err(|error| self.registry.command_error(error))?;
        self.connection = Some(connection);
        Ok(())
    }
}

/// How long to wait before the record is written again: half of its lifetime, and up to a quarter of that more, so that services
/// that started together do not all write at once. After failures it is tried sooner. `random` is from 0 to `u16::MAX`.
fn wait_before_renewal(ttl: Duration, failures: u32, random: u16) -> Duration {
    let regular = ttl / 2;
    let wait = match failures.checked_sub(1) {
        None => regular,
        Some(earlier) => FIRST_WAIT.saturating_mul(2_u32.saturating_pow(earlier)).min(regular),
    };
    wait + wait / 4 * u32::from(random) / u32::from(u16::MAX)
}

fn random() -> u16 {
    let [.., high, low] = *uuid::Uuid::now_v7().as_bytes();
    u16::from_be_bytes([high, low])
}

fn report(ServiceRecord { name: service, id, .. }: &ServiceRecord, status: &RegistrationStatus) {
    match status {
        RegistrationStatus::Starting => {}
        RegistrationStatus::Registered => tracing::info!(service, id, "the service is registered"),
        RegistrationStatus::Failing(problem) => {
            tracing::warn!(service, id, problem, "the service cannot be registered; it is tried again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_renewed_after_half_of_its_lifetime_and_sooner_after_failures() {
        let ttl = Duration::from_secs(30);
        let wait = |failures, random| wait_before_renewal(ttl, failures, random);
        assert_eq!(wait(0, 0), Duration::from_secs(15));
        assert_eq!(wait(0, u16::MAX), Duration::from_millis(18_750));
        let waits = [1, 2, 3, 4, 5].map(|failures| wait(failures, 0).as_millis());
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000]);
        assert_eq!(wait(1_000_000, 0), Duration::from_secs(15), "it never stops trying");
    }
}
