//! Room on the stack for values and schemas that nest deeply.

use reknit_protocol::Value;

/// Values nested no deeper than this are worked on where the caller is.
///
/// In an unoptimised build the validator takes up to 8 KiB of stack per level while it collects errors, and threads
/// commonly have 2 MiB: 32 levels leave most of it to the caller.
const SHALLOW: usize = 32;

/// Enough for the deepest value there can be (512 levels), at 128 KiB per level. It is reserved, not used: pages that
/// are not touched cost nothing.
const STACK: usize = 64 << 20;

/// Whether the value nests so deep that [`with_room`] is needed to recurse into it.
pub(crate) fn is_deep(value: &Value) -> bool {
    nests_deeper(value, SHALLOW)
}

pub(crate) fn nests_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| nests_deeper(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|value| nests_deeper(value, levels - 1)),
        _ => false,
    }
}

/// Does the work on a thread with a large stack if that is needed, here if not.
pub(crate) fn with_room<T: Send>(needed: bool, work: impl Fn() -> T + Sync) -> T {
    if needed && let Some(done) = on_large_stack(&work) {
        return done;
    }
    work()
}

/// `None` if there is no thread to be had.
fn on_large_stack<T: Send>(work: &(impl Fn() -> T + Sync)) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok()?;
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
