//! A plan that passed all checks and is ready to run.

use std::collections::HashMap;
use std::sync::Arc;

use reknit_bind::{Expression, Parameters};
use reknit_protocol::{AgentName, CapabilityName, SideEffect, StepId};
use reknit_salvage::Schema;

/// A plan that may run: every name is known, every reference leads to an earlier step.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// The steps, in the order of the plan.
    pub steps: Vec<Planned>,
    /// What the plan gives, by name.
    pub outputs: Vec<(String, Expression)>,
    /// Where each step is: searching for it at every event would cost the square of the plan.
    places: HashMap<StepId, usize>,
}

impl Checked {
    /// A plan of these steps. Who makes one answers for its names and references.
    pub fn new(steps: Vec<Planned>, outputs: Vec<(String, Expression)>) -> Self {
        let places = steps.iter().enumerate().map(|(index, step)| (step.id.clone(), index)).collect();
        Self { steps, outputs, places }
    }

    /// The place of a step in the plan.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// The step of this name.
    pub fn step(&self, id: &str) -> Option<&Planned> {
        self.steps.get(self.place(id)?)
    }
}

/// What templates and expressions call the inputs of the plan.
pub const INPUTS: &str = "inputs";

/// One step of a checked plan.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Which step.
    pub id: StepId,
    /// The tool.
    pub agent: AgentName,
    /// Its capability.
    pub capability: CapabilityName,
    /// What it does, in the tool's words.
    pub description: String,
    /// What the step is for, in the plan's words.
    pub instruction: String,
    /// What the tool says a call does to the world.
    pub declared: SideEffect,
    /// The parameters, parsed once.
    pub parameters: Parameters,
    /// The schema they must fit, if the tool has one.
    pub schema: Option<Arc<Schema>>,
    /// How long it may take in all, in milliseconds, if the plan says so.
    pub limit_ms: Option<u64>,
    /// The steps whose results it needs, written or inferred from references.
    pub needs: Vec<StepId>,
    /// Their places in the plan.
    pub needs_at: Vec<usize>,
}
