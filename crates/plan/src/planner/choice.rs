//! Many tools: only some of them are shown to the planner. A model picks, or the words that request and tools share.

use reknit_protocol::Value;
use reknit_protocol::spelling::are_alike;
use reknit_salvage::{ReadOptions, read};
use serde::{Deserialize, Serialize};

use super::tools::list_tools;
use crate::catalogue::Catalogue;

/// How many capabilities a planner is shown at most.
const SHOWN: usize = 20;

/// Beyond this not even the names fit into a question: only the likeliest are asked about.
const ASKED_ABOUT: usize = 200;

/// A thousand names are still read by a model; of more than that, those that search finds are.
const TOO_MANY: usize = 1_000;

/// Which tools a planner is shown, and who chose them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The capabilities, as `tool/capability`.
    pub shown: Vec<String>,
    /// Why not a model, if it was not one.
    pub instead: Option<String>,
    /// How many tokens the prompt is shorter by, as far as letters tell.
    pub saved_tokens: u64,
}

impl Choice {
    /// What a model is asked to choose from.
    pub fn candidates(catalogue: &Catalogue, request: &str) -> Catalogue {
        let count: usize = catalogue.tools.iter().map(|tool| tool.shown().count()).sum();
        if count <= TOO_MANY {
            return catalogue.clone();
        }
        let mut keys = catalogue.search(request);
        keys.truncate(ASKED_ABOUT);
        catalogue.only(&keys)
    }

    /// What a model chose: a list of names in its answer. Names that do not exist do not count.
    pub fn read(text: &str, catalogue: &Catalogue) -> Result<Self, String> {
        let reading = read(text, &ReadOptions::default()).map_err(|error| error.to_string())?;
        let list = match &reading.value {
            Value::Object(object) => object.values().find_map(Value::as_array).unwrap_or_default(),
            value => value.as_array().unwrap_or_default(),
        };
        let names: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
        let keys = catalogue.tools.iter().flat_map(|tool| tool.shown().map(|entry| tool.key(entry)));
        let is_named = |key: &String| {
            let capability = key.rsplit('/').next().unwrap_or(key);
            names.iter().any(|name| are_alike(name, key) || are_alike(name, capability))
        };
        let shown: Vec<String> = keys.filter(is_named).take(SHOWN).collect();
        if shown.is_empty() {
            return Err("the model named no capability that there is".to_owned());
        }
        Ok(Self { saved_tokens: saved(catalogue, &shown), shown, instead: None })
    }

    /// What the words say, where no model could.
    pub fn search(catalogue: &Catalogue, request: &str, instead: String) -> Self {
        let mut shown = catalogue.search(request);
        shown.truncate(SHOWN);
        Self { saved_tokens: saved(catalogue, &shown), shown, instead: Some(instead) }
    }
}

/// Four letters are about a token.
fn saved(catalogue: &Catalogue, shown: &[String]) -> u64 {
    let letters = |catalogue: &Catalogue| list_tools(catalogue).len() as u64;
    letters(catalogue).saturating_sub(letters(&catalogue.only(shown))) / 4
}
