//! What a planner is shown: descriptions of the tools, and the JSON Schema of its plan.

mod plan_schema;
mod tool_descriptions;
mod tool_selection;

pub use plan_schema::{PlanLanguage, plan_json_schema};
pub use tool_descriptions::{describe_tools, summarize_tools};
pub use tool_selection::ToolSelection;
