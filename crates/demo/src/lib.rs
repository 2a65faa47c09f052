//! Four working tools on embedded data, and a model with scripted replies: a demo that needs no API key.
//!
//! ```text
//! stock-tool      get_stock_quote, place_order      model: a plan, four repairs (one succeeds), an answer
//! geocoding-tool  geocode                           request: sell 100 Tesla shares for a trip to Seoul
//! weather-tool    get_weather
//! currency-tool   convert_currency
//! ```
//!
//! The tools are built with `reknit-tool-service` and speak the protocol on loopback. Their data is fixed and small, but they
//! compute every result from it and return an error for anything that it does not contain. The replies of the model are
//! fixed, too, and careless: the plan comes in prose with a trailing comma, and the amount to convert is 0. No reply
//! contains a computed number.
//!
//! ```
//! use reknit_demo::Demo;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let demo = Demo::start().await?;
//! assert_eq!(demo.tools.endpoints().len(), 4);
//! println!("{} -> {}", demo.request, demo.model_base_url());
//! demo.shutdown().await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`Demo`] for everything at once, [`DemoTools`] for the tools alone (with a model of your own),
//! [`Faults`] for simulated failures, [`scenario`] for the request and the replies of the model.

pub mod scenario;

mod currency;
mod data;
mod faults;
mod geocoding;
mod stock;
mod tools;
mod weather;

pub use faults::Faults;
pub use stock::{Order, Orders};
pub use tools::{Demo, DemoStartError, DemoTools, capabilities};
