//! What was written, section by section. A key that nobody knows is an error, not a default.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::count::Count;
use super::duration::Time;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Raw {
    pub(super) tools: Vec<Tool>,
    pub(super) models: Vec<Model>,
    pub(super) limits: Limits,
    pub(super) resend: Resend,
    pub(super) mending: Mending,
    pub(super) rotation: Rotation,
    pub(super) breaker: Breaker,
    pub(super) plan: Plan,
    pub(super) prompts: Prompts,
    pub(super) answer: Answer,
    pub(super) effects: Effects,
    pub(super) people: People,
    pub(super) journal: Journal,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) url: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_field_names, reason = "the fields are the keys that people write, and `model` is one of them")]
pub(super) struct Model {
    pub(super) name: String,
    pub(super) provider: Option<String>,
    pub(super) url: Option<String>,
    pub(super) model: String,
    pub(super) key_env: Option<String>,
    pub(super) key_file: Option<String>,
    pub(super) streaming: Option<bool>,
    pub(super) format: Option<String>,
    pub(super) max_context: Option<Count>,
    pub(super) connect_time: Option<Time>,
    pub(super) first_byte_time: Option<Time>,
    pub(super) first_token_time: Option<Time>,
    pub(super) idle_time: Option<Time>,
    pub(super) total_time: Option<Time>,
    pub(super) price_input: Option<f64>,
    pub(super) price_output: Option<f64>,
    pub(super) price_cached: Option<f64>,
    pub(super) price_cache_written: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Limits {
    pub(super) tool_calls: Option<Count>,
    pub(super) model_calls: Option<Count>,
    pub(super) active_time: Option<Time>,
    pub(super) calls_at_once: Option<Count>,
    pub(super) call_time: Option<Time>,
    pub(super) drain_time: Option<Time>,
    pub(super) person_time: Option<Time>,
    pub(super) calls_in_all: Option<Count>,
    pub(super) calls_per_tool: Option<Count>,
    pub(super) calls_per_model: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Resend {
    pub(super) times: Option<Count>,
    pub(super) first_wait: Option<Time>,
    pub(super) longest_wait: Option<Time>,
    pub(super) ceiling: Option<Time>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Mending {
    pub(super) resolution: Option<bool>,
    pub(super) learn: Option<bool>,
    pub(super) facts: Option<Count>,
    pub(super) feedback: Option<Count>,
    pub(super) context: Option<Count>,
    pub(super) context_statuses: Option<Vec<Count>>,
    pub(super) independent_steps: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rotation {
    pub(super) policy: Option<String>,
    pub(super) attempts: Option<Count>,
    pub(super) on_auth_error: Option<String>,
    pub(super) short_wait: Option<Time>,
    pub(super) longest_wait: Option<Time>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Breaker {
    pub(super) calls: Option<Count>,
    pub(super) percent: Option<Count>,
    pub(super) window: Option<Time>,
    pub(super) rest: Option<Time>,
    pub(super) first_rest: Option<Time>,
    pub(super) longest_cool_down: Option<Time>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Plan {
    pub(super) retries: Option<Count>,
    pub(super) choose_from: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Prompts {
    pub(super) folder: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Answer {
    pub(super) by: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Effects {
    pub(super) undeclared: Option<String>,
    pub(super) classes: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct People {
    pub(super) ask: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Journal {
    pub(super) path: Option<String>,
    pub(super) durability: Option<String>,
}
