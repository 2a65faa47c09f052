//! The rules of a run. They are part of its first event, so a change of configuration never changes a run that began.

use std::collections::BTreeMap;

use reknit_dialogue::{Message, Money, Prices, Request, Rules, TargetName, Temperature};
use reknit_mend::{LadderPolicy, Mending, People, Resend};
use reknit_protocol::SideEffect;
use serde::{Deserialize, Serialize};

/// The rules of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// What it may spend.
    pub limits: Limits,
    /// How a call that failed in passing is sent again.
    pub resend: Resend,
    /// How a rejected call is mended.
    pub mending: Mending,
    /// How models are taken in turn.
    pub rotation: Rules,
    /// How plans are made.
    pub planning: Planning,
    /// How freely and at what length models may answer.
    #[serde(default)]
    pub asking: Asking,
    /// Who writes the answer.
    pub synthesis: Synthesis,
    /// What calls do to the world, where the tool says otherwise or nothing: `agent/capability` or `agent`.
    pub effects: Effects,
    /// Whether a person can be asked.
    pub people: People,
    /// What models cost, where that is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<TargetName, Prices>,
    /// Whether people may see what models were asked and what they answered, word for word.
    #[serde(default)]
    pub llm_debug: LlmDebug,
}

/// What a run may spend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Calls of tools.
    pub tool_calls: u32,
    /// Questions to models, one of which is kept for the answer.
    pub model_calls: u32,
    /// What models may cost, in the unit of their prices. A model without a price is not asked then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// Time in which it is not waiting for a person.
    pub active_ms: u64,
    /// Calls under way at once.
    pub calls_at_once: u32,
    /// How long a step may take in all, from when its inputs are there, without the time in which a person is asked. What
    /// a plan says about a step comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ms: Option<u64>,
    /// How long one call may take.
    pub call_ms: u64,
    /// How long a call may still take when the run is cancelled.
    pub drain_ms: u64,
    /// How long a person may take.
    pub person_ms: u64,
}

/// How plans are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planning {
    /// How often a plan that cannot be read or run is asked for again.
    pub retries: u32,
    /// From how many capabilities on only some of them are shown to the planner.
    pub choose_from: u32,
}

/// How freely and at what length models may answer, for each question of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asking {
    /// For the tools that a plan may need, out of many.
    pub choice: Freedom,
    /// For a plan.
    pub plan: Freedom,
    /// For where a value is; the length grows with the number of values.
    pub resolution: Freedom,
    /// For what an error says.
    pub feedback: Freedom,
    /// For what all that is known says.
    pub context: Freedom,
    /// For the answer.
    pub answer: Freedom,
}

/// How freely and at what length a model may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freedom {
    /// How freely it may choose its words.
    pub temperature: Temperature,
    /// The most it may write, in tokens.
    pub max_tokens: u32,
}

/// Who writes the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Synthesis {
    /// A model, from the results; if it fails, the template.
    Model,
    /// Code: what was done, mended and left out, one line each.
    Template,
    /// Code: the results as one JSON object, by the ids of their steps.
    Raw,
}

/// Whether people may see what models were asked and what they answered, word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LlmDebug {
    /// They may.
    On,
    /// The run keeps it to itself, for going on after a crash.
    #[default]
    Off,
}

/// What calls do to the world, against or beyond what tools say.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Effects {
    /// How a call is treated whose tool does not say what it does.
    pub undeclared: Undeclared,
    /// The class of a capability (`agent/capability`) or of all of a tool's (`agent`).
    pub classes: BTreeMap<String, SideEffect>,
}

/// How a call is treated whose tool does not say what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undeclared {
    /// It is sent again under the same key.
    #[default]
    SendAgain,
    /// As if it were unsafe: a person is asked.
    Ask,
}

impl Freedom {
    pub(crate) fn request(self, messages: Vec<Message>) -> Request {
        Request::new(messages, self.max_tokens).with_temperature(self.temperature)
    }
}

impl Effects {
    /// The class that counts for a capability.
    pub fn class(&self, agent: &str, capability: &str, declared: SideEffect) -> SideEffect {
        let set = self.classes.get(&format!("{agent}/{capability}")).or_else(|| self.classes.get(agent)).copied();
        match (set.unwrap_or(declared), self.undeclared) {
            (SideEffect::Undeclared, Undeclared::Ask) => SideEffect::Unsafe,
            (class, _) => class,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            resend: Resend::default(),
            mending: Mending::default(),
            rotation: Rules::default(),
            planning: Planning::default(),
            asking: Asking::default(),
            synthesis: Synthesis::Model,
            effects: Effects::default(),
            people: People::Ask,
            prices: BTreeMap::new(),
            llm_debug: LlmDebug::Off,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_calls: 50,
            model_calls: 25,
            money: None,
            active_ms: 10 * 60 * 1000,
            calls_at_once: 5,
            step_ms: None,
            call_ms: 30_000,
            drain_ms: 5_000,
            person_ms: 7 * 24 * 60 * 60 * 1000,
        }
    }
}

impl Default for Planning {
    fn default() -> Self {
        Self { retries: 2, choose_from: 20 }
    }
}

/// 0.3: a little freedom helps after a plan that could not be used.
const PLAN_TEMPERATURE: Temperature = match Temperature::from_hundredths(30) {
    Some(temperature) => temperature,
    None => Temperature::ZERO,
};

impl Default for Asking {
    fn default() -> Self {
        let exact = |max_tokens| Freedom { temperature: Temperature::ZERO, max_tokens };
        Self {
            choice: exact(500),
            plan: Freedom { temperature: PLAN_TEMPERATURE, max_tokens: 2_000 },
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
