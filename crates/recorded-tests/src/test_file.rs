//! A recorded test as a file.
//!
//! ```text
//! request | plan + inputs | agent + input     what is run
//! policy, prompts, targets, tools             by which rules, with which tools and models
//! calls, models, decisions                    what they answer, in any order
//! expect                                      what must hold
//! ```

mod fields;
mod read;
mod read_expectations;
mod read_recordings;
mod write;

use reknit_expressions::ParameterMapping;
use reknit_plan::Catalogue;
use reknit_protocol::{Object, Value};

use crate::expectations::Expectations;
use crate::recording::{CallRecording, DecisionRecording, ModelRecording};
pub(crate) use write::expectations_yaml;

/// A recorded test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestFile {
    pub about: Option<String>,
    pub start: TestStart,
    /// The time at which the run starts, in milliseconds since 1970.
    pub at_ms: i64,
    /// Seed for deterministic jitter.
    pub seed: u64,
    pub metadata: Object,
    /// The names of the models, the preferred one first.
    pub targets: Vec<String>,
    /// How the policy differs from the default.
    pub policy: Value,
    /// The prompt templates that differ from those of this build, by name.
    pub prompts: Value,
    /// Where earlier runs found values that plans left out.
    pub mappings: Vec<ParameterMapping>,
    pub tools: Catalogue,
    /// The answers of tools.
    pub calls: Vec<CallRecording>,
    /// The answers of models.
    pub models: Vec<ModelRecording>,
    pub decisions: Vec<DecisionRecording>,
    /// How many tokens questions have, in the order in which they are counted.
    pub token_counts: Vec<Option<u64>>,
    pub expect: Expectations,
}

/// What a test runs.
#[derive(Debug, Clone, PartialEq)]
pub enum TestStart {
    /// A request, for which a model writes the plan.
    Request(String),
    Plan {
        plan: PlanSource,
        /// The request, if it is not that of the plan.
        request: Option<String>,
        inputs: Object,
        /// The agents that steps of the plan run, if they are not files.
        agents: Vec<TestAgent>,
    },
    Agent {
        agent: AgentSource,
        input: String,
        /// What its user says afterwards, after each report.
        messages: Vec<String>,
    },
}

/// Where the plan of a test is.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanSource {
    /// In a file, by its path relative to the test.
    File(String),
    Inline(Value),
}

/// Where the agent of a test is.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentSource {
    /// In a file, by its path relative to the test.
    File(String),
    Inline(Box<TestAgent>),
}

/// An agent in a test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestAgent {
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    pub prompt: String,
    /// How its rules differ from the default.
    pub rules: Value,
    /// Its tools, each as `tool` or `tool/capability`; all of the test if it names none.
    pub tools: Option<Vec<String>>,
    /// Its models; all of the test if it names none.
    pub targets: Option<Vec<String>>,
    /// How its policy differs from the default; that of the test if it has none.
    pub policy: Option<Value>,
    pub agents: Vec<TestAgent>,
}
