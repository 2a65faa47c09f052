//! Real exchanges, written down once and given again.

mod difference;
mod redact;
mod serve;
mod tape;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::DefaultBodyLimit;

use crate::server::Server;
use tape::Tape;

/// Larger than any prompt or answer, smaller than the memory of a test machine.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// A server on loopback that stands between a client and a real server: it writes down what both say, or says again what
/// was written down, without the real one.
///
/// Requests are known by a hash of their method, path and body, with JSON read so that spaces do not matter. Every
/// recording is given once, in the order in which it was made. A request that was not recorded is answered with 400 and
/// the difference to the nearest one that was, and is a miss. Keys are not written down: headers of requests are not
/// recorded at all, and what stands in one that holds a key is taken out of everything else.
///
/// ```
/// use reknit_testing::Cassette;
/// # use reknit_testing::{Reply, ScriptedModel, model::{Script, When}};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let folder = std::env::temp_dir().join("reknit-cassette-example");
/// # let file = folder.with_extension("json");
/// # let model = ScriptedModel::start(Script::new().on(When::any(), Reply::text("hello"))).await?;
/// # let real = model.base_url().trim_end_matches("/v1").to_owned();
/// // Once, against the real server (`https://api.openai.com`):
/// let cassette = Cassette::record(&file, &real).await?;
/// # drop(cassette);
/// // In every test, without it:
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
    shared: Arc<Shared>,
}

/// Why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file cannot be read or written.
    #[error("cannot use `{}`", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is no cassette.
    #[error("`{}` is no cassette", path.display())]
    Shape {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: serde_json::Error,
    },
    /// The server, or the client for the real one, cannot be started.
    #[error("the cassette cannot be started")]
    Start(#[source] Box<dyn std::error::Error + Send + Sync>),
}

#[derive(Debug)]
struct Shared {
    mode: Mode,
    tape: Mutex<Tape>,
    misses: Mutex<Vec<String>>,
}

#[derive(Debug)]
enum Mode {
    Record { client: reqwest::Client, upstream: String, path: PathBuf },
    Replay,
}

impl Cassette {
    /// Passes everything on to `upstream` (`https://api.openai.com`, without the path), and writes it down. What the file
    /// had before is replaced.
    pub async fn record(path: impl AsRef<Path>, upstream: &str) -> Result<Self, CassetteError> {
        // The second to come here finds it done.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
        let client = client.map_err(|error| CassetteError::Start(Box::new(error)))?;
        let (path, tape) = (path.as_ref().to_owned(), Tape::default());
        tape.save(&path)?;
        let upstream = upstream.trim_end_matches('/').to_owned();
        Self::start(Mode::Record { client, upstream, path }, tape).await
    }

    /// Answers from what was written down, and never asks anybody.
    pub async fn replay(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        Self::start(Mode::Replay, Tape::load(path.as_ref())?).await
    }

    async fn start(mode: Mode, tape: Tape) -> Result<Self, CassetteError> {
        let shared = Arc::new(Shared { mode, tape: Mutex::new(tape), misses: Mutex::default() });
        let router = Router::new().fallback(serve::serve).layer(DefaultBodyLimit::max(MAX_BODY));
        let router = router.with_state(Arc::clone(&shared));
        let server = Server::start(router).await.map_err(|error| CassetteError::Start(Box::new(error)))?;
        Ok(Self { server, shared })
    }

    /// Where clients find it, in place of the real server: `http://127.0.0.1:41234`.
    pub fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// What was asked and is not recorded, or could not be recorded, in words. A test asserts that this is empty.
    pub fn misses(&self) -> Vec<String> {
        lock(&self.shared.misses).clone()
    }

    /// How many recordings have not been given yet. A test that means to use all of them asserts that this is 0.
    pub fn left(&self) -> usize {
        lock(&self.shared.tape).left()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
