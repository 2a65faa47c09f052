//! What was written, section by section. A key that nobody knows is an error, not a default.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Raw {
    pub(super) tools: Vec<Tool>,
    pub(super) models: Vec<Model>,
    pub(super) limits: Limits,
    pub(super) resend: Resend,
    pub(super) mending: Mending,
    pub(super) rotation: Rotation,
    pub(super) plan: Plan,
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
pub(super) struct Model {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) model: String,
    pub(super) key_env: Option<String>,
    pub(super) streaming: Option<bool>,
    pub(super) format: Option<String>,
    pub(super) total_time: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Limits {
    pub(super) tool_calls: Option<u32>,
    pub(super) model_calls: Option<u32>,
    pub(super) active_time: Option<String>,
    pub(super) calls_at_once: Option<u32>,
    pub(super) call_time: Option<String>,
    pub(super) drain_time: Option<String>,
    pub(super) person_time: Option<String>,
    pub(super) calls_in_all: Option<usize>,
    pub(super) calls_per_tool: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Resend {
    pub(super) times: Option<u32>,
    pub(super) first_wait: Option<String>,
    pub(super) longest_wait: Option<String>,
    pub(super) ceiling: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Mending {
    pub(super) resolution: Option<bool>,
    pub(super) feedback: Option<u32>,
    pub(super) context: Option<u32>,
    pub(super) context_statuses: Option<Vec<u16>>,
    pub(super) independent_steps: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rotation {
    pub(super) attempts: Option<u32>,
    pub(super) on_auth_error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Plan {
    pub(super) retries: Option<u32>,
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
