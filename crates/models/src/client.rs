//! Models that code of the program asks, instead of a server that speaks a known wire format.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use reknit_model_api::{Delta, ModelAnswer, ModelFailure, ModelRequest};

/// Receives the pieces of an answer as they arrive.
pub type OnDelta<'a> = &'a mut (dyn FnMut(Delta<'_>) + Send);

/// A model that code of the program asks: a client of one's own, a model in this process, or a script for a test.
///
/// One call is one attempt. A client does not retry: the rotation over all models decides about that by the class of the failure.
/// Dropping the future must cancel the request.
///
/// ```
/// use reknit_model_api::{ModelAnswer, ModelFailure, ModelRequest, Usage};
/// use reknit_models::{ModelClient, OnDelta};
///
/// struct Echo;
///
/// impl ModelClient for Echo {
///     async fn ask(&self, request: &ModelRequest, _on_delta: OnDelta<'_>) -> Result<ModelAnswer, ModelFailure> {
///         let text = request.messages.last().map(|message| message.text()).unwrap_or_default();
///         Ok(ModelAnswer::complete(text, "echo", Usage::reported(0, 0)))
///     }
/// }
/// ```
pub trait ModelClient: Send + Sync + 'static {
    /// Makes one attempt. `on_delta` may get the pieces of the answer as they arrive; together they must be the answer.
    fn ask(
        &self,
        request: &ModelRequest,
        on_delta: OnDelta<'_>,
    ) -> impl Future<Output = Result<ModelAnswer, ModelFailure>> + Send;
}

type BoxedAnswer<'a> = Pin<Box<dyn Future<Output = Result<ModelAnswer, ModelFailure>> + Send + 'a>>;

trait ErasedClient: Send + Sync {
    fn ask<'a>(&'a self, request: &'a ModelRequest, on_delta: OnDelta<'a>) -> BoxedAnswer<'a>;
}

impl<C: ModelClient> ErasedClient for C {
    fn ask<'a>(&'a self, request: &'a ModelRequest, on_delta: OnDelta<'a>) -> BoxedAnswer<'a> {
        Box::pin(ModelClient::ask(self, request, on_delta))
    }
}

/// A shared [`ModelClient`]. Cloning is cheap.
#[derive(Clone)]
pub struct SharedClient(Arc<dyn ErasedClient>);

impl SharedClient {
    pub fn new(client: impl ModelClient) -> Self {
        Self(Arc::new(client))
    }

    pub(crate) async fn ask(&self, request: &ModelRequest, on_delta: OnDelta<'_>) -> Result<ModelAnswer, ModelFailure> {
        self.0.ask(request, on_delta).await
    }
}

impl fmt::Debug for SharedClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("code")
    }
}
