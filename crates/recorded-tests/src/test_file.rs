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
mod write_expectations;

use reknit_expressions::ParameterMapping;
use reknit_plan::Catalogue;
use reknit_protocol::{Object, Value};

use crate::expectations::Expectations;
use crate::recording::{CallRecording, DecisionRecording, ModelRecording};
pub(crate) use write_expectations::expectations_yaml;

/// A recorded test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestFile {
    /// What the test is about.
    pub about: Option<String>,
    /// What is run.
    pub start: TestStart,
    /// The time at which the run starts, in milliseconds since 1970.
    pub at_ms: i64,
    /// Seed for deterministic jitter.
    pub seed: u64,
    /// The metadata of the request.
    pub metadata: Object,
    /// The names of the models, the preferred one first.
    pub targets: Vec<String>,
    /// How the policy differs from the default.
    pub policy: Value,
    /// The prompt templates that differ from those of this build, by name.
    pub prompts: Value,
    /// Where earlier runs found values that plans left out.
    pub mappings: Vec<ParameterMapping>,
    /// The tools.
    pub tools: Catalogue,
    /// The answers of tools.
    pub calls: Vec<CallRecording>,
    /// The answers of models.
    pub models: Vec<ModelRecording>,
    /// The decisions of people.
    pub decisions: Vec<DecisionRecording>,
    /// How many tokens questions have, in the order in which they are counted.
    pub token_counts: Vec<Option<u64>>,
    /// What must hold.
    pub expect: Expectations,
}

/// What a test runs.
#[derive(Debug, Clone, PartialEq)]
pub enum TestStart {
    /// A request, for which a model writes the plan.
    Request(String),
    /// A plan.
    Plan {
        /// The plan.
        plan: PlanSource,
        /// The request, if it is not that of the plan.
        request: Option<String>,
        /// The inputs of the plan.
        inputs: Object,
        /// The agents that steps of the plan run, if they are not files.
        agents: Vec<TestAgent>,
    },
    /// An agent.
    Agent {
        /// The agent.
        agent: AgentSource,
        /// The question to it.
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
    /// In the test.
    Inline(Value),
}

/// Where the agent of a test is.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentSource {
    /// In a file, by its path relative to the test.
    File(String),
    /// In the test.
    Inline(Box<TestAgent>),
}

/// An agent in a test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestAgent {
    /// The name.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Its prompt.
    pub prompt: String,
    /// How its rules differ from the default.
    pub rules: Value,
    /// Its tools, each as `tool` or `tool/capability`; all of the test if it names none.
    pub tools: Option<Vec<String>>,
    /// Its models; all of the test if it names none.
    pub targets: Option<Vec<String>>,
    /// How its policy differs from the default; that of the test if it has none.
    pub policy: Option<Value>,
    /// The agents that it may call.
    pub agents: Vec<TestAgent>,
}
