//! The programs around a gateway that is measured: a scripted model, a proxy that only copies, and a client that measures.
//!
//! ```text
//! gateway-load model PORT
//! gateway-load proxy PORT MODEL_PORT
//! gateway-load load PORT CONNECTIONS CALLS whole|stream MODEL [NAME:VALUE...]
//! ```
//!
//! Each uses one thread. The client prints one line of JSON, and ends with 1 if a response is not as it should be.

mod client;
mod model;
mod proxy;

use std::error::Error;

/// Any error: these programs only print it.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            match words.as_slice() {
                ["model", port] => model::serve(port.parse()?).await,
                ["proxy", port, model] => proxy::serve(port.parse()?, model.parse()?).await,
                ["load", port, connections, calls, form, model, headers @ ..] => {
                    let load = client::Load::new(port.parse()?, calls.parse()?, form, model, headers)?;
                    client::run(load, connections.parse()?).await
                }
                _ => Err("usage: gateway-load model PORT | proxy PORT MODEL_PORT | load PORT CONNECTIONS CALLS whole|stream MODEL [NAME:VALUE...]".into()),
            }
        })
        .await
}
