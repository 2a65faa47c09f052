//! The settings that decide how a failed call is repaired.

use serde::{Deserialize, Serialize};

/// The parts of a run's policy that choose a remedy.
#[derive(Debug, Clone, Copy)]
pub struct LadderPolicy<'a> {
    pub resend: &'a ResendPolicy,
    pub mending: &'a MendingPolicy,
    pub people: PeoplePolicy,
}

/// How often and after which waits the same call is sent again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResendPolicy {
    pub times: u32,
    /// The first backoff; each further one is twice as long.
    pub base_ms: u64,
    /// The longest backoff that no tool asked for.
    pub max_ms: u64,
    /// The longest wait that a tool may ask for; the step gives up if the tool asks for more.
    pub max_retry_after_ms: u64,
}

/// How a rejected call is repaired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MendingPolicy {
    /// Whether a model may say where a value is that the plan does not give, once for each step.
    pub resolution: ResolutionPolicy,
    /// Whether this run uses the mappings that earlier runs learned, and keeps its own for later runs.
    #[serde(default)]
    pub learning: Learning,
    /// How often the facts in errors may change the call of one step before a model is asked; 0 is never.
    pub facts: u32,
    #[serde(default)]
    pub rule_changes: RuleChanges,
    /// How often learned rules may change the call of one step before a model is asked; 0 is never.
    #[serde(default = "default_rule_uses", skip_serializing_if = "is_default_rule_uses")]
    pub rules: u32,
    /// How often a model may be shown the error of one step.
    pub feedback: u32,
    /// How often a model may be shown the error of one step with the request and the results.
    pub context: u32,
    /// The statuses for which the context rung is allowed.
    pub context_statuses: Vec<u16>,
    /// Whether the context rung is allowed for a step without dependencies, which has only the request to go by.
    pub independent_steps: IndependentSteps,
    /// Who may correct a call that no model of the ladder may correct.
    #[serde(default, skip_serializing_if = "Corrector::is_nobody")]
    pub corrector: Corrector,
}

/// Who may correct a call that no model of the ladder may correct. The error of the call says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Corrector {
    #[default]
    Nobody,
    /// The agent that made the call, with another call.
    Agent,
}

impl Corrector {
    /// Whether nobody may.
    pub fn is_nobody(&self) -> bool {
        *self == Self::Nobody
    }
}

/// Whether errors are looked for in the replies of a tool that have the status of a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorsInSuccess {
    #[default]
    Detect,
    /// Only `success: false` is an error: the tool returns texts that look like errors.
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleChanges {
    /// As far as the side effect of the call allows.
    #[default]
    BySideEffect,
    /// Only the spelling of names and values, whatever the side effect.
    SpellingOnly,
}

/// Whether the context rung is allowed for a step without dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndependentSteps {
    /// It is: the request may help.
    Allowed,
    /// It is not: the step gives up.
    Denied,
}

/// Whether runs learn from each other where values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learning {
    #[default]
    On,
    /// Each run starts without learned mappings.
    Off,
}

/// Whether a model may say where a value is that the plan does not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionPolicy {
    /// Once for each step, before its call.
    Once,
    /// Never: a missing value is treated as a rejected call.
    Off,
}

/// Whether a person can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeoplePolicy {
    /// A person can be asked, and the run waits for the decision.
    #[default]
    Ask,
    /// Nobody can be asked: what only a person may decide is not done.
    Nobody,
}

fn default_rule_uses() -> u32 {
    2
}

/// Runs that were started before there were learned rules have no such field, and their snapshots stay what they are.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_default_rule_uses(count: &u32) -> bool {
    *count == default_rule_uses()
}

impl Default for ResendPolicy {
    fn default() -> Self {
        Self { times: 3, base_ms: 1_000, max_ms: 30_000, max_retry_after_ms: 120_000 }
    }
}

impl Default for MendingPolicy {
    fn default() -> Self {
        Self {
            resolution: ResolutionPolicy::Once,
            learning: Learning::On,
            facts: 2,
            rule_changes: RuleChanges::BySideEffect,
            rules: default_rule_uses(),
            feedback: 2,
            context: 2,
            context_statuses: vec![400, 404, 409, 422],
            independent_steps: IndependentSteps::Allowed,
            corrector: Corrector::Nobody,
        }
    }
}
