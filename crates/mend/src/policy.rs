//! The settings that decide how a failed call is repaired.

use serde::{Deserialize, Serialize};

/// The parts of a run's policy that choose a remedy.
#[derive(Debug, Clone, Copy)]
pub struct LadderPolicy<'a> {
    /// How a call is sent again unchanged.
    pub resend: &'a Resend,
    /// How a rejected call is repaired.
    pub mending: &'a Mending,
    /// Whether a person can be asked.
    pub people: People,
}

/// How a call is sent again unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resend {
    /// How often, after the first time.
    pub times: u32,
    /// The first wait; it doubles.
    pub base_ms: u64,
    /// Where doubling ends: the longest wait that no tool asked for.
    pub max_ms: u64,
    /// The longest wait a tool may ask for; beyond it the step gives up.
    pub ceiling_ms: u64,
}

/// How a rejected call is mended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mending {
    /// Whether a model may say where a value is that the plan does not give, once for each step.
    pub resolution: Resolution,
    /// Whether a value is looked for where an earlier run found it, and what is found is kept for later ones.
    #[serde(default)]
    pub learning: Learning,
    /// How often the facts that errors state may change the call of one step, before any model is asked; 0 is never.
    pub facts: u32,
    /// How often a model may see the error of one step.
    pub feedback: u32,
    /// How often a model may see the error of one step with all that is known.
    pub context: u32,
    /// The statuses for which the second is allowed.
    pub context_statuses: Vec<u16>,
    /// Whether the second is allowed for a step that needs no other: then only the request can help.
    pub independent_steps: IndependentSteps,
}

/// What all that is known is good for where a step needs no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndependentSteps {
    /// The request may help.
    Mended,
    /// Nothing: the step gives up.
    Left,
}

/// Whether runs learn from each other where values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learning {
    /// They do.
    #[default]
    On,
    /// Each run is on its own.
    Off,
}

/// Whether a model may say where a value is that the plan does not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Once for each step, before its call.
    Once,
    /// Never: what is missing is treated as a refusal.
    Off,
}

/// Whether a person can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum People {
    /// Yes: the run waits.
    Ask,
    /// No: what only a person could decide is left undone.
    Nobody,
}

impl Default for Resend {
    fn default() -> Self {
        Self { times: 3, base_ms: 1_000, max_ms: 30_000, ceiling_ms: 120_000 }
    }
}

impl Default for Mending {
    fn default() -> Self {
        Self {
            resolution: Resolution::Once,
            learning: Learning::On,
            facts: 2,
            feedback: 2,
            context: 2,
            context_statuses: vec![400, 404, 409, 422],
            independent_steps: IndependentSteps::Mended,
        }
    }
}
