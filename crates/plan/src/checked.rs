//! A plan that passed all checks and is ready to run.

use std::collections::HashMap;
use std::sync::Arc;

use reknit_expressions::{Expression, Parameters, Reference};
use reknit_protocol::{CapabilityName, ErrorFields, KeyRule, SideEffect, StepId, ToolName, Value};
use reknit_salvage::Schema;
use serde::{Deserialize, Serialize};

/// The name by which templates and expressions refer to the inputs of the plan.
pub const INPUTS: &str = "inputs";

/// The name by which a step with `foreach` refers to the item that it runs for.
pub const ITEM: &str = "item";

/// The name by which the conditions about a step's own result call it.
pub const RESULT: &str = "result";

/// The name by which `verify` calls the result of its read call.
pub const REPLY: &str = "reply";

/// The position of a step in its plan, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepIndex(usize);

impl StepIndex {
    /// The index of the step at a position.
    pub const fn new(position: usize) -> Self {
        Self(position)
    }

    /// The position, to index lists that run parallel to the steps of the plan.
    pub const fn get(self) -> usize {
        self.0
    }
}

/// A plan that may run: every name is known, and every reference leads to an earlier step.
#[derive(Debug, Clone, Default)]
pub struct CheckedPlan {
    /// The steps, in the order of the plan, followed by the items of its loops.
    pub steps: Vec<PlannedStep>,
    pub outputs: Vec<PlannedOutput>,
    /// How many steps are written in the plan.
    written: usize,
    /// The index of each step: a search at every event would cost the square of the plan.
    indices: HashMap<StepId, StepIndex>,
}

impl CheckedPlan {
    /// A plan of these steps. The caller guarantees that names and references are valid.
    pub fn new(steps: Vec<PlannedStep>, outputs: Vec<PlannedOutput>) -> Self {
        let indices = steps.iter().enumerate().map(|(index, step)| (step.id.clone(), StepIndex(index))).collect();
        Self { written: steps.len(), steps, outputs, indices }
    }

    /// The steps that are written in the plan, without the items of its loops.
    pub fn written_steps(&self) -> &[PlannedStep] {
        self.steps.get(..self.written).unwrap_or(&self.steps)
    }

    /// Adds a step for one item of a loop: `refund[3]`. `None` if there is no step at that index.
    pub fn add_item(&mut self, item: LoopItem) -> Option<StepIndex> {
        let of_loop = self.get(item.of)?;
        let id = StepId::new(format!("{}[{}]", of_loop.id, item.position));
        let step = PlannedStep { id: id.clone(), item: Some(item), ..of_loop.clone() };
        let index = StepIndex(self.steps.len());
        self.steps.push(step);
        self.indices.insert(id, index);
        Some(index)
    }

    pub fn index_of(&self, id: &str) -> Option<StepIndex> {
        self.indices.get(id).copied()
    }

    pub fn get(&self, index: StepIndex) -> Option<&PlannedStep> {
        self.steps.get(index.0)
    }

    pub fn step(&self, id: &str) -> Option<&PlannedStep> {
        self.get(self.index_of(id)?)
    }

    /// The indices of all steps, in the order of the plan.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = StepIndex> + ExactSizeIterator + use<> {
        (0..self.steps.len()).map(StepIndex)
    }
}

#[derive(Debug, Clone)]
pub struct PlannedOutput {
    pub name: String,
    /// Where its value comes from.
    pub expression: Expression,
    /// The schema that its value must fit, if the plan declares a type.
    pub schema: Option<Arc<Schema>>,
}

/// What a plan says about when a step runs, and what follows from its failure.
#[derive(Debug, Clone, Default)]
pub struct StepControls {
    /// The step runs once for each item of a list.
    pub foreach: Option<Foreach>,
    /// The step is skipped if this is false.
    pub when: Option<Expression>,
    pub on_failure: OnFailure,
    /// Whether a person approves each call, whatever the policy says.
    pub approve: bool,
    /// How often a call is sent again, instead of the number in the policy.
    pub resends: Option<u32>,
    /// The call is made again until its result is as wished.
    pub until: Option<Until>,
    /// Whether the result is as wished; otherwise the step is unconfirmed.
    pub expect: Option<Expression>,
    /// A read call that tells whether the call had the wished effect; otherwise the step is unconfirmed.
    pub verify: Option<Verify>,
    /// The step that computes the inputs of the plan which the step is part of. If it is skipped by its condition, so is this one.
    pub within: Option<StepId>,
}

