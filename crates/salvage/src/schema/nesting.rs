//! How deep values nest, and work on a large stack for those that nest deeply.

use reknit_protocol::{Object, Value};

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
    is_container(value) && (levels == 0 || parts(value).any(|part| nests_deeper(part, levels - 1)))
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// The items of an array, or the values of an object.
fn parts(value: &Value) -> impl Iterator<Item = &Value> {
    let values = value.as_object().into_iter().flat_map(Object::values);
    value.as_array().unwrap_or_default().iter().chain(values)
}

/// How many levels of containers are in the value, besides itself.
pub(crate) fn levels(value: &Value) -> usize {
    parts(value).filter(|part| is_container(part)).map(|part| 1 + levels(part)).max().unwrap_or(0)
}

/// The number of values in a value, including itself.
pub(crate) fn count_values(value: &Value) -> u64 {
    parts(value).fold(1, |sum, part| count_values(part).saturating_add(sum))
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
