//! Reading of response bodies, within timeouts and up to a largest size.

use reqwest::Response;

use crate::sanitize::root_cause;
use crate::timeouts::{Stage, TimeoutExceeded, TimeoutTracker};

/// Longer than any answer of a model; it bounds the memory that a broken server can make us use.
pub(crate) const MAX_BODY: usize = 16 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error(transparent)]
    Timeout(#[from] TimeoutExceeded),
    #[error("the connection broke: {0}")]
    Connection(String),
    #[error("the body has more than {} MiB", MAX_BODY / 1024 / 1024)]
    TooLong,
}

#[derive(Debug)]
pub(crate) struct Body {
    response: Response,
    read_bytes: usize,
}

impl Body {
    /// The body of a response whose headers have arrived.
    pub(crate) fn new(response: Response) -> Self {
        Self { response, read_bytes: 0 }
    }

    /// The next chunk; none at the end.
    pub(crate) async fn next_chunk(
        &mut self,
        tracker: &TimeoutTracker,
        stage: Stage,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, BodyError> {
        let chunk = tracker
            .within(stage, self.response.chunk())
            .await?
            .map_err(|error| BodyError::Connection(root_cause(&error)))?;
        self.read_bytes = self.read_bytes.saturating_add(chunk.as_deref().map_or(0, <[u8]>::len));
        if self.read_bytes > MAX_BODY { Err(BodyError::TooLong) } else { Ok(chunk) }
    }

    pub(crate) async fn read_all(mut self, tracker: &mut TimeoutTracker) -> Result<Vec<u8>, BodyError> {
        let mut bytes = Vec::new();
        let mut stage = Stage::FirstToken;
        while let Some(chunk) = self.next_chunk(tracker, stage).await? {
            bytes.extend_from_slice(chunk.as_ref());
            tracker.note_progress();
            stage = Stage::NextToken;
        }
        Ok(bytes)
    }

    /// Reads up to `length` bytes, and ends early at an error: for the message of a failed request.
    pub(crate) async fn read_prefix(mut self, tracker: &mut TimeoutTracker, length: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        tracker.note_progress();
        while bytes.len() < length {
            let Ok(Some(chunk)) = self.next_chunk(tracker, Stage::Trailer).await else { break };
            bytes.extend_from_slice(chunk.as_ref());
        }
        bytes.truncate(length);
        bytes
    }
}
