//! The policy of a run. It is part of the first event, so a change of configuration does not affect a run that has
//! started.

use std::collections::BTreeMap;

use reknit_mend::{ErrorsInSuccess, LadderPolicy, LearnedRule, MendingPolicy, PeoplePolicy, ResendPolicy};
use reknit_model_api::{Message, ModelRequest, Money, Prices, RotationRules, TargetName, Temperature};
use reknit_plan::{Catalogue, PlanLanguage, StepControls};
use reknit_protocol::{KeyRule, Plan, SideEffect, Step};
use serde::{Deserialize, Serialize};

use crate::approval_rules::ApprovalPolicy;
use crate::declared_roles::{RoleRule, TrustRule};
use crate::guard::GuardLevel;
use crate::outcome_check::{Confirmation, OutcomeCheck};
use crate::stored::is_default;

/// The policy of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Policy {
    pub limits: Limits,
    /// Retries after transient failures.
    pub resend: ResendPolicy,
    pub mending: MendingPolicy,
    pub rotation: RotationRules,
    pub planning: Planning,
    /// Temperature and length of the models' answers.
    #[serde(default)]
    pub asking: SamplingPolicy,
    pub synthesis: Synthesis,
    /// The side effects of calls, where the configuration overrides the tool: by `agent/capability` or `agent`.
    pub effects: SideEffectPolicy,
    /// Whether errors are looked for in successful replies, by tool; they are for a tool that is not listed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors_in_success: BTreeMap<String, ErrorsInSuccess>,
    /// What follows if a result does not fit the schema that its tool announces.
    #[serde(default = "UnfitResults::ignore", skip_serializing_if = "UnfitResults::is_ignored")]
    pub unfit_results: UnfitResults,
    /// Whether a person can be asked.
    pub people: PeoplePolicy,
    /// Which calls a person approves before they are sent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub approvals: ApprovalPolicy,
    /// Whether the calls of a loop that need an approval are asked about together.
    #[serde(default = "LoopApprovals::items", skip_serializing_if = "LoopApprovals::is_items")]
    pub loop_approvals: LoopApprovals,
    /// The prices of models, as far as they are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<TargetName, Prices>,
    /// The keys of the request's metadata that models see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompt_metadata: Vec<String>,
    /// Whether people may see the exact prompts and answers of models.
    #[serde(default)]
    pub llm_debug: LlmDebug,
    /// The rules learned in earlier runs that were accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<LearnedRule>,
    /// Which kind of engine keeps and drives the run. The other kind must not: calls would be made twice.
    #[serde(default, skip_serializing_if = "is_default")]
    pub engine: EngineKind,
}

/// Which kind of engine keeps and drives a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// The process that has the journal.
    #[default]
    Embedded,
    /// An engine on other machines; the journal has a copy.
    Remote,
}

impl EngineKind {
    /// Whether the process that has the journal drives the run.
    pub fn is_embedded(&self) -> bool {
        *self == Self::Embedded
    }
}

/// The budget and time limits of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    pub tool_calls: u32,
    /// Model calls. One is reserved for the answer.
    pub model_calls: u32,
    /// The cost of model calls, in the currency of the prices. With this limit, models without a price are not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// What the budget of whoever pays leaves for model calls. It limits the cost as `money` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Money>,
    /// Active time: without waiting for a person or a job. `None` is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_ms: Option<u64>,
    /// Tool calls in progress at once.
    pub calls_at_once: u32,
    /// The items of one loop. A person's plan can override it per step, and its items add to the limit of tool calls.
    #[serde(default = "default_max_items", skip_serializing_if = "is_default_max_items")]
    pub max_items: u32,
    /// The time for one step, from when its inputs are available, without waiting for a person or a job. A plan can override it
    /// per step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ms: Option<u64>,
    pub call_ms: u64,
    /// The time for calls in progress to complete after the run was cancelled.
    pub drain_ms: u64,
    pub person_ms: u64,
    /// The time for a job on which a tool works after it has answered.
    pub job_ms: u64,
}

