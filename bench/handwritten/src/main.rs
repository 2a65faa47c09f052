//! What a Restate user writes by hand for the plans that `overhead.py` measures: the same calls of the same tool service, without Reknit.
//!
//! usage: handwritten LISTEN SERVICE_URL
//!
//! `HandwrittenOrder/<key>/run` is a workflow that gets a list of stages, each a list of calls. The calls of a stage run at the same
//! time, so they are invocations of a service, because futures of `ctx.run` cannot be joined; a call that is alone in its stage is a step of
//! the workflow itself, unless the request says otherwise. A read and a keyed call are one step. A call that must not be repeated is claimed in a step of its own
//! before it is made, and an attempt that finds the claim of an earlier one fails the workflow.

use std::sync::Mutex;

use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A workflow to run.
#[derive(Serialize, Deserialize)]
struct Order {
    order: String,
    stages: Vec<Vec<String>>,
    /// Whether every call is an invocation of the service.
    #[serde(default)]
    all_as_invocations: bool,
}

/// A call of the tool service.
#[derive(Serialize, Deserialize)]
struct ToolCall {
    capability: String,
    order: String,
    /// The same at every attempt.
    key: String,
}

/// The tool service.
#[derive(Clone)]
struct Shop {
    http: reqwest::Client,
    url: String,
}

impl Shop {
    /// Makes a call. Answers with an error are tried again by Restate, as a step that fails is.
    async fn call(&self, call: &ToolCall) -> HandlerResult<Json<Value>> {
        let url = format!("{}/api/capabilities/{}", self.url, call.capability);
        let body = json!({ "order": call.order, "delay_ms": 0 });
        let request = self.http.post(url).header("idempotency-key", &call.key).json(&body);
        let answer: Value = request.send().await?.error_for_status()?.json().await?;
        match answer.get("data") {
            Some(data) => Ok(Json(data.clone())),
            None => Err(TerminalError::new(format!("the tool refused: {answer}")).into()),
        }
    }
}

/// Whether a call of this capability may be sent twice: reads, and calls that the tool service knows by their key.
fn may_be_repeated(capability: &str) -> bool {
    matches!(capability, "look" | "place")
}

/// Makes a call in steps of the current invocation.
macro_rules! call_in_steps {
    ($shop:expr, $ctx:expr, $call:expr) => {{
        let (shop, call) = ($shop, $call);
        if may_be_repeated(&call.capability) {
            let step = || async move { shop.call(call).await };
            $ctx.run(step).name("call").await?.into_inner()
        } else {
            let claimed_here = Mutex::new(false);
            let slot = &claimed_here;
            let claim = || async move {
                *slot.lock().expect("nobody panics with it") = true;
                Ok(())
            };
            $ctx.run(claim).name("claim").await?;
            if !claimed_here.into_inner().expect("nobody panics with it") {
                let message = format!("`{}` may have been made already", call.key);
                return Err(TerminalError::new(message).into());
            }
            let step = || async move { shop.call(call).await };
            $ctx.run(step).name("call").await?.into_inner()
        }
    }};
}

struct HandwrittenCall(Shop);

#[service]
impl HandwrittenCall {
    #[handler]
    async fn make(&self, ctx: Context<'_>, call: Json<ToolCall>) -> HandlerResult<Json<Value>> {
        let call = call.into_inner();
        Ok(Json(call_in_steps!(&self.0, ctx, &call)))
    }
}

struct HandwrittenOrder(Shop);

#[workflow]
impl HandwrittenOrder {
    #[handler]
    async fn run(&self, ctx: WorkflowContext<'_>, order: Json<Order>) -> HandlerResult<Json<Vec<Value>>> {
        let Order { order, stages, all_as_invocations } = order.into_inner();
        let mut results = Vec::new();
        for (at, stage) in stages.into_iter().enumerate() {
            let is_alone = stage.len() == 1;
            let key = |number: usize| format!("{}/{at}/{number}", ctx.key());
            let calls = stage.into_iter().enumerate();
            let calls =
                calls.map(|(number, capability)| ToolCall { capability, order: order.clone(), key: key(number) });
            if is_alone && !all_as_invocations {
                for call in calls {
                    results.push(call_in_steps!(&self.0, ctx, &call));
                }
                continue;
            }
            let made: Vec<_> =
                calls.map(|call| ctx.service_client::<HandwrittenCallClient>().make(Json(call)).call()).collect();
            for result in made {
                results.push(result.await?.into_inner());
            }
        }
        Ok(Json(results))
    }
}

/// A listener whose connections send small frames at once. The SDK does not say so to connections that it accepts, but they inherit it.
fn listener(address: &str) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_nodelay(true)?;
    socket.set_reuseaddr(true)?;
    socket.bind(address.parse().map_err(std::io::Error::other)?)?;
    socket.listen(1024)
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(listen), Some(url)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: handwritten LISTEN SERVICE_URL");
        std::process::exit(2);
    };
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().build().expect("a client without TLS can be made");
    let shop = Shop { http, url };
    // As Reknit's workers: what has ended is not kept.
    let options = || ServiceOptions::new().journal_retention(std::time::Duration::ZERO);
    let endpoint = Endpoint::builder()
        .bind(HandwrittenOrder(shop.clone()).into_service_definition().options(options()))
        .bind(HandwrittenCall(shop).into_service_definition().options(options()))
        .build();
    let listener = listener(&listen).expect("the address is free");
    HttpServer::new(endpoint).serve_with_cancel(listener, std::future::pending::<()>()).await;
}
