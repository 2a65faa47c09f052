//! Errors in the configuration of targets.

use reknit_model_api::TargetName;

/// Why a list of targets cannot be used. Reported before any request is sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    #[error("two models have the name `{target}`")]
    Duplicate { target: TargetName },
    #[error("the base URL of model `{target}` is not usable: {problem}")]
    BaseUrl {
        target: TargetName,
        /// What is wrong with the URL; never the URL itself, which may contain a password.
        problem: String,
    },
    #[error("model `{target}` has no `model`: the name that the server knows it by")]
    NoModel { target: TargetName },
    #[error("the key of model `{target}` is empty or contains an invalid character, such as a line break")]
    Key { target: TargetName },
    #[error("the header `{header}` of model `{target}` has an invalid name or value")]
    Header { target: TargetName, header: String },
    #[error("the timeout `{timeout}` of model `{target}` is zero")]
    ZeroTimeout { target: TargetName, timeout: &'static str },
    #[error("model `{target}` cannot be asked: this program was built without the feature `http`")]
    WithoutHttp { target: TargetName },
    /// The HTTP client could not be built, most likely because there are no root certificates.
    #[cfg(feature = "http")]
    #[error("cannot build an HTTP client for model `{target}`")]
    Client { target: TargetName, source: reqwest::Error },
}