impl Limits {
    /// The most that model calls may cost; `None` is no limit.
    pub fn cost(&self) -> Option<Money> {
        self.money.into_iter().chain(self.budget).min()
    }
}

fn default_max_items() -> u32 {
    1_000
}

/// Runs that were started before there were loops have no such field, and their snapshots stay what they are.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_default_max_items(count: &u32) -> bool {
    *count == default_max_items()
}

/// How a person is asked about the calls of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopApprovals {
    /// One question about each call, when it is due.
    Items,
    /// One question about all calls that need an approval, before the first one.
    #[default]
    List,
}

impl LoopApprovals {
    /// Runs that were started before there were such questions have no such field, and are replayed as they were.
    fn items() -> Self {
        Self::Items
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_items(&self) -> bool {
        *self == Self::Items
    }
}

/// What follows if the result of a step does not fit the schema that its tool announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnfitResults {
    /// Nothing: results are not checked.
    Ignore,
    /// The answer says so.
    #[default]
    Warn,
    /// The step is unconfirmed.
    Fail,
}

impl UnfitResults {
    /// Runs that were started before results were checked have no such field, and are replayed as they were.
    fn ignore() -> Self {
        Self::Ignore
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_ignored(&self) -> bool {
        *self == Self::Ignore
    }
}

/// The rules for planning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planning {
    /// How often a model is asked again after an unreadable or invalid plan.
    pub retries: u32,
    /// With at least this many capabilities, the planner is shown a selection.
    pub choose_from: u32,
    /// The run ends with the plan as its answer, in the form people write; no step is started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only: bool,
    /// What the planner is told that it may write. Its prompt is one of the templates.
    #[serde(default = "PlanLanguage::calls", skip_serializing_if = "PlanLanguage::is_calls")]
    pub language: PlanLanguage,
    /// How often the planner is asked for a plan of what is missing, if steps of its plan failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replans: u32,
}

/// Temperature and length of answers, per kind of question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SamplingPolicy {
    pub choice: Sampling,
    pub plan: Sampling,
    /// For missing values; the length grows with their number.
    pub resolution: Sampling,
    pub feedback: Sampling,
    /// For a correction by all known values.
    pub context: Sampling,
    pub answer: Sampling,
}

/// Temperature and length of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    pub temperature: Temperature,
    pub max_tokens: u32,
}

/// How the answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Synthesis {
    /// A model writes it from the results; if it fails, the template is used.
    #[default]
    Model,
    /// Code lists results, repairs and missing results, one line each.
    Template,
    /// Code prints the results as one JSON object, by step id.
    Raw,
}

/// Whether people may see the exact prompts and answers of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LlmDebug {
    /// People may see them.
    On,
    /// They are only used to resume the run.
    #[default]
    Off,
}

/// The side effects of calls, where the configuration overrides or completes what tools declare.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SideEffectPolicy {
    /// The treatment of calls whose tool declares no side effect.
    pub undeclared: UndeclaredPolicy,
    /// The side effect of a capability (`agent/capability`) or of a whole tool (`agent`).
    pub classes: BTreeMap<String, SideEffect>,
    /// How to find out whether a call took effect, by `agent/capability`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, OutcomeCheck>,
    /// Which parameters identify a deed, by `agent/capability`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, KeyRule>,
    /// What is expected of results, by `agent/capability`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub confirmations: BTreeMap<String, Confirmation>,
    /// The roles of parameters; the first entry that matches counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleRule>,
    /// How strictly calls are guarded against hostile data: an agent's own values need evidence, a second plan keeps to the
    /// capabilities of the first, and no read carries results to an address that nobody named.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guard: GuardLevel,
    /// The results whose values count as evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<TrustRule>,
}

/// The treatment of calls whose tool declares no side effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndeclaredPolicy {
    /// A call over a protocol with idempotency keys is sent again under the same key; about any other one, a person is asked.
    #[default]
    BySource,
    /// The call is sent again under the same idempotency key.
    SendAgain,
    /// The call counts as unsafe: a person is asked.
    Ask,
}

