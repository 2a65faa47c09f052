//! Why a request has no response.

use std::error::Error;
use std::io;

#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error(transparent)]
    Reqwest(#[from] reqwest::Error),
    /// There was no connection, so nothing was sent.
    #[error("cannot connect")]
    Connect(#[source] Box<dyn Error + Send + Sync>),
    /// The connection broke, or what came is not a response.
    #[error("the exchange failed")]
    Exchange(#[source] Box<dyn Error + Send + Sync>),
}

impl SendError {
    pub(crate) fn is_connect(&self) -> bool {
        match self {
            Self::Reqwest(error) => error.is_connect(),
            Self::Connect(_) => true,
            Self::Exchange(_) => false,
        }
    }

    /// Whether nothing listens at the address.
    pub(crate) fn is_refused(&self) -> bool {
        let chain = std::iter::successors(self.source(), |cause| (*cause).source());
        let mut kinds = chain.filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
        kinds.any(|kind| kind == io::ErrorKind::ConnectionRefused)
    }
}
