//! Runs calls: each in its own task, within a time limit, and once per idempotency key.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use reknit_protocol::{Category, Retryable, SideEffect, ToolError, Value};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::CallContext;
use crate::capability::Endpoint;
use crate::idempotency::{Claim, IdempotencyStore, RunPermit, reply_of};
use crate::reply::Reply;

/// Runs the calls of one service.
#[derive(Debug, Clone)]
pub(crate) struct CallRunner {
    store: IdempotencyStore,
    call_timeout: Duration,
    /// How many calls are running. Each has a task of its own and outlives its connection, so that a caller who disconnects does
    /// not stop it half way.
    running: watch::Sender<usize>,
    abort: CancellationToken,
}

impl CallRunner {
    pub(crate) fn new(store: IdempotencyStore, call_timeout: Duration) -> Self {
        Self { store, call_timeout, running: watch::Sender::new(0), abort: CancellationToken::new() }
    }

    /// Answers one call. A `keyed` capability runs at most once for all calls with the same idempotency key.
    pub(crate) async fn answer(&self, endpoint: &Arc<Endpoint>, context: CallContext, parameters: Value) -> Reply {
        let capability = &endpoint.capability;
        let key = context.idempotency_key().filter(|_| capability.effect == SideEffect::Keyed).cloned();
        let Some(key) = key else { return self.run(endpoint, context, parameters, None).await };
        match self.store.claim(&capability.name, &key, parameters.canonical()) {
            Claim::First(permit) => self.run(endpoint, context, parameters, Some(permit)).await,
            Claim::Repeated(earlier) => reply_of(earlier).await.unwrap_or_else(aborted),
            Claim::DifferentRequest => key_reused(key.as_str()),
            Claim::StoreFull => store_full(),
        }
    }

    /// Waits until every running call has ended. New calls may still start meanwhile.
    pub(crate) async fn drain(&self) {
        // It fails only if the sender is dropped, and `self` has it.
        _ = self.running.subscribe().wait_for(|running| *running == 0).await;
    }

    /// Stops the calls that still run.
    pub(crate) fn abort(&self) {
        self.abort.cancel();
    }

    async fn run(
        &self,
        endpoint: &Arc<Endpoint>,
        context: CallContext,
        parameters: Value,
        permit: Option<RunPermit>,
    ) -> Reply {
        let (endpoint, limit, abort) = (Arc::clone(endpoint), self.call_timeout, self.abort.clone());
        let running = RunningCall::begin(&self.running);
        let task = tokio::spawn(async move {
            let _running = running;
            let work = catch_panic(endpoint.answer(context, parameters));
            let reply = match abort.run_until_cancelled(timeout(limit, work)).await {
                Some(Ok(reply)) => reply.unwrap_or_else(panicked),
                Some(Err(_)) => Reply::timed_out(limit),
                None => aborted(),
            };
            if let Some(permit) = permit {
                permit.finish(&reply);
            }
            reply
        });
        task.await.unwrap_or_else(|_| aborted())
    }
}

/// Counts a call as long as its task exists.
struct RunningCall(watch::Sender<usize>);

impl RunningCall {
    fn begin(running: &watch::Sender<usize>) -> Self {
        running.send_modify(|running| *running += 1);
        Self(running.clone())
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}

/// Waits for a future. A panic inside of it ends only the future; the result is `None` then.
pub(crate) async fn catch_panic<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Some),
        Err(_) => Poll::Ready(None),
    })
    .await
}

pub(crate) fn panicked() -> Reply {
    Reply::internal_error("the capability panicked")
}

fn aborted() -> Reply {
    Reply::internal_error("the service ended before the capability did; what it has done is not known")
}

fn key_reused(key: &str) -> Reply {
    let message = "the idempotency key has been used with other parameters";
    let error = ToolError::new("IDEMPOTENCY_KEY_REUSED", message, Category::InputError)
        .retryable(Retryable::No)
        .detail("idempotency_key", key)
        .detail("hint", "use a new key for a new request");
    Reply::with_status(409, &error)
}

fn store_full() -> Reply {
    let message = "the service cannot remember another idempotency key; nothing was done";
    Reply::error(&ToolError::new("IDEMPOTENCY_STORE_FULL", message, Category::ServiceError).retryable(Retryable::Yes))
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
        assert_eq!(catch_panic::<()>(panics).await, None);
        assert_eq!(catch_panic(async { 7 }).await, Some(7));
    }
}
