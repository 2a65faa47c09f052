//! Records HTTP exchanges with a real server and replays them.

mod difference;
mod serve;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use axum::Router;
use parking_lot::Mutex;
use reknit_protocol::Value;
use serde::{Deserialize, Serialize};

use crate::server::Server;

/// A server on loopback that records the exchanges between a client and a real server, or replays them without the real
/// server.
///
/// A request is identified by its method, path and body; white space between JSON tokens does not count. Each
/// recorded response is replayed once, in the order of recording. A request that is not in the recording is a miss: it is
/// answered with 400 and the difference to the nearest recorded request. API keys are not recorded: request headers are
/// left out, and the values of headers that hold a key are redacted everywhere else.
///
/// ```
/// use reknit_fakes::Cassette;
/// # use reknit_fakes::{Reply, ScriptedModel, model::{RequestMatcher, Script}};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let file = std::env::temp_dir().join(format!("reknit-cassette-example-{}.json", std::process::id()));
/// # let model = ScriptedModel::start(Script::new().on(RequestMatcher::any(), Reply::text("hello"))).await?;
/// # let real = model.base_url().trim_end_matches("/v1").to_owned();
/// // Once, against the real server (`https://api.openai.com`):
/// let cassette = Cassette::record(&file, &real).await?;
/// # drop(cassette);
/// // In every test, without the real server:
/// let cassette = Cassette::replay(&file).await?;
/// let base_url = cassette.base_url() + "/v1";
/// // ... give `base_url` to the client under test, and then:
/// assert!(cassette.misses().is_empty());
/// # let _ = (base_url, std::fs::remove_file(&file));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Cassette {
    server: Server,
    state: Arc<CassetteState>,
}

/// Why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file cannot be read or written.
    #[error("cannot read or write `{}`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file does not have the format of a cassette.
    #[error("`{}` does not have the format of a cassette", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong with the JSON.
        source: serde_json::Error,
    },
    /// The server, or the client for the real one, cannot be started.
    #[error("the cassette cannot be started")]
    Start(#[source] Box<dyn std::error::Error + Send + Sync>),
}

#[derive(Debug)]
struct CassetteState {
    mode: Mode,
    recording: Mutex<Recording>,
    misses: Mutex<Vec<String>>,
}

#[derive(Debug)]
enum Mode {
    Record { client: reqwest::Client, upstream: String, path: PathBuf },
    Replay,
}

impl Cassette {
    /// Forwards every request to `upstream` (`https://api.openai.com`, without a path) and records the exchange. Replaces
    /// the file if it exists.
    pub async fn record(path: impl AsRef<Path>, upstream: &str) -> Result<Self, CassetteError> {
        // Fails if a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
        let client = client.map_err(|error| CassetteError::Start(Box::new(error)))?;
        let (path, recording) = (path.as_ref().to_owned(), Recording::default());
        recording.save(&path)?;
        let upstream = upstream.trim_end_matches('/').to_owned();
        Self::start(Mode::Record { client, upstream, path }, recording).await
    }

    /// Answers from a recording, without any other server.
    pub async fn replay(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        Self::start(Mode::Replay, Recording::load(path.as_ref())?).await
    }

    async fn start(mode: Mode, recording: Recording) -> Result<Self, CassetteError> {
        let state = Arc::new(CassetteState { mode, recording: Mutex::new(recording), misses: Mutex::default() });
        let router = Router::new().fallback(serve::serve).with_state(Arc::clone(&state));
        let server = Server::start(router).await.map_err(|error| CassetteError::Start(Box::new(error)))?;
        Ok(Self { server, state })
    }

    /// The URL for clients, in place of that of the real server: `http://127.0.0.1:41234`.
    pub fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// A message for each request that is not in the recording or could not be recorded. A test asserts that this is empty.
    pub fn misses(&self) -> Vec<String> {
        self.state.misses.lock().clone()
    }

    /// How many recorded responses have not been replayed yet. A test that should use all of them asserts that this is 0.
    pub fn remaining(&self) -> usize {
        self.state.recording.lock().exchanges.iter().filter(|exchange| !exchange.is_replayed).count()
    }
}

/// Exchanges in the order of recording.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    exchanges: Vec<Exchange>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    #[serde(rename = "asked")]
    request: RecordedRequest,
    #[serde(rename = "answered")]
    response: RecordedResponse,
    #[serde(skip)]
    is_replayed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedRequest {
    method: String,
    /// The path with its query.
    path: String,
    /// A body that is not JSON is a string.
    #[serde(with = "reknit_protocol::exact")]
    body: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedResponse {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl RecordedRequest {
    /// Whether the recorded response answers the other request. The text of the body is compared: a number in another
    /// spelling makes another request. Headers do not count: they identify the client, not the question.
    fn is_same_as(&self, other: &Self) -> bool {
        self.method == other.method && self.path == other.path && self.body.to_string() == other.body.to_string()
    }
}

impl Recording {
    fn load(path: &Path) -> Result<Self, CassetteError> {
        let text = fs::read_to_string(path).map_err(|source| CassetteError::File { path: path.to_owned(), source })?;
        serde_json::from_str(&text).map_err(|source| CassetteError::Shape { path: path.to_owned(), source })
    }

    fn save(&self, path: &Path) -> Result<(), CassetteError> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|source| CassetteError::Shape { path: path.to_owned(), source })?;
        fs::write(path, text + "\n").map_err(|source| CassetteError::File { path: path.to_owned(), source })
    }

    fn add(&mut self, request: RecordedRequest, response: RecordedResponse) {
        self.exchanges.push(Exchange { request, response, is_replayed: false });
    }

    /// The first response to this request that has not been replayed yet.
    fn replay(&mut self, request: &RecordedRequest) -> Option<RecordedResponse> {
        let exchange = self.exchanges.iter_mut().find(|one| !one.is_replayed && one.request.is_same_as(request))?;
        exchange.is_replayed = true;
        Some(exchange.response.clone())
    }
}
