//! Spans.

use crate::table_entry::SignalKind::Span;

definitions! { ALL:
    /// a run, from its start to its answer; also a plan that an agent calls as a tool; metadata is in `reknit.meta.<key>`
    PROCESS_REQUEST = Span, "orchestration.process_request",
        ["request_id", "request", "mode", "status", "reason", "steps", "tool_calls", "model_calls", "input_tokens",
        "output_tokens"];
    /// a step, from when its dependencies have ended until it ends
    STEP_EXECUTION = Span, "orchestration.step_execution",
        ["request_id", "step_id", "agent", "capability", "instruction", "status", "reason", "calls", "mends"];
    /// one call of a tool; the tool receives the id of this span as `traceparent`
    HTTP_CLIENT_REQUEST = Span, "http.client.request",
        ["request_id", "step_id", "agent", "capability", "attempt", "http.request.method", "http.response.status_code",
        "error.type"];
    /// one request to a model; `turn` and `backoff_ms` belong to an attempt of a session's turn, `status` is then its outcome
    CHAT = Span, "chat",
        ["request_id", "purpose", "reknit.target", "turn", "attempt", "status", "backoff_ms", "gen_ai.operation.name",
        "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.request.max_tokens", "gen_ai.request.temperature",
        "gen_ai.response.model", "gen_ai.response.id", "gen_ai.response.finish_reasons", "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens", "error.type"];
    /// a session, from its start to its report, also of an agent that another agent calls; metadata is in `reknit.meta.<key>`
    SESSION = Span, "agent.session",
        ["request_id", "agent", "input", "status", "exit", "turns", "tool_calls", "model_calls", "input_tokens",
        "output_tokens"];
    /// a turn of a session
    TURN = Span, "agent.turn", ["request_id", "turn", "attempts", "status"];
}
