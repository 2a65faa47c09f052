//! A panic of a handler as a value.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The future panicked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Waits for a future. A panic inside of it ends only the future.
pub(crate) async fn catch_panic<T>(future: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(_) => Poll::Ready(Err(Panicked)),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_after_a_wait_is_a_value() {
        let panics = async {
            tokio::task::yield_now().await;
            panic!("on purpose")
        };
        assert_eq!(catch_panic::<()>(panics).await, Err(Panicked));
        assert_eq!(catch_panic(async { 7 }).await, Ok(7));
    }
}
