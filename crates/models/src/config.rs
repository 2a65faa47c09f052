//! What can be wrong with the configured targets.

use reknit_dialogue::TargetName;

/// Why a list of targets cannot be used. Found before anything is asked.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Two targets have one name.
    #[error("two models are called `{target}`")]
    Duplicate {
        /// The name.
        target: TargetName,
    },
    /// The address is no address.
    #[error("the base URL of model `{target}` is not usable: {problem}")]
    BaseUrl {
        /// Which target.
        target: TargetName,
        /// What is wrong with it; never the address itself, which may hold a password.
        problem: String,
    },
    /// The model has no name on the server.
    #[error("model `{target}` does not say which model it is on the server")]
    NoModel {
        /// Which target.
        target: TargetName,
    },
    /// The key cannot stand in a header.
    #[error("the key of model `{target}` is empty or has characters that no key has, such as a line break")]
    Key {
        /// Which target.
        target: TargetName,
    },
    /// A limit that nothing can keep.
    #[error("the limit `{limit}` of model `{target}` is zero")]
    ZeroLimit {
        /// Which target.
        target: TargetName,
        /// Which limit.
        limit: &'static str,
    },
    /// The HTTP client could not be made, for want of root certificates most likely.
    #[error("no HTTP client could be made for model `{target}`")]
    Client {
        /// Which target.
        target: TargetName,
        /// Why not.
        source: reqwest::Error,
    },
}
