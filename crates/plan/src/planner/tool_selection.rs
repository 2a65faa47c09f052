//! Selects the tools to show to the planner if there are many: a model chooses, or else a search by words.

use reknit_protocol::Value;
use reknit_protocol::spelling::are_alike;
use reknit_salvage::{ReadOptions, read};
use serde::{Deserialize, Serialize};

use super::tool_descriptions::describe_tools;
use crate::catalogue::Catalogue;

const MAX_SHOWN: usize = 20;

/// The most capabilities that a model chooses from. If there are more, it gets the best search results.
const MAX_CANDIDATES: usize = 1_000;

/// The number of search results that a model chooses from.
const SEARCHED_CANDIDATES: usize = 200;

/// The capabilities that a planner is shown, and how they were selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSelection {
    /// The capabilities, as `tool/capability`.
    pub shown: Vec<String>,
    /// Why a search selected them and no model; `None` if a model did.
    #[serde(rename = "instead")]
    pub fallback_reason: Option<String>,
    /// The estimated number of tokens by which the selection shortens the prompt.
    pub saved_tokens: u64,
}

impl ToolSelection {
    /// The tools that a model is asked to choose from.
    pub fn candidates(catalogue: &Catalogue, request: &str) -> Catalogue {
        let count: usize = catalogue.tools.iter().map(|tool| tool.visible_capabilities().count()).sum();
        if count <= MAX_CANDIDATES {
            return catalogue.clone();
        }
        let mut keys = catalogue.search(request);
        keys.truncate(SEARCHED_CANDIDATES);
        catalogue.restricted_to(&keys)
    }

    /// Parses the answer of a model, a list of names. Names that do not exist are ignored.
    pub fn parse(text: &str, catalogue: &Catalogue) -> Result<Self, String> {
        let reading = read(text, &ReadOptions::default()).map_err(|error| error.to_string())?;
        let list = match &reading.value {
            Value::Object(object) => object.values().find_map(Value::as_array).unwrap_or_default(),
            value => value.as_array().unwrap_or_default(),
        };
        let names: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
        let keys = catalogue.tools.iter().flat_map(|tool| tool.visible_capabilities().map(|entry| tool.key(entry)));
        let is_named = |key: &String| {
            let capability = key.rsplit('/').next().unwrap_or(key);
            names.iter().any(|name| are_alike(name, key) || are_alike(name, capability))
        };
        let shown: Vec<String> = keys.filter(is_named).take(MAX_SHOWN).collect();
        if shown.is_empty() {
            return Err("the model named no existing capability".to_owned());
        }
        Ok(Self { saved_tokens: saved_tokens(catalogue, &shown), shown, fallback_reason: None })
    }

    /// Selects capabilities by the words of the request. `reason` says why no model did.
    pub fn by_search(catalogue: &Catalogue, request: &str, reason: String) -> Self {
        let mut shown = catalogue.search(request);
        shown.truncate(MAX_SHOWN);
        Self { saved_tokens: saved_tokens(catalogue, &shown), shown, fallback_reason: Some(reason) }
    }
}

/// The tokens saved by a selection. Four bytes are about one token.
fn saved_tokens(catalogue: &Catalogue, shown: &[String]) -> u64 {
    let bytes = |catalogue: &Catalogue| describe_tools(catalogue).len() as u64;
    bytes(catalogue).saturating_sub(bytes(&catalogue.restricted_to(shown))) / 4
}
