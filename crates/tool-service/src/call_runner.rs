//! Runs calls: each in its own task, within a time limit, and once per idempotency key.

use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::{Category, Retryable, SideEffect, ToolError, Value};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::CallContext;
use crate::capability::Endpoint;
use crate::catch_panic::catch_panic;
use crate::idempotency::{Claim, IdempotencyStore, RunPermit};
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
            Claim::Repeated(earlier) => earlier.reply().await.unwrap_or_else(aborted),
            Claim::DifferentRequest => Reply::with_status(409, &key_reused(key.as_str())),
            Claim::StoreFull => Reply::error(&store_full()),
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
                Some(Ok(Ok(reply))) => reply,
                Some(Ok(Err(_))) => Reply::internal_error("the capability panicked"),
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

fn aborted() -> Reply {
    Reply::internal_error("the service ended before the capability did; what it has done is not known")
}

fn key_reused(key: &str) -> ToolError {
    ToolError::new(
        "IDEMPOTENCY_KEY_REUSED",
        "the idempotency key has been used with other parameters",
        Category::InputError,
    )
    .retryable(Retryable::No)
    .detail("idempotency_key", key)
    .detail("hint", "use a new key for a new request")
}

fn store_full() -> ToolError {
    ToolError::new(
        "IDEMPOTENCY_STORE_FULL",
        "the service cannot remember another idempotency key; nothing was done",
        Category::ServiceError,
    )
    .retryable(Retryable::Yes)
}
