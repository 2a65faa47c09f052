//! The sessions of HTTP clients: how many are open, and when one that nobody uses ends.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// How long a session is kept that no request uses.
const IDLE: Duration = Duration::from_mins(5);

tokio::task_local! {
    /// Why the request that is handled gets no session. The library would answer that it failed itself.
    static REFUSED: Mutex<Option<TooManySessions>>;
}

/// How many sessions there are at the same time: of one service, and of all services with a clone of this.
#[derive(Debug, Clone)]
pub struct SessionLimit {
    of_service: usize,
    of_all: usize,
    places: Arc<Semaphore>,
}

impl SessionLimit {
    /// So many sessions of one service, and so many of all.
    pub fn new(of_service: usize, of_all: usize) -> Self {
        Self { of_service, of_all, places: Arc::new(Semaphore::new(of_all)) }
    }
}

/// A client gets no session, because too many are open.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error(
    "{limit} MCP sessions {whose} are open, and there can be no more: end those that are not needed (`DELETE` with their \
    `Mcp-Session-Id`), or try again later; a session ends when it was not used for {} minutes", IDLE.as_secs() / 60
)]
pub struct TooManySessions {
    limit: usize,
    whose: &'static str,
}

/// Why a request of a session cannot be handled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    #[error(transparent)]
    TooMany(#[from] TooManySessions),
    #[error(transparent)]
    Session(#[from] LocalSessionManagerError),
}

/// Waits for the answer to a request of a client. Fails if the request asks for one session too many.
pub async fn unless_refused<T>(handled: impl Future<Output = T>) -> Result<T, TooManySessions> {
    let handled = async {
        let response = handled.await;
        REFUSED.with(|refused| refused.lock().take()).map_or(Ok(response), Err)
    };
    REFUSED.scope(Mutex::default(), handled).await
}

/// The sessions of one service, in memory.
#[derive(Debug)]
pub struct Sessions {
    // Its own limit of idle time would also end a session whose client waits for a long call.
    local: Arc<LocalSessionManager>,
    limit: SessionLimit,
    places: Arc<Semaphore>,
    open: Arc<Mutex<HashMap<SessionId, Arc<Usage>>>>,
}

/// Who uses a session. It takes up its places until nobody reads its answers any more.
#[derive(Debug)]
struct Usage {
    streams: AtomicUsize,
    last: Mutex<Instant>,
    _places: [OwnedSemaphorePermit; 2],
}

impl Usage {
    fn ends_at(&self) -> Instant {
        let last = if self.streams.load(Ordering::Relaxed) > 0 { Instant::now() } else { *self.last.lock() };
        last + IDLE
    }
}

/// A stream of answers that a client reads.
#[derive(Debug)]
struct OpenStream(Option<Arc<Usage>>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        if let Some(usage) = &self.0 {
            *usage.last.lock() = Instant::now();
            usage.streams.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl OpenStream {
    fn around(
        self,
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        stream.map(move |message| {
            let _open = &self;
            message
        })
    }
}

impl Sessions {
    pub(crate) fn new(limit: SessionLimit) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = None;
        let places = Arc::new(Semaphore::new(limit.of_service));
        Self { local: Arc::new(local), limit, places, open: Arc::default() }
    }

    fn places(&self) -> Result<[OwnedSemaphorePermit; 2], TooManySessions> {
        let SessionLimit { of_service, of_all, places } = &self.limit;
        let take = |places: &Arc<Semaphore>, limit: usize, whose| {
            Arc::clone(places).try_acquire_owned().map_err(|_| TooManySessions { limit, whose })
        };
        Ok([take(&self.places, *of_service, "of this token")?, take(places, *of_all, "of all tokens")?])
    }

    /// Notes that a request uses the session.
    fn used(&self, id: &SessionId) -> Option<Arc<Usage>> {
        let usage = self.open.lock().get(id).cloned()?;
        *usage.last.lock() = Instant::now();
        Some(usage)
    }

    fn stream(&self, id: &SessionId) -> OpenStream {
        let usage = self.used(id);
        if let Some(usage) = &usage {
            usage.streams.fetch_add(1, Ordering::Relaxed);
        }
        OpenStream(usage)
    }

    /// Ends the session when nobody has used it for long enough.
    fn end_when_idle(&self, id: SessionId, usage: &Arc<Usage>) {
        let (local, usage) = (Arc::clone(&self.local), Arc::downgrade(usage));
        let open = Arc::clone(&self.open);
        tokio::spawn(async move {
            while let Some(ends_at) = usage.upgrade().map(|usage| usage.ends_at()) {
                if ends_at <= Instant::now() {
                    open.lock().remove(&id);
                    let _ = local.close_session(&id).await;
                    return;
                }
                sleep_until(ends_at).await;
            }
        });
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let places = self.places().inspect_err(|refused| {
            let _ = REFUSED.try_with(|slot| *slot.lock() = Some(*refused));
        })?;
        let (id, transport) = self.local.create_session().await?;
        let usage = Usage { streams: AtomicUsize::new(0), last: Mutex::new(Instant::now()), _places: places };
        let usage = Arc::new(usage);
        self.open.lock().insert(Arc::clone(&id), Arc::clone(&usage));
        self.end_when_idle(Arc::clone(&id), &usage);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        self.open.lock().remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let open = self.stream(id);
        Ok(open.around(self.local.create_stream(id, message).await?))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionError> {
        self.used(id);
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let open = self.stream(id);
        Ok(open.around(self.local.create_standalone_stream(id).await?))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let open = self.stream(id);
        Ok(open.around(self.local.resume(id, last_event_id).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn wait(time: Duration) {
        tokio::time::sleep(time).await;
        tokio::task::yield_now().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_nobody_uses_ends_and_leaves_its_place_to_another() {
        let sessions = Sessions::new(SessionLimit::new(1, 10));
        let (first, _transport) = sessions.create_session().await.unwrap();
        let refused = sessions.create_session().await.map(|_| ()).unwrap_err().to_string();
        assert!(refused.starts_with("1 MCP sessions of this token are open"), "{refused}");
        wait(IDLE / 2).await;
        sessions.used(&first);
        wait(IDLE / 2).await;
        assert!(sessions.has_session(&first).await.unwrap(), "it was used");
        wait(IDLE).await;
        assert!(!sessions.has_session(&first).await.unwrap());
        sessions.create_session().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_whose_client_waits_for_an_answer_does_not_end() {
        let sessions = Sessions::new(SessionLimit::new(1, 10));
        let (id, _transport) = sessions.create_session().await.unwrap();
        let waits = sessions.stream(&id);
        wait(IDLE * 3).await;
        assert!(sessions.has_session(&id).await.unwrap());
        drop(waits);
        wait(IDLE * 2).await;
        assert!(!sessions.has_session(&id).await.unwrap());
    }

    #[tokio::test]
    async fn services_share_the_limit_of_all() {
        let limit = SessionLimit::new(2, 3);
        let (ann, bob) = (Sessions::new(limit.clone()), Sessions::new(limit));
        let mut kept = Vec::new();
        for sessions in [&ann, &ann, &bob] {
            kept.push(sessions.create_session().await.unwrap());
        }
        let refused = bob.create_session().await.map(|_| ()).unwrap_err().to_string();
        assert!(refused.starts_with("3 MCP sessions of all tokens are open"), "{refused}");
        ann.close_session(&kept[0].0).await.unwrap();
        bob.create_session().await.unwrap();
    }
}
