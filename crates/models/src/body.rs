//! The body of a response, piece by piece and no longer than is sane.

use reqwest::Response;

use crate::limits::{Exceeded, Stage, Watch};
use crate::text::root_cause;

/// Longer than any answer a model can write; it bounds what a broken server can make us hold.
pub(crate) const MAX_BODY: usize = 16 * 1024 * 1024;

/// Why no further piece comes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    #[error("the connection broke: {0}")]
    Connection(String),
    #[error("more than {} MiB", MAX_BODY / 1024 / 1024)]
    TooLong,
}

/// The body of a response.
#[derive(Debug)]
pub(crate) struct Body {
    response: Response,
    seen: usize,
}

impl Body {
    /// Takes the response as it is after its head.
    pub(crate) fn new(response: Response) -> Self {
        Self { response, seen: 0 }
    }

    /// The next piece, or none at the proper end.
    pub(crate) async fn next(
        &mut self,
        watch: &Watch,
        stage: Stage,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, Broken> {
        let piece = watch
            .within(stage, self.response.chunk())
            .await?
            .map_err(|error| Broken::Connection(root_cause(&error)))?;
        self.seen = self.seen.saturating_add(piece.as_deref().map_or(0, <[u8]>::len));
        if self.seen > MAX_BODY { Err(Broken::TooLong) } else { Ok(piece) }
    }

    /// All of it.
    pub(crate) async fn whole(mut self, watch: &mut Watch) -> Result<Vec<u8>, Broken> {
        let mut bytes = Vec::new();
        let mut stage = Stage::FirstToken;
        while let Some(piece) = self.next(watch, stage).await? {
            bytes.extend_from_slice(piece.as_ref());
            watch.progress();
            stage = Stage::Next;
        }
        Ok(bytes)
    }

    /// As much of it as comes, up to a length: for words about a failure that is one already.
    pub(crate) async fn beginning(mut self, watch: &mut Watch, length: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        watch.progress();
        while bytes.len() < length {
            let Ok(Some(piece)) = self.next(watch, Stage::Tail).await else { break };
            bytes.extend_from_slice(piece.as_ref());
        }
        bytes.truncate(length);
        bytes
    }
}
