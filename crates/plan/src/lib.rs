//! Plans: read from a model's answer or from a file, checked against a catalogue of tools, ready to run.
//!
//! ```text
//! model's answer --read_plan-------.
//!                                  +--> Plan --correct_plan--> Plan --check--> CheckedPlan, or PlanProblems
//! file           --read_plan_file--'              ^                    ^
//!                                                 '----- Catalogue ----'
//! ```
//!
//! ```
//! use reknit_plan::{Catalogue, PlanAuthor, check, correct_plan, read_plan_file};
//! use reknit_protocol::Value;
//!
//! let tools = r#"{"stocks": [{"name": "get_quote"}], "bank": [{"name": "convert"}]}"#;
//! let catalogue = Catalogue::from_value(&Value::parse(tools)?)?;
//!
//! let (mut plan, _) = read_plan_file(r#"
//! steps:
//!   - {id: quote, tool: stocks/GetQuote, with: {symbol: TSLA}}
//!   - {id: won, tool: bank/convert, with: {amount: "{{100 * quote.price}}", to: KRW}}
//! "#)?;
//! let fixes = correct_plan(&mut plan, &catalogue, PlanAuthor::Person);
//! assert_eq!(fixes[0].after, "get_quote");
//!
//! let checked = check(&plan, &catalogue, PlanAuthor::Person).expect("no problems");
//! let won = checked.step("won").expect("it is a step of the plan");
//! assert_eq!(won.dependency_indices, [checked.index_of("quote").expect("it is a step of the plan")]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ProblemCode`] lists everything that can be wrong with a plan. [`describe_tools`] and [`plan_json_schema`] are what a
//! model needs to write one, and [`ToolSelection`] picks the tools to show it if there are many.

mod agents;
mod announced;
mod catalogue;
mod check;
mod checked;
mod file;
mod file_problem;
mod fixes;
mod graph;
mod hint;
mod inputs;
mod planner;
mod problem;
mod read;
mod second_plan;
mod unbraced;
mod verify_call;
mod yaml;

pub use agents::{AGENT_TOOL, AgentAnnouncement, AgentToolError, agent_name};
pub use catalogue::{Catalogue, CatalogueEntry, CatalogueError, CatalogueTool};
pub use check::{
    PlanAuthor, PlanNote, ProblemScope, TolerablePlan, check, check_read_calls, check_structure, check_tolerantly,
    plan_graph, plan_notes,
};
pub use checked::{
    CheckedPlan, Foreach, INPUTS, ITEM, LoopItem, OnFailure, PlannedOutput, PlannedStep, REPLY, RESULT, StepControls,
    StepIndex, Until, Verify,
};
pub use file::{
    AgentReference, Document, FilePosition, LoadText, LoadedPlan, PlanText, load_plan_file, read_plan_file,
    write_plan_file,
};
pub use file_problem::FileProblem;
pub use fixes::{DoubtfulText, PlanFix, PlanFixKind, ReadValues, correct_plan, place_controls, read_values};
pub use graph::{GraphRow, GraphState, GraphStep, LayeredStep, StepGraph};
pub use inputs::resolve_inputs;
pub use planner::{PlanLanguage, ToolSelection, describe_tools, plan_json_schema, summarize_tools};
pub use problem::{PlanLocation, PlanProblem, ProblemCode};
pub use read::{PlanError, read_plan};
pub use second_plan::{ExtendedPlan, append_steps};
pub use yaml::{write_yaml, yaml_line};
