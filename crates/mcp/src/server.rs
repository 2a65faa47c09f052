//! A server: one shared connection, opened when it is needed and again when it has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reknit_protocol::human_duration;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use crate::connection::{Connection, Unavailable};
use crate::http::HttpClient;
use crate::oauth::{self, SignIn};
use crate::options::{McpConnection, McpEndpoint, McpOAuth, McpOptions, ProtocolEra};
use crate::restart_delay::restart_delay;
use crate::secrets::Secrets;

/// A server and the connection to it.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) options: Arc<McpOptions>,
    pub(crate) secrets: Secrets,
    http: Result<Option<HttpClient>, String>,
    state: Arc<Mutex<State>>,
    generation: watch::Sender<u64>,
    /// Whether the server refused the last connection, or its list of tools, because nobody is signed in.
    needs_sign_in: AtomicBool,
}

#[derive(Debug)]
struct State {
    connection: Option<Arc<Connection>>,
    /// Whether there was a connection before.
    was_open: bool,
    /// The era that the server is known to speak.
    era: ProtocolEra,
    /// How often in a row the server could not be started, or ended before it answered a call.
    failures: u32,
    /// When it may be started again, and why it ended.
    wait: Option<(Instant, String)>,
}

impl Server {
    pub(crate) fn new(options: McpOptions) -> Self {
        let http = match &options.connection {
            McpConnection::Stdio(_) => Ok(None),
            McpConnection::Http(endpoint) => HttpClient::new(endpoint, options.max_message).map(Some),
        };
        let state = State { connection: None, was_open: false, era: options.era, failures: 0, wait: None };
        let state = Arc::new(Mutex::new(state));
        let secrets = Secrets::of(&options.connection);
        let (generation, needs_sign_in) = (watch::Sender::new(0), AtomicBool::new(false));
        Self { options: Arc::new(options), secrets, http, state, generation, needs_sign_in }
    }

    /// How often the server told that its tools have changed. A connection that was opened again counts, too.
    pub(crate) fn generation(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    /// The open connection, which is opened if there is none.
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
                generation.send_modify(|generation| *generation += 1);
            }
            Ok(connection)
        });
        let opened = opening.await;
        let opened = opened.unwrap_or_else(|error| Err(Unavailable::Down(format!("it cannot be opened: {error}"))));
        let needs_sign_in = matches!(opened, Err(Unavailable::NeedsSignIn(_)));
        self.needs_sign_in.store(needs_sign_in, Ordering::Relaxed);
        opened
    }

    /// Says that the server refuses its list of tools until a person signs in.
    pub(crate) fn note_sign_in_needed(&self) {
        self.needs_sign_in.store(true, Ordering::Relaxed);
    }

    /// Whether the server refused the last connection, or its list of tools, because nobody is signed in.
    pub(crate) fn needs_sign_in(&self) -> bool {
        self.needs_sign_in.load(Ordering::Relaxed)
    }

    /// Starts a sign-in at the server. Fails with the reason.
    pub(crate) async fn sign_in(&self, redirect_url: &str) -> Result<SignIn, String> {
        let (endpoint, oauth) = self.oauth()?;
        let http = self.http.as_ref().map_err(Clone::clone)?.as_ref().ok_or("there is no HTTP client")?;
        // The next connection starts with the new tokens.
        self.state.lock().await.connection = None;
        SignIn::start(endpoint, oauth, http, redirect_url).await.map_err(|error| error.to_string())
    }

    /// Removes the stored tokens, and ends the connection that uses them.
    pub(crate) async fn sign_out(&self) -> Result<bool, String> {
        let (_, oauth) = self.oauth()?;
        self.state.lock().await.connection = None;
        oauth::sign_out(oauth).await
    }

    fn oauth(&self) -> Result<(&McpEndpoint, &McpOAuth), String> {
        let McpConnection::Http(endpoint) = &self.options.connection else {
            return Err("a program needs no sign-in".to_owned());
        };
        let oauth = endpoint.oauth.as_ref().ok_or("no OAuth is configured for this server")?;
        Ok((endpoint, oauth))
    }

    /// Ends the connection in good order.
    pub(crate) async fn close(&self) {
        let connection = self.state.lock().await.connection.take();
        if let Some(connection) = connection.and_then(Arc::into_inner) {
            connection.close().await;
        }
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
