//! Running work on a large stack, for values and schemas that nest deeply.

use reknit_protocol::Value;

/// Values that nest no deeper than this are processed on the stack of the caller.
///
/// In an unoptimised build, the validator uses up to 8 KiB of stack per level while it collects errors, and threads
/// commonly have 2 MiB, so 32 levels leave most of it to the caller.
const MAX_SHALLOW_LEVELS: usize = 32;

/// Enough for the deepest possible value (512 levels) at 128 KiB per level. Pages that are never touched cost nothing.
const STACK_SIZE: usize = 64 << 20;

/// Whether recursing into the value needs [`with_large_stack`].
pub(crate) fn is_deep(value: &Value) -> bool {
    nests_deeper(value, MAX_SHALLOW_LEVELS)
}

pub(crate) fn nests_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| nests_deeper(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|value| nests_deeper(value, levels - 1)),
        _ => false,
    }
}

/// How many levels of containers are in the value, besides itself.
pub(crate) fn levels(value: &Value) -> usize {
    let below = |value: &Value| match value {
        Value::Array(_) | Value::Object(_) => 1 + levels(value),
        _ => 0,
    };
    match value {
        Value::Array(items) => items.iter().map(below).max().unwrap_or(0),
        Value::Object(object) => object.values().map(below).max().unwrap_or(0),
        _ => 0,
    }
}

/// Runs `work` on a thread with a large stack if `needed`, otherwise on the current thread.
pub(crate) fn with_large_stack<T: Send>(needed: bool, work: impl Fn() -> T + Sync) -> T {
    if needed && let Some(done) = on_large_stack(&work) {
        return done;
    }
    work()
}

/// `None` if the thread cannot be spawned.
fn on_large_stack<T: Send>(work: &(impl Fn() -> T + Sync)) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work).ok()?;
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
