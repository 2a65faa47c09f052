//! What an author writes, and what a service stores.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Retryable, ToolError, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::CallContext;
use crate::check::check;
use crate::reply::Reply;

/// What an author writes: arguments in, an answer or an error out. Every `async fn(CallContext, Args)` is one.
///
/// A handler runs to its end even if the caller goes away, because half an effect is worse than an unread answer; only
/// its time limit or the end of the service cuts it. An error with [`Retryable::Yes`] promises that the call had no
/// effect.
pub trait Handler<Args>: Send + Sync + 'static {
    /// What it answers with.
    type Output: Serialize;

    /// Answers one call.
    fn call(&self, context: CallContext, args: Args) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

impl<F, R, Args, Output> Handler<Args> for F
where
    F: Fn(CallContext, Args) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output, ToolError>> + Send,
    Output: Serialize,
{
    type Output = Output;

    fn call(&self, context: CallContext, args: Args) -> impl Future<Output = Result<Output, ToolError>> + Send {
        self(context, args)
    }
}

/// What a service stores: JSON in, a reply out.
pub(crate) trait DynHandler: Send + Sync {
    fn answer(&self, context: CallContext, body: Value) -> BoxFuture<'static, Reply>;
}

const _: fn(&dyn DynHandler) = |_| {};

/// A handler together with what is needed to read its arguments.
pub(crate) struct Typed<H, Args> {
    handler: Arc<H>,
    schema: Arc<Value>,
    args: PhantomData<fn(Args)>,
}

impl<H, Args> Typed<H, Args> {
    pub(crate) fn new(handler: H, schema: Arc<Value>) -> Self {
        Self { handler: Arc::new(handler), schema, args: PhantomData }
    }
}

impl<H: Handler<Args>, Args: DeserializeOwned + Send + 'static> DynHandler for Typed<H, Args> {
    fn answer(&self, context: CallContext, body: Value) -> BoxFuture<'static, Reply> {
        let (handler, schema) = (Arc::clone(&self.handler), Arc::clone(&self.schema));
        async move {
            let args = match read::<Args>(&schema, body) {
                Ok(args) => args,
                Err(error) => return Reply::error(&error),
            };
            match handler.call(context, args).await {
                Ok(output) => written(&output),
                Err(error) => Reply::error(&error),
            }
        }
        .boxed()
    }
}

/// Text is the way from our value to serde: it keeps every digit for types that want them.
fn read<Args: DeserializeOwned>(schema: &Value, mut body: Value) -> Result<Args, Box<ToolError>> {
    if let Some(error) = check(schema, &mut body) {
        return Err(error.into());
    }
    serde_json::from_str(&body.to_string()).map_err(|error| {
        let message = format!("the parameters cannot be read: {error}");
        let error = ToolError::new(codes::INVALID_FORMAT, message, Category::InputError)
            .retryable(Retryable::Yes)
            .detail("hint", "the schema of this capability says what it takes");
        error.into()
    })
}

/// The handler is done, so what it did stands: an answer that cannot be written is no reason to call it again.
fn written(output: &impl Serialize) -> Reply {
    let text = serde_json::to_string(output).map_err(|error| error.to_string());
    match text.and_then(|text| Value::parse(&text).map_err(|error| error.to_string())) {
        Ok(data) => Reply::data(data),
        Err(error) => Reply::broken(&format!("the answer cannot be written as JSON: {error}")),
    }
}
