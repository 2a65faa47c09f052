//! The tools of Reknit itself: requests, plans, and finding other tools.

use std::sync::Arc;

use reknit_protocol::{Value, word_enum};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};

word_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum OwnTool {
        Ask = "ask",
        SearchTools = "search_tools",
        DescribeTool = "describe_tool",
        RunPlan = "run_plan",
        ContinueRun = "continue_run",
        ExplainRun = "explain_run",
    }
}

/// The schema of the tools that are about a run.
const RUN: &str =
    r#"{"properties": {"run": {"type": "string", "description": "The id of the run."}}, "required": ["run"]}"#;

impl OwnTool {
    /// The tools that are offered: without a model no request can be planned.
    pub(crate) fn all(has_model: bool) -> Vec<Self> {
        Self::ALL.iter().copied().filter(|tool| has_model || *tool != Self::Ask).collect()
    }

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
            Self::ContinueRun => {
                ("Returns the result of a call or plan that waited for the approval of a person.", RUN)
            }
            Self::ExplainRun => (
                "Says what a call or plan did: each attempt, what was changed and why, what it cost, and what is missing.",
                RUN,
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
        Tool::new(self.as_str(), description, input_schema(&schema))
            .with_annotations(ToolAnnotations::new().read_only(is_read))
    }
}

/// The schema as an object whose type is `object`.
pub(crate) fn input_schema(schema: &Value) -> Arc<JsonObject> {
    let mut object: JsonObject = serde_json::from_str(&schema.to_string()).unwrap_or_default();
    object.entry("type").or_insert_with(|| "object".into());
    Arc::new(object)
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
