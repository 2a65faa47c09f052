//! What is written down.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use reknit_protocol::Value;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::CassetteError;

/// Everything that was said, in order.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tape {
    exchanges: Vec<Exchange>,
}

/// One request and its response.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    pub(super) asked: Asked,
    pub(super) answered: Answered,
    /// Whether it has been given already.
    #[serde(skip)]
    given: bool,
}

/// What a client says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub(super) method: String,
    /// With what stands behind its `?`.
    pub(super) path: String,
    /// JSON as it is, anything else as text.
    #[serde(with = "reknit_protocol::exact")]
    pub(super) body: Value,
}

/// What the server says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Asked {
    /// The hash by which it is known. A header says how an answer is paid for, not what it is, and does not count.
    pub(super) fn key(&self) -> String {
        let mut hash = Sha256::new();
        for text in [&self.method, &self.path, &self.body.to_string()] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hash.finalize().iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl Tape {
    pub(super) fn load(path: &Path) -> Result<Self, CassetteError> {
        let text = fs::read_to_string(path).map_err(|source| CassetteError::File { path: path.to_owned(), source })?;
        serde_json::from_str(&text).map_err(|source| CassetteError::Shape { path: path.to_owned(), source })
    }

    pub(super) fn save(&self, path: &Path) -> Result<(), CassetteError> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|source| CassetteError::Shape { path: path.to_owned(), source })?;
        fs::write(path, text + "\n").map_err(|source| CassetteError::File { path: path.to_owned(), source })
    }

    pub(super) fn add(&mut self, asked: Asked, answered: Answered) {
        self.exchanges.push(Exchange { asked, answered, given: false });
    }

    /// The first answer to this that has not been given yet.
    pub(super) fn take(&mut self, asked: &Asked) -> Option<Answered> {
        let key = asked.key();
        let exchange = self.exchanges.iter_mut().find(|exchange| !exchange.given && exchange.asked.key() == key)?;
        exchange.given = true;
        Some(exchange.answered.clone())
    }

    pub(super) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    pub(super) fn left(&self) -> usize {
        self.exchanges.iter().filter(|exchange| !exchange.given).count()
    }
}
