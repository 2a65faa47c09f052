//! Errors in the configuration of targets.

use reknit_model_api::TargetName;

/// Why a list of targets cannot be used. Reported before any request is sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Two targets have the same name.
    #[error("two models have the name `{target}`")]
    Duplicate {
        /// The name.
        target: TargetName,
    },
    /// The base URL is not usable.
    #[error("the base URL of model `{target}` is not usable: {problem}")]
    BaseUrl {
        /// Which target.
        target: TargetName,
        /// What is wrong with the URL; never the URL itself, which may contain a password.
        problem: String,
    },
    /// The model's name on the server is empty.
    #[error("model `{target}` has no `model`: the name that the server knows it by")]
    NoModel {
        /// Which target.
        target: TargetName,
    },
    /// The API key cannot be sent in a header.
    #[error("the key of model `{target}` is empty or contains an invalid character, such as a line break")]
    Key {
        /// Which target.
        target: TargetName,
    },
    /// A configured header cannot be sent.
    #[error("the header `{header}` of model `{target}` has an invalid name or value")]
    Header {
        /// Which target.
        target: TargetName,
        /// Which header.
        header: String,
    },
    /// A timeout is zero.
    #[error("the timeout `{timeout}` of model `{target}` is zero")]
    ZeroTimeout {
        /// Which target.
        target: TargetName,
        /// Which timeout.
        timeout: &'static str,
    },
    /// The model is on a server, and this build has no HTTP.
    #[error("model `{target}` cannot be asked: this program was built without the feature `http`")]
    WithoutHttp {
        /// Which target.
        target: TargetName,
    },
    /// The HTTP client could not be built, most likely because there are no root certificates.
    #[cfg(feature = "http")]
    #[error("cannot build an HTTP client for model `{target}`")]
    Client {
        /// Which target.
        target: TargetName,
        /// The cause.
        source: reqwest::Error,
    },
}
