//! What takes time.

use crate::telemetry::entry::{Entry, Name};

pub(crate) static PROCESS_REQUEST: Entry<10> = Entry::span(
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
    "a run, from its beginning to its answer; or a plan that an agent hands over",
);

pub(crate) static STEP_EXECUTION: Entry<9> = Entry::span(
    "orchestration.step_execution",
    ["request_id", "step_id", "agent", "capability", "instruction", "status", "reason", "calls", "mends"],
    "a step, from when its needs are met until it is over",
);

pub(crate) static HTTP_CLIENT_REQUEST: Entry<8> = Entry::span(
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
    "one call of a tool; the tool is sent its name as `traceparent`",
);

pub(crate) static CHAT: Entry<13> = Entry::span(
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
    "one question to one model",
);

pub(crate) static SESSION: Entry<10> = Entry::span(
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
    "a session, from its beginning to its report; or that of an agent which another one calls",
);

pub(crate) static TURN: Entry<4> =
    Entry::span("agent.turn", ["request_id", "turn", "attempts", "status"], "a turn of a session");

pub(crate) static ALL: &[Name] = &[
    PROCESS_REQUEST.listed(),
    STEP_EXECUTION.listed(),
    HTTP_CLIENT_REQUEST.listed(),
    CHAT.listed(),
    SESSION.listed(),
    TURN.listed(),
];
