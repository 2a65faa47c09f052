//! Several models with their scripts, as data.

use std::collections::BTreeMap;
use std::io;

use reknit_protocol::Value;
use serde::Deserialize;

use crate::ScriptedModel;
use crate::model::{RawScript, Script, ScriptError};

/// Several models with their scripts, as data.
///
/// ```
/// use reknit_fakes::Scenario;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let scenario = Scenario::read(r#"{
///     "about": "the first is down for a minute",
///     "models": {
///         "primary": {"rules": [
///             {"for_ms": 60000, "reply": {"status": 503}},
///             {"reply": {"text": "I am back."}}
///         ]},
///         "fallback": {"rules": [{"reply": {"text": "I stand in."}}]}
///     }
/// }"#)?;
/// let models = scenario.start().await?;
/// println!("{}", models["primary"].base_url());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Script::from_value`] documents the format of a script. [`FAULT_SCENARIOS`] has sixteen scenarios to use as they are.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// A description for people.
    pub about: String,
    /// The models by name.
    pub models: BTreeMap<String, Script>,
}

/// Why a scenario cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The text is not JSON.
    #[error("the scenario is not JSON")]
    Json(#[source] reknit_protocol::ParseError),
    /// The JSON does not have the structure of a scenario.
    #[error("the JSON does not have the structure of a scenario")]
    Shape(#[from] serde_json::Error),
    /// The script of a model cannot be used.
    #[error("the script of `{model}` cannot be used")]
    Script {
        /// The name of the model.
        model: String,
        /// What is wrong with the script.
        source: ScriptError,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    about: String,
    models: BTreeMap<String, RawScript>,
}

impl Scenario {
    /// Reads a scenario from JSON.
    pub fn read(text: &str) -> Result<Self, ScenarioError> {
        let value = Value::parse(text).map_err(ScenarioError::Json)?;
        let raw: RawScenario = serde_json::from_str(&value.to_string())?;
        let models = raw.models.into_iter().map(|(model, script)| match Script::try_from(script) {
            Ok(script) => Ok((model, script)),
            Err(source) => Err(ScenarioError::Script { model, source }),
        });
        Ok(Self { about: raw.about, models: models.collect::<Result<_, _>>()? })
    }

    /// Starts every model on a port of its own.
    pub async fn start(self) -> io::Result<BTreeMap<String, ScriptedModel>> {
        let mut running = BTreeMap::new();
        for (name, script) in self.models {
            running.insert(name, ScriptedModel::start(script).await?);
        }
        Ok(running)
    }
}

/// A scenario in which the model `primary` fails in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultScenario {
    /// The name of the failure.
    pub name: &'static str,
    /// The JSON for [`Scenario::read`]. It has the models `primary`, which fails, and `fallback`, which does not. The answer of
    /// each has 60 tokens: `p01...` to `p60...`, or `f01...` to `f60...`.
    pub scenario: &'static str,
}

macro_rules! fault_scenarios {
    ($($number:literal $name:literal,)*) => {
        [$(FaultScenario {
            name: $name,
            scenario: include_str!(concat!("../scenarios/", $number, "-", $name, ".json")),
        }),*]
    };
}

/// Sixteen kinds of failures that clients of real providers have met.
pub const FAULT_SCENARIOS: [FaultScenario; 16] = fault_scenarios![
    "01" "rate-limited-once",
    "02" "rate-limited-for-ever",
    "03" "broken-once",
    "04" "unavailable",
    "05" "reset-once",
    "06" "silent",
    "07" "slow-first-token",
    "08" "cut-stream",
    "09" "stalled-stream",
    "10" "malformed-event",
    "11" "no-terminator",
    "12" "context-length",
    "13" "content-filter",
    "14" "cut-stream-without-prefill",
    "15" "down-for-a-minute",
    "16" "unavailable-and-billed",
];