impl StepControls {
    /// The expressions, each with the keys that it is written under.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = (&'static [&'static str], &Expression)> {
        let list = self.foreach.iter().map(|foreach| (["foreach"].as_slice(), &foreach.list));
        let when = self.when.iter().map(|condition| (["when"].as_slice(), condition));
        let until = self.until.iter().map(|until| (["until", "condition"].as_slice(), &until.condition));
        let expect = self.expect.iter().map(|condition| (["expect"].as_slice(), condition));
        let verify = self.verify.iter().map(|verify| (["verify", "expect"].as_slice(), &verify.expect));
        list.chain(when).chain(until).chain(expect).chain(verify)
    }

    /// The references in all expressions and templates.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        let of_verify = self.verify.iter().flat_map(|verify| verify.parameters.references());
        self.expressions().flat_map(|(_, expression)| expression.references()).chain(of_verify)
    }
}

/// A call that is made again and again, until its result fulfils a condition.
#[derive(Debug, Clone)]
pub struct Until {
    /// Whether the result, called `result`, is as wished.
    pub condition: Expression,
    /// The time between two calls, in milliseconds.
    pub wait_ms: u64,
    /// How many results are asked for at most.
    pub times: u32,
}

/// A read call after the call of a step, which tells whether that call had the wished effect.
#[derive(Debug, Clone)]
pub struct Verify {
    pub tool: ToolName,
    pub capability: CapabilityName,
    /// Its parameters, which may refer to the `result` of the step.
    pub parameters: Parameters,
    /// The schema that the parameters must fit, if the tool has one.
    pub schema: Option<Arc<Schema>>,
    /// Whether the reply, called `reply`, confirms the `result` of the step.
    pub expect: Expression,
    /// The time between two calls, in milliseconds.
    pub wait_ms: u64,
    /// How many replies are asked for at most.
    pub times: u32,
}

/// The loop of a step that runs once for each item of a list.
#[derive(Debug, Clone)]
pub struct Foreach {
    pub list: Expression,
    /// How many items run at the same time, if the plan says so.
    pub at_once: Option<u32>,
    /// How many items the list may have, if the plan says so.
    pub max_items: Option<u32>,
}

/// Which item of a loop a step runs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopItem {
    /// The step with the loop.
    pub of: StepIndex,
    /// The position of the item in the list, counted from 0.
    pub position: usize,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub enum OnFailure {
    /// The steps that need it are skipped, and the others go on.
    #[default]
    SkipDependents,
    /// No other step starts.
    Stop,
    /// The steps that need it go on. A reference to its result has no value, which `??` replaces.
    Continue,
    /// The steps that need it get this value.
    Use(Value),
}

impl OnFailure {
    /// Whether the steps that need the failed step go on.
    pub fn keeps_dependents(&self) -> bool {
        matches!(self, Self::Continue | Self::Use(_))
    }
}

#[derive(Debug, Clone)]
pub struct PlannedStep {
    pub id: StepId,
    pub tool: ToolName,
    pub capability: CapabilityName,
    /// What the capability does, as the tool describes it.
    pub description: String,
    /// What the step is for, as the plan says it.
    pub instruction: String,
    /// The side effect of a call, as the tool declares it.
    pub declared: SideEffect,
    /// Which parameters identify an action, as the tool declares it.
    pub declared_key: Option<KeyRule>,
    /// The parsed parameters. The items of a loop share them.
    pub parameters: Arc<Parameters>,
    /// How the text in which a model wrote the call was changed to read it.
    pub changes_when_read: Vec<String>,
    /// The schema that the parameters must fit, if the tool has one.
    pub schema: Option<Arc<Schema>>,
    /// The schema that the tool announces for its result.
    pub announced: Option<Arc<Value>>,
    /// Where the errors of the tool name a parameter.
    pub error_fields: Option<ErrorFields>,
    /// The time limit of the step in milliseconds, if the plan sets one.
    pub limit_ms: Option<u64>,
    /// Whether it calls no tool: its result is its parameter `result`.
    pub computed: bool,
    /// When it runs and what follows from its failure. The items of a loop share it.
    pub controls: Arc<StepControls>,
    /// The item of a loop that it runs for.
    pub item: Option<LoopItem>,
    /// The steps whose results it needs, declared in the plan or inferred from references.
    pub dependencies: Vec<StepId>,
    /// The indices of the dependencies, in the same order.
    pub dependency_indices: Vec<StepIndex>,
}

impl PlannedStep {
    pub fn foreach(&self) -> Option<&Foreach> {
        self.controls.foreach.as_ref().filter(|_| self.item.is_none())
    }

    /// The condition that decides whether this step runs. A condition that refers to the item of a loop is that of its items,
    /// any other one that of the whole loop.
    pub fn condition(&self) -> Option<&Expression> {
        let condition = self.controls.when.as_ref()?;
        let is_of_item = || condition.references().iter().any(|reference| reference.step().as_str() == ITEM);
        (self.controls.foreach.is_none() || is_of_item() == self.item.is_some()).then_some(condition)
    }
}
