//! A server: one shared connection, opened when it is needed and again when it has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reknit_protocol::human_duration;
use reknit_tools::KnownSecrets;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use crate::connection::{Connection, Unavailable, tools_changed};
use crate::http::HttpClient;
use crate::options::{McpConnection, McpOptions, ProtocolEra};

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) options: Arc<McpOptions>,
    pub(crate) secrets: KnownSecrets,
    pub(crate) http: Result<Option<HttpClient>, String>,
    state: Arc<Mutex<State>>,
    /// How often the server told that its tools have changed. A connection that was opened again counts, too.
    pub(crate) generation: watch::Sender<u64>,
    /// Whether the server refused the last connection, or its list of tools, because nobody is signed in.
    pub(crate) needs_sign_in: AtomicBool,
}

#[derive(Debug)]
struct State {
    connection: Option<Arc<Connection>>,
    was_open: bool,
    era: ProtocolEra,
    /// How often in a row the server could not be started, or ended before it answered a call.
    failures: u32,
    /// When it may be started again, and why it ended.
    wait: Option<(Instant, String)>,
}

impl Server {
    pub(crate) fn new(options: McpOptions) -> Self {
        let secrets = options.connection.secrets();
        let http = match &options.connection {
            McpConnection::Stdio(_) => Ok(None),
            McpConnection::Http(endpoint) => HttpClient::new(endpoint, options.max_message, secrets.clone()).map(Some),
        };
        let state = State { connection: None, was_open: false, era: options.era, failures: 0, wait: None };
        let state = Arc::new(Mutex::new(state));
        let (generation, needs_sign_in) = (watch::Sender::new(0), AtomicBool::new(false));
        Self { options: Arc::new(options), secrets, http, state, generation, needs_sign_in }
    }

    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, Unavailable> {
        let mut state = Arc::clone(&self.state).lock_owned().await;
        if let Some(connection) = &state.connection {
            if connection.is_open() {
                return Ok(Arc::clone(connection));
            }
            let (reason, has_answered) = (connection.describe_end().await, connection.has_answered());
            state.connection = None;
            state.note_end(reason, has_answered, self.is_program());
        }
        state.check_wait()?;
        let http = self.http.clone().map_err(Unavailable::Down)?;
        let (options, generation) = (Arc::clone(&self.options), self.generation.clone());
        let is_program = self.is_program();
        // In a task of its own: a caller that gives up must not stop a server that others wait for.
        let opening = tokio::spawn(async move {
            let opened = Connection::open(&options, http.as_ref(), state.era, &generation).await;
            match &opened {
                Ok(connection) => state.era = connection.era(),
                Err(unavailable) => {
                    state.era = options.era;
                    state.note_end(unavailable.message(), false, is_program);
                }
            }
            let connection = Arc::new(opened?);
            state.connection = Some(Arc::clone(&connection));
            if std::mem::replace(&mut state.was_open, true) {
                // It may be another version of the server.
                tools_changed(&generation);
            }
            Ok(connection)
        });
        let opened = opening.await;
        let opened = opened.unwrap_or_else(|error| Err(Unavailable::Down(format!("it cannot be opened: {error}"))));
        let needs_sign_in = matches!(opened, Err(Unavailable::NeedsSignIn(_)));
        self.needs_sign_in.store(needs_sign_in, Ordering::Relaxed);
        opened
    }

    /// Takes the open connection, if there is one: the next call opens a new one.
    pub(crate) async fn take_connection(&self) -> Option<Arc<Connection>> {
        self.state.lock().await.connection.take()
    }

    fn is_program(&self) -> bool {
        matches!(self.options.connection, McpConnection::Stdio(_))
    }
}

impl State {
    /// Notes that a connection ended or could not be opened. Only a program is given time before it is started again.
    fn note_end(&mut self, reason: String, has_answered: bool, is_program: bool) {
        self.failures = if has_answered { 1 } else { self.failures.saturating_add(1) };
        self.wait = is_program.then(|| (Instant::now() + restart_delay(self.failures), reason));
    }

    /// Fails while the server is not to be started yet.
    fn check_wait(&self) -> Result<(), Unavailable> {
        let Some((until, reason)) = &self.wait else { return Ok(()) };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        let left = human_duration(left.as_secs().max(1) * 1_000);
        Err(Unavailable::Down(format!("it is started again in {left}: {reason}")))
    }
}

/// The wait before each start, in seconds, by the number of failures in a row before it.
const DELAYS: [u64; 7] = [0, 1, 2, 5, 10, 30, 60];

fn restart_delay(failures: u32) -> Duration {
    let earlier = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    Duration::from_secs(DELAYS.get(earlier).copied().unwrap_or(60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_with_each_failure_up_to_a_minute() {
        let delays: Vec<u64> = (1..10).map(|failures| restart_delay(failures).as_secs()).collect();
        assert_eq!(delays, [0, 1, 2, 5, 10, 30, 60, 60, 60]);
        assert_eq!(restart_delay(u32::MAX).as_secs(), 60);
    }
}
