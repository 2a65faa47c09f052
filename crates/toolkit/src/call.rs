//! One call, from the arguments to the reply.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use reknit_protocol::{Category, Effect, Retryable, ToolError, Value};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::keys::{Claim, Keys, Ticket};
use crate::reply::Reply;
use crate::{CallContext, Capability};

/// What all calls of a service share.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    keys: Keys,
    limit: Duration,
    /// Calls run in tasks of their own, so that a caller who goes away does not cut one in half; this owns them.
    tasks: TaskTracker,
    cut: CancellationToken,
}

impl Calls {
    pub(crate) fn new(keys: Keys, limit: Duration) -> Self {
        Self { keys, limit, tasks: TaskTracker::new(), cut: CancellationToken::new() }
    }

    /// Answers one call. Under a key, a `keyed` capability runs at most once for all calls with that key.
    pub(crate) async fn answer(&self, capability: &Capability, context: CallContext, body: Value) -> Reply {
        let key = context.idempotency_key().filter(|_| capability.announcement().effect == Effect::Keyed).cloned();
        let Some(key) = key else { return self.run(capability, context, body, None).await };
        match self.keys.claim(capability.name(), &key, body.canonical()) {
            Claim::First(ticket) => self.run(capability, context, body, Some(ticket)).await,
            Claim::Again(pending) => pending.answer().await.unwrap_or_else(cut_off),
            Claim::OtherRequest => Reply::refusal(409, &key_reused(key.as_str())),
            Claim::Full => Reply::error(&no_room()),
        }
    }

    /// Waits until every call has ended; new ones may still come.
    pub(crate) async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Cuts the calls that still run.
    pub(crate) fn cut(&self) {
        self.cut.cancel();
    }

    async fn run(&self, capability: &Capability, context: CallContext, body: Value, ticket: Option<Ticket>) -> Reply {
        let (handler, limit, cut) = (capability.handler(), self.limit, self.cut.clone());
        let task = self.tasks.spawn(async move {
            let work = AssertUnwindSafe(async { handler.answer(context, body).await }).catch_unwind();
            let reply = match cut.run_until_cancelled(timeout(limit, work)).await {
                Some(Ok(Ok(reply))) => reply,
                Some(Ok(Err(_))) => Reply::broken("the capability panicked"),
                Some(Err(_)) => Reply::overdue(limit),
                None => cut_off(),
            };
            if let Some(ticket) = ticket {
                ticket.finish(&reply);
            }
            reply
        });
        task.await.unwrap_or_else(|_| cut_off())
    }
}

fn cut_off() -> Reply {
    Reply::broken("the service ended before the capability did; what it has done is not known")
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

fn no_room() -> ToolError {
    ToolError::new(
        "IDEMPOTENCY_STORE_FULL",
        "the service remembers as many calls as it can; nothing was done",
        Category::ServiceError,
    )
    .retryable(Retryable::Yes)
}
