//! The tools of Reknit itself: requests, plans, and finding other tools.

use reknit_protocol::Value;
use rmcp::model::{Tool, ToolAnnotations};

use crate::input_schema::input_schema;

/// A tool of Reknit itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnTool {
    /// Lets a model plan a request, and runs the plan.
    Ask,
    /// Runs a plan.
    RunPlan,
    /// Waits for a run that waited for a person, and returns its result.
    ContinueRun,
    /// Says what a run did.
    ExplainRun,
    /// Finds capabilities by words.
    SearchTools,
    /// Shows the parameters of a capability.
    DescribeTool,
}

impl OwnTool {
    /// The tools that are offered: without a model no request can be planned.
    pub(crate) fn all(has_model: bool) -> Vec<Self> {
        let ask = has_model.then_some(Self::Ask);
        ask.into_iter()
            .chain([Self::SearchTools, Self::DescribeTool, Self::RunPlan, Self::ContinueRun, Self::ExplainRun])
            .collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::RunPlan => "run_plan",
            Self::ContinueRun => "continue_run",
            Self::ExplainRun => "explain_run",
            Self::SearchTools => "search_tools",
            Self::DescribeTool => "describe_tool",
        }
    }

    /// The definition that clients are shown.
    pub(crate) fn definition(self) -> Tool {
        let (description, schema) = match self {
            Self::Ask => (
                "Plans a request with the tools that are configured here, runs the plan, and answers.",
                r#"{"properties": {"request": {"type": "string", "description": "The request, in plain language."}},
                    "required": ["request"]}"#,
            ),
            Self::RunPlan => (
                "Runs a plan: several tool calls at once, each as soon as its inputs are ready. The whole plan is checked before \
                 the first call. A text `{{id.field}}` in the parameters of a step stands for a result of an earlier step.",
                r#"{"properties": {
                    "request": {"type": "string", "description": "What the plan is for, in plain language."},
                    "steps": {"type": "array", "items": {"type": "object", "properties": {
                        "id": {"type": "string", "description": "What other steps call it."},
                        "tool": {"type": "string", "description": "As `search_tools` names it: `service/capability`."},
                        "with": {"type": "object", "description": "Its parameters."},
                        "after": {"type": "array", "items": {"type": "string"}}}, "required": ["id", "tool"]}},
                    "outputs": {"type": "object", "description": "Expressions by name: {\"total\": \"sum.amount\"}."}},
                    "required": ["steps"]}"#,
            ),
            Self::ContinueRun => (
                "Returns the result of a call or plan that waited for the approval of a person.",
                r#"{"properties": {"run": {"type": "string", "description": "The id of the run."}}, "required": ["run"]}"#,
            ),
            Self::ExplainRun => (
                "Says what a call or plan did: each attempt, what was changed and why, what it cost, and what is missing.",
                r#"{"properties": {"run": {"type": "string", "description": "The id of the run."}}, "required": ["run"]}"#,
            ),
            Self::SearchTools => (
                "Finds tools by words; the best match comes first. `describe_tool` shows their parameters, `run_plan` calls them.",
                r#"{"properties": {"query": {"type": "string", "description": "What a tool should do."}}, "required": ["query"]}"#,
            ),
            Self::DescribeTool => (
                "Shows what a tool does and the JSON Schema of its parameters.",
                r#"{"properties": {"tool": {"type": "string", "description": "As `search_tools` names it."}}, "required": ["tool"]}"#,
            ),
        };
        let is_read = matches!(self, Self::SearchTools | Self::DescribeTool | Self::ExplainRun);
        // The texts are constants that the tests parse.
        let schema = Value::parse(schema).unwrap_or(Value::Null);
        Tool::new(self.name(), description, input_schema(&schema))
            .with_annotations(ToolAnnotations::new().read_only(is_read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_names_its_required_properties() {
        for tool in OwnTool::all(true) {
            let schema = tool.definition().input_schema;
            let required = schema["required"].as_array().unwrap_or_else(|| panic!("{tool:?}"));
            assert!(required.iter().all(|name| schema["properties"].get(name.as_str().unwrap()).is_some()), "{tool:?}");
        }
    }

    #[test]
    fn the_tools_for_plans_take_few_tokens_however_many_capabilities_there_are() {
        let definitions: Vec<Tool> = OwnTool::all(true).into_iter().map(OwnTool::definition).collect();
        let bytes = serde_json::to_string(&definitions).unwrap().len();
        assert!(bytes < 2_000 * 3, "{bytes} bytes: a token of such texts has more than three");
    }
}
