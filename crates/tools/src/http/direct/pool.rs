//! Idle connections, by host and port.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::time::Instant;

/// Connections that no request uses at the moment.
#[derive(Debug)]
pub(super) struct Pool {
    max_idle: Duration,
    idle: Mutex<Idle>,
}

#[derive(Debug, Default)]
struct Idle {
    /// The last one was used last.
    connections: HashMap<Box<str>, Vec<(TcpStream, Instant)>>,
    /// Whether a task closes connections that were idle for too long.
    has_cleaner: bool,
}

impl Pool {
    pub(super) fn new(max_idle: Duration) -> Self {
        Self { max_idle, idle: Mutex::default() }
    }

    /// The connection that was used last, if the other side has not closed it.
    pub(super) fn take(&self, place: &str) -> Option<TcpStream> {
        let mut idle = self.idle.lock();
        let connections = idle.connections.get_mut(place)?;
        while let Some((stream, since)) = connections.pop() {
            if since.elapsed() >= self.max_idle {
                // The others are older.
                connections.clear();
            } else if is_open(&stream) {
                return Some(stream);
            }
        }
        idle.connections.remove(place);
        None
    }

    pub(super) fn put(self: &Arc<Self>, place: Box<str>, stream: TcpStream) {
        // Without a runtime, the connection ends.
        let Ok(runtime) = Handle::try_current() else { return };
        let mut idle = self.idle.lock();
        idle.connections.entry(place).or_default().push((stream, Instant::now()));
        if !std::mem::replace(&mut idle.has_cleaner, true) {
            runtime.spawn(clean(Cleaner(Arc::downgrade(self)), self.max_idle));
        }
    }

    /// Closes the connections that were idle for too long. Returns whether there are others.
    fn close_unused(&self) -> bool {
        let mut idle = self.idle.lock();
        idle.connections.retain(|_, connections| {
            connections.retain(|(stream, since)| since.elapsed() < self.max_idle && is_open(stream));
            !connections.is_empty()
        });
        !idle.connections.is_empty()
    }
}

/// Whether a connection can be used again: the other side has neither closed it nor sent anything.
fn is_open(stream: &TcpStream) -> bool {
    matches!(stream.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}

async fn clean(cleaner: Cleaner, max_idle: Duration) {
    loop {
        tokio::time::sleep(max_idle).await;
        if !cleaner.0.upgrade().is_some_and(|pool| pool.close_unused()) {
            return;
        }
    }
}

/// Empties the pool when its task ends, also because its runtime ends: the connections of a runtime end with it.
struct Cleaner(Weak<Pool>);

impl Drop for Cleaner {
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            *pool.idle.lock() = Idle::default();
        }
    }
}
