//! What the peers in Rust share; see common.py: the specification of a cell, the HTTP client of the tools, typed
//! arguments, and the result file.
//!
//! usage of each peer: PEER FOLDER PHASE

pub mod arguments;
mod client;

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use client::ToolError;

pub const INSTRUCTIONS: &str = "You work for a shop. Do what the user asks for with the tools.";
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A tool as its service describes it.
#[derive(Clone, Debug, Deserialize)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub effect: String,
    pub schema: Value,
}

impl Tool {
    /// Whether a call that is made twice does no more than one that is made once.
    pub fn is_repeatable(&self) -> bool {
        ["read", "idempotent", "keyed"].contains(&self.effect.as_str())
    }

    pub fn is_read(&self) -> bool {
        self.effect == "read"
    }
}

#[derive(Clone, Debug, Deserialize)]
pub struct Spec {
    pub request: String,
    pub tools: Vec<Tool>,
    pub service: String,
    pub models: String,
    /// Seconds for a call of a tool, and for a request to a model.
    pub limit: u64,
    pub model_limit: u64,
    pub retries: u32,
    pub max_turns: usize,
    pub approve: Vec<String>,
    pub decision: String,
    pub stream: bool,
    pub kills: bool,
}

/// One scenario with one peer, in this process.
#[derive(Clone, Debug)]
pub struct Cell {
    pub folder: PathBuf,
    /// `start`, `resume` (after a kill or a decision) or `decide`.
    pub phase: String,
    pub spec: Spec,
    http: reqwest::Client,
}

/// How a process ended.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// `done`, `reported` or `waiting`.
    pub status: &'static str,
    pub answer: String,
    pub error: String,
    /// The calls that a person is asked about.
    pub question: Option<Vec<Value>>,
}

impl Outcome {
    pub fn done(answer: impl Into<String>) -> Self {
        Self { status: "done", answer: answer.into(), ..Self::default() }
    }

    pub fn reported(error: impl ToString) -> Self {
        Self { status: "reported", error: error.to_string(), ..Self::default() }
    }

    pub fn waiting(question: Vec<Value>) -> Self {
        Self { status: "waiting", question: Some(question), ..Self::default() }
    }
}

/// A call as it is shown to a person.
pub fn shown(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "args": arguments})
}

impl Cell {
    fn from_arguments() -> Result<Self, Error> {
        let mut arguments = std::env::args().skip(1);
        let (Some(folder), Some(phase)) = (arguments.next(), arguments.next()) else {
            return Err("usage: PEER FOLDER PHASE".into());
        };
        let folder = PathBuf::from(folder);
        let spec: Spec = serde_json::from_str(&std::fs::read_to_string(folder.join("spec.json"))?)?;
        let limit = std::time::Duration::from_secs(spec.limit);
        let http = reqwest::Client::builder().timeout(limit).no_proxy().build()?;
        Ok(Self { folder, phase, spec, http })
    }

    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.spec.tools.iter().find(|tool| tool.name == name)
    }

    pub fn model_url(&self, server: &str) -> String {
        format!("{}/{server}/v1", self.spec.models)
    }

    /// What the person decided in another process, if anything.
    pub fn decision(&self) -> Option<String> {
        std::fs::read_to_string(self.folder.join("decision.json")).ok()
    }

    pub fn store_decision(&self) -> Result<(), Error> {
        Ok(std::fs::write(self.folder.join("decision.json"), &self.spec.decision)?)
    }

    pub fn is_approved(&self) -> bool {
        self.spec.decision == "approve"
    }
}

/// Runs a peer, and writes its result. An error is what the user of the peer sees.
pub async fn main<F: Future<Output = Result<Outcome, Error>>>(work: impl FnOnce(Cell) -> F) -> Result<(), Error> {
    let began = Instant::now();
    let cell = Cell::from_arguments()?;
    let file = cell.folder.join("result.json");
    let _ = std::fs::remove_file(&file);
    let is_decision = cell.phase == "decide";
    let outcome = work(cell).await.unwrap_or_else(Outcome::reported);
    if !is_decision {
        let mut value = serde_json::to_value(&outcome)?;
        value["seconds"] = json!(began.elapsed().as_secs_f64());
        std::fs::write(file, value.to_string())?;
    }
    Ok(())
}
