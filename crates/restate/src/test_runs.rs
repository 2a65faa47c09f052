//! Runs for tests: their first events, and the outcomes of their calls.

use reknit_engine::{Effect, Event, EventKind, Machine};
use reknit_plan::read_plan_file;
use reknit_protocol::{CallTool, ReplyBody, ToolError, ToolReply, Value};
use reknit_runtime::Runtime;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Order {
    #[expect(dead_code, reason = "only its schema is used")]
    number: u64,
}

/// The first event of a run with this plan, over the tool `shop/place`, whose side effect is undeclared.
pub(crate) async fn started(plan: &str) -> Event {
    let place = async |_: Order| Ok::<u64, ToolError>(1);
    let reknit =
        Runtime::from_builder(Runtime::builder().tool_calls(5_000).tool_fn("shop", "place", place)).await.unwrap();
    let (plan, _) = read_plan_file(plan).unwrap();
    Event { at_ms: 1_000, kind: EventKind::Started(Box::new(reknit.started("order", Some(plan)))) }
}

/// A plan of so many steps, one after the other.
pub(crate) fn chain_of(steps: usize) -> String {
    let step = |at: usize| {
        let after = if at == 0 { String::new() } else { format!(", after: s{}", at - 1) };
        format!("- {{id: s{at}, tool: shop/place, with: {{number: {at}}}{after}}}\n")
    };
    format!("steps:\n{}", (0..steps).map(step).collect::<String>())
}

/// The machine of a run of so many steps, and the call that is due.
pub(crate) async fn begun(steps: usize) -> (Machine, CallTool) {
    let (machine, _) = Machine::begin(&started(&chain_of(steps)).await).unwrap();
    let call = due_call(&machine);
    (machine, call)
}

pub(crate) fn due_call(machine: &Machine) -> CallTool {
    let call = |effect| if let Effect::CallTool(call) = effect { Some(CallTool::clone(&call)) } else { None };
    machine.pending().into_iter().find_map(call).unwrap()
}

pub(crate) fn answered(call: &CallTool, at_ms: i64) -> Event {
    let reply = ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Json(Value::from(7)), job: None };
    Event { at_ms, kind: EventKind::ToolAnswered { effect: call.id.clone(), reply } }
}
