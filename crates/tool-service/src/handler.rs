//! The trait that tool authors implement, and its untyped form that services store.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Retryable, ToolError, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::CallContext;
use crate::reply::Reply;

/// Answers calls with typed arguments. Every `async fn(CallContext, Args) -> Result<Output, ToolError>` is a handler.
///
/// A handler runs to its end even if the caller disconnects, because half an effect is worse than an unread answer. Only
/// its time limit or the end of the service stops it. An error with [`Retryable::Yes`] promises that the call had no
/// effect.
pub trait Handler<Args>: Send + Sync + 'static {
    /// The data of a successful answer.
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

type BoxedReply<'a> = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

/// A handler of any argument type: JSON parameters in, a reply out.
pub(crate) trait JsonHandler: Send + Sync {
    /// Answers a call whose parameters fit the schema.
    fn answer(&self, context: CallContext, parameters: Value) -> BoxedReply<'_>;
}

impl fmt::Debug for dyn JsonHandler {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JsonHandler")
    }
}

pub(crate) struct TypedHandler<H, Args> {
    handler: H,
    args: PhantomData<fn(Args)>,
}

impl<H, Args> TypedHandler<H, Args> {
    pub(crate) fn new(handler: H) -> Self {
        Self { handler, args: PhantomData }
    }
}

impl<H: Handler<Args>, Args: DeserializeOwned + Send + 'static> JsonHandler for TypedHandler<H, Args> {
    fn answer(&self, context: CallContext, parameters: Value) -> BoxedReply<'_> {
        Box::pin(async move {
            let args = match deserialize::<Args>(parameters) {
                Ok(args) => args,
                Err(error) => return Reply::error(&unreadable(&error)),
            };
            match self.handler.call(context, args).await {
                Ok(output) => serialize(&output),
                Err(error) => Reply::error(&error),
            }
        })
    }
}

/// Goes through text, which keeps every digit for types that read them.
fn deserialize<Args: DeserializeOwned>(mut parameters: Value) -> Result<Args, serde_json::Error> {
    serde_json::from_str(&parameters.to_string()).or_else(|_| {
        // JSON Schema counts `5.0` as an integer; serde does not.
        respell_integers(&mut parameters);
        serde_json::from_str(&parameters.to_string())
    })
}

/// Writes every whole number without a point and an exponent.
fn respell_integers(value: &mut Value) {
    match value {
        Value::Number(number) => *number = number.to_integer().unwrap_or_else(|| number.clone()),
        Value::Array(items) => items.iter_mut().for_each(respell_integers),
        Value::Object(object) => object.iter_mut().for_each(|(_, member)| respell_integers(member)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The type demands something that its schema does not say.
fn unreadable(error: &serde_json::Error) -> ToolError {
    let message = format!("the parameters cannot be read: {error}");
    ToolError::new(codes::INVALID_FORMAT, message, Category::InputError)
        .retryable(Retryable::Yes)
        .detail("hint", "the JSON Schema of this capability says what it accepts")
}

/// The handler has run, so an answer that cannot be written must not lead to another call.
fn serialize(output: &impl Serialize) -> Reply {
    let text = serde_json::to_string(output).map_err(|error| error.to_string());
    match text.and_then(|text| Value::parse(&text).map_err(|error| error.to_string())) {
        Ok(data) => Reply::data(data),
        Err(error) => Reply::internal_error(&format!("the answer cannot be written as JSON: {error}")),
    }
}
