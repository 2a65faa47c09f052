//! Spans.

use crate::definition::Definition;

definitions! { ALL:
    PROCESS_REQUEST: 10 = Definition::span(
        "orchestration.process_request",
        [
            "request_id",
            "request",
            "mode",
            "status",
            "reason",
            "steps",
            "tool_calls",
            "model_calls",
            "input_tokens",
            "output_tokens",
        ],
        "a run, from its start to its answer; also a plan that an agent calls as a tool",
    );
    STEP_EXECUTION: 9 = Definition::span(
        "orchestration.step_execution",
        ["request_id", "step_id", "agent", "capability", "instruction", "status", "reason", "calls", "mends"],
        "a step, from when its dependencies have ended until it ends",
    );
    HTTP_CLIENT_REQUEST: 8 = Definition::span(
        "http.client.request",
        [
            "request_id",
            "step_id",
            "agent",
            "capability",
            "attempt",
            "http.request.method",
            "http.response.status_code",
            "error.type",
        ],
        "one call of a tool; the tool receives the id of this span as `traceparent`",
    );
    CHAT: 13 = Definition::span(
        "chat",
        [
            "request_id",
            "purpose",
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
            "gen_ai.request.max_tokens",
            "gen_ai.request.temperature",
            "gen_ai.response.model",
            "gen_ai.response.id",
            "gen_ai.response.finish_reasons",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
            "error.type",
        ],
        "one request to a model",
    );
    SESSION: 10 = Definition::span(
        "agent.session",
        [
            "request_id",
            "agent",
            "input",
            "status",
            "exit",
            "turns",
            "tool_calls",
            "model_calls",
            "input_tokens",
            "output_tokens",
        ],
        "a session, from its start to its report; also the session of an agent that another agent calls",
    );
    TURN: 4 = Definition::span("agent.turn", ["request_id", "turn", "attempts", "status"], "a turn of a session");
}
