//! What several test programs share.

use reknit_protocol::{CallTool, Object, SideEffect};

/// A call without parameters and key, with a minute of time.
pub(crate) fn new_call(tool: &str, capability: &str, side_effect: SideEffect) -> CallTool {
    CallTool {
        id: "s/call/1".parse().expect("an id"),
        step: "s".into(),
        tool: tool.into(),
        capability: capability.into(),
        parameters: Object::new(),
        side_effect,
        idempotency_key: None,
        business_key: None,
        timeout_ms: 60_000,
        job: None,
        callback: None,
    }
}