impl Sampling {
    pub(crate) fn to_model_request(self, messages: Vec<Message>) -> ModelRequest {
        ModelRequest::new(messages, self.max_tokens).with_temperature(self.temperature)
    }
}

impl SideEffectPolicy {
    /// How to find out whether a call of this capability took effect.
    pub fn check(&self, agent: &str, capability: &str) -> Option<&OutcomeCheck> {
        self.checks.get(&format!("{agent}/{capability}"))
    }

    /// Which parameters of this capability identify a deed, if the configuration says so.
    pub fn key(&self, agent: &str, capability: &str) -> Option<&KeyRule> {
        if self.keys.is_empty() { None } else { self.keys.get(&format!("{agent}/{capability}")) }
    }

    /// Adds `expect` and `verify` of the configuration to the steps of a plan that do not have their own.
    pub fn add_confirmations(&self, plan: &mut Plan) {
        if self.confirmations.is_empty() {
            return;
        }
        for step in plan.steps.iter_mut().filter(|step| !step.is_computed()) {
            let name = format!("{}/{}", step.tool, step.capability().unwrap_or_default());
            if let Some(confirmation) = self.confirmations.get(&name) {
                confirmation.add_to(step);
            }
        }
    }

    /// `expect` and `verify` of the configuration, for a call that no plan contains.
    pub(crate) fn confirmation_of(&self, tool: &str, capability: &str, catalogue: &Catalogue) -> StepControls {
        let confirmation = self.confirmations.get(&format!("{tool}/{capability}"));
        confirmation.map(|confirmation| confirmation.controls(catalogue)).unwrap_or_default()
    }

    /// The side effect of the call of a step; `None` if the catalogue does not have its capability.
    pub fn class_of_step(&self, step: &Step, catalogue: &Catalogue) -> Option<SideEffect> {
        let (agent, capability) = (step.tool.as_str(), step.capability()?);
        let entry = catalogue.entry(agent, capability)?;
        Some(self.class(agent, capability, entry.capability.effect))
    }

    /// The side effect of a capability: configured, or else declared.
    pub fn class(&self, agent: &str, capability: &str, declared: SideEffect) -> SideEffect {
        let set = self.classes.get(&format!("{agent}/{capability}")).or_else(|| self.classes.get(agent)).copied();
        // A word in the configuration gives a tool no idempotency keys.
        let class = set.map_or(declared, |set| set.of_tool(declared == SideEffect::Undeclared));
        match self.undeclared {
            UndeclaredPolicy::Ask if class.is_undeclared() => SideEffect::Unsafe,
            UndeclaredPolicy::SendAgain if class.is_undeclared() => SideEffect::Undeclared,
            _ => class,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_calls: 50,
            model_calls: 25,
            money: None,
            budget: None,
            active_ms: Some(10 * 60 * 1000),
            calls_at_once: 5,
            max_items: default_max_items(),
            step_ms: None,
            call_ms: 30_000,
            drain_ms: 5_000,
            person_ms: 7 * 24 * 60 * 60 * 1000,
            job_ms: 24 * 60 * 60 * 1000,
        }
    }
}

impl Default for Planning {
    fn default() -> Self {
        Self { retries: 2, choose_from: 20, only: false, language: PlanLanguage::default(), replans: 1 }
    }
}

/// 0.3: some variation helps after a rejected plan.
const PLAN_TEMPERATURE: Temperature = match Temperature::from_hundredths(30) {
    Some(temperature) => temperature,
    None => Temperature::ZERO,
};

impl Default for SamplingPolicy {
    fn default() -> Self {
        let exact = |max_tokens| Sampling { temperature: Temperature::ZERO, max_tokens };
        Self {
            choice: exact(500),
            plan: Sampling { temperature: PLAN_TEMPERATURE, max_tokens: 2_000 },
            resolution: exact(400),
            feedback: exact(500),
            context: exact(1_000),
            answer: exact(2_000),
        }
    }
}

impl Policy {
    /// The parts that choose the remedy for a failed call.
    pub fn ladder(&self) -> LadderPolicy<'_> {
        LadderPolicy { resend: &self.resend, mending: &self.mending, people: self.people }
    }
}
