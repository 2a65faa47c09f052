//! Calls that are not what was asked for: what reaches the tools, and what each face tells about it.
//!
//! A scenario has tools, what a model says, and for each face the calls that arrive and parts of what is told. The table names the
//! scenarios of the 14 findings; their files say at which faces they are played. "-" says why a finding has none.
//!
//! | finding | plans (`plans.rs`) | single calls (`calls.rs`) |
//! |---|---|---|
//! | 1 wired by name | `wired` | - one call has no earlier results |
//! | 2 rerouted | `rerouted` | `rerouted` |
//! | 3 stripped | `stripped`, `emphasis` | `stripped` |
//! | 4 another identifier | `another order`, `another name`, `a switch` | the same |
//! | 5 dropped filter | `filter` | `filter` |
//! | 6 left-out step | `left out` | - no plan |
//! | 7 second plans | `second plan` | - no plan; a plan of a person or a client has no second one |
//! | 8 against the request | `against the request` | `against the request` |
//! | 9 quoted calls | - a plan is asked for as text | `quoted`, `refused in prose` |
//! | 10 changed unseen | - plans are not arguments | `damaged`, `renamed`, `two values` |
//! | 11 happens twice | `charged once` | `charged once` |
//! | 12 origins | `each_view_of_a_run_tells_origins_that_come_from_binding` | - one call computes nothing |
//! | 13 words for values | `words`, `date` | `date` |
//! | 14 placeholders | `placeholder`, `accepted placeholder` | `accepted placeholder` |

mod calls;
mod faces;
mod origins;
mod plans;

use reknit_fakes::Reply;
use reknit_fakes::tool::{CallMatcher, ScriptedTool};
use reknit_protocol::{SideEffect, Value};

/// A way to have calls made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Face {
    /// `reknit ask`: a model plans the request.
    Ask,
    /// `POST /v1/runs` with the request.
    Api,
    /// The library with the request.
    Library,
    /// `reknit run` with the plan as a file.
    Run,
    /// `run_plan` of `reknit mcp`.
    McpPlan,
    /// The plan tool of an agent.
    AgentPlan,
    /// The call of an agent.
    Agent,
    /// `reknit tools call`.
    ToolsCall,
    /// The tool of `reknit mcp`.
    Mcp,
    /// A model that a client asks through `reknit serve`.
    Gateway,
}

/// A model plans a request.
const PLANNED: &[Face] = &[Face::Ask, Face::Api, Face::Library];

struct Expected {
    faces: Vec<Face>,
    /// All calls that arrive: `pay {"amount":5}`.
    sent: Vec<String>,
    told: Vec<String>,
}

struct Scenario {
    name: String,
    request: String,
    tools: Vec<ScriptedTool>,
    /// Text of the configuration after tools and models.
    config: String,
    /// The first plan and later ones, the last one again and again. The first is the plan of a person or a client, too.
    plans: Vec<String>,
    /// What a model wants instead of parameters that were refused or are missing.
    advice: String,
    /// What the model of an agent or of a client says.
    answers: Vec<Reply>,
    /// The call of a person or a client: `bank/pay`, and its parameters.
    call: (String, String),
    expected: Vec<Expected>,
}

impl Scenario {
    fn new(name: impl Into<String>, request: impl Into<String>, tools: Vec<ScriptedTool>) -> Self {
        let (plans, answers, expected) = (Vec::new(), Vec::new(), Vec::new());
        let (config, advice, call) = (String::new(), "{}".to_owned(), (String::new(), String::new()));
        Self { name: name.into(), request: request.into(), tools, config, plans, advice, answers, call, expected }
    }

    fn plan(mut self, steps: &[String]) -> Self {
        self.plans.push(format!(r#"{{"steps": [{}]}}"#, steps.join(", ")));
        self
    }

    fn config(self, config: &str) -> Self {
        Self { config: config.to_owned(), ..self }
    }

    fn advice(self, advice: &str) -> Self {
        Self { advice: advice.to_owned(), ..self }
    }

    /// A model finds nothing to correct.
    fn no_advice(self) -> Self {
        Self { advice: String::new(), ..self }
    }

    fn answers(self, answers: impl IntoIterator<Item = Reply>) -> Self {
        Self { answers: answers.into_iter().collect(), ..self }
    }

    /// A single call, of an agent, of a person and of a client.
    fn call(self, call: &str, parameters: &str) -> Self {
        let tool = call.replace('/', "__");
        let answers = vec![Reply::tool_call(tool, parameters)];
        Self { call: (call.to_owned(), parameters.to_owned()), answers, ..self }
    }

    /// What arrives and is told at some faces.
    fn at(mut self, faces: &[Face], sent: &[&str], told: &[&str]) -> Self {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        self.expected.push(Expected { faces: faces.to_vec(), sent: texts(sent), told: texts(told) });
        self
    }
}

/// A step of a plan, after these others.
fn step(id: &str, call: &str, parameters: &str, after: &[&str]) -> String {
    let (tool, capability) = call.split_once('/').expect("a tool and a capability");
    let after: Vec<String> = after.iter().map(|id| format!("\"{id}\"")).collect();
    format!(
        r#"{{"step_id": "{id}", "agent_name": "{tool}", "instruction": "", "depends_on": [{}], "metadata": {{"capability": "{capability}", "parameters": {parameters}}}}}"#,
        after.join(", ")
    )
}

/// A tool `bank` with one capability that answers every call in this way.
fn bank(capability: &str, class: SideEffect, schema: &str, reply: Reply) -> ScriptedTool {
    with(ScriptedTool::new("bank"), capability, class, schema, reply)
}

fn with(tool: ScriptedTool, capability: &str, class: SideEffect, schema: &str, reply: Reply) -> ScriptedTool {
    let tool = tool.capability(capability, class).on(capability, CallMatcher::any(), reply);
    if schema.is_empty() { tool } else { tool.schema(json(schema)) }
}

fn json(text: &str) -> Value {
    Value::parse(text).expect("JSON")
}

fn refused(status: u16, error: &str) -> Reply {
    Reply::status(status).body(serde_json::json!({"error": error}).to_string()).content_type("application/json")
}

fn data(text: &str) -> Reply {
    Reply::data(json(text))
}
