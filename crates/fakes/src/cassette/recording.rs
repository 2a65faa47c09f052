//! The file format of a cassette.

use std::fs;
use std::path::Path;

use reknit_protocol::Value;
use serde::{Deserialize, Serialize};

use super::CassetteError;

/// Exchanges in the order of recording.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recording {
    exchanges: Vec<Exchange>,
}

/// One request and its response.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    #[serde(rename = "asked")]
    pub(super) request: RecordedRequest,
    #[serde(rename = "answered")]
    response: RecordedResponse,
    #[serde(skip)]
    is_replayed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedRequest {
    pub(super) method: String,
    /// The path with its query.
    pub(super) path: String,
    /// A body that is not JSON is a string.
    #[serde(with = "reknit_protocol::exact")]
    pub(super) body: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl RecordedRequest {
    /// Whether the recorded response answers the other request. The text of the body is compared: a number in another
    /// spelling makes another request. Headers do not count: they identify the client, not the question.
    fn is_same_as(&self, other: &Self) -> bool {
        self.method == other.method && self.path == other.path && self.body.to_string() == other.body.to_string()
    }
}

impl Recording {
    pub(super) fn load(path: &Path) -> Result<Self, CassetteError> {
        let text = fs::read_to_string(path).map_err(|source| CassetteError::File { path: path.to_owned(), source })?;
        serde_json::from_str(&text).map_err(|source| CassetteError::Shape { path: path.to_owned(), source })
    }

    pub(super) fn save(&self, path: &Path) -> Result<(), CassetteError> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|source| CassetteError::Shape { path: path.to_owned(), source })?;
        fs::write(path, text + "\n").map_err(|source| CassetteError::File { path: path.to_owned(), source })
    }

    pub(super) fn add(&mut self, request: RecordedRequest, response: RecordedResponse) {
        self.exchanges.push(Exchange { request, response, is_replayed: false });
    }

    /// The first response to this request that has not been replayed yet.
    pub(super) fn replay(&mut self, request: &RecordedRequest) -> Option<RecordedResponse> {
        let exchange = self.exchanges.iter_mut().find(|one| !one.is_replayed && one.request.is_same_as(request))?;
        exchange.is_replayed = true;
        Some(exchange.response.clone())
    }

    pub(super) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    pub(super) fn remaining(&self) -> usize {
        self.exchanges.iter().filter(|exchange| !exchange.is_replayed).count()
    }
}
