//! Runs calls: each in its own task, within a time limit, and once per idempotency key.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use reknit_protocol::{Category, Retryable, SideEffect, ToolError, Value};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::CallContext;
use crate::capability::Endpoint;
use crate::idempotency::{Claim, IdempotencyStore, RunPermit};
use crate::reply::Reply;

/// Runs the calls of one service.
#[derive(Debug, Clone)]
pub(crate) struct CallRunner {
    store: IdempotencyStore,
    call_timeout: Duration,
    /// Owns the task of each call. A call outlives its connection, so that a caller who disconnects does not stop it
    /// half way.
    tasks: TaskTracker,
    abort: CancellationToken,
}

impl CallRunner {
    pub(crate) fn new(store: IdempotencyStore, call_timeout: Duration) -> Self {
        Self { store, call_timeout, tasks: TaskTracker::new(), abort: CancellationToken::new() }
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
        self.tasks.close();
        self.tasks.wait().await;
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
        let task = self.tasks.spawn(async move {
            let work = AssertUnwindSafe(endpoint.answer(context, parameters)).catch_unwind();
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
