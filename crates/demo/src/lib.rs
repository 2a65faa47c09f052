//! Four honest tools on embedded data, and the scripted words of a model: a story that needs no key.
//!
//! ```text
//! stock-tool      get_stock_quote, place_order      model: the plan, two analyses, one that mends, an answer
//! geocoding-tool  geocode                           request: sell 100 Tesla shares for a trip to Seoul
//! weather-tool    get_weather
//! currency-tool   convert_currency
//! ```
//!
//! The tools are built with `reknit-toolkit` and speak the protocol on loopback. Their data is fixed and a few lines
//! long, but nothing in them pretends: what they do not know they report. The model's words are fixed, too, and are
//! those of a careless one: the plan comes in prose with a trailing comma, and the amount to convert is 0. No word of
//! it holds a computed number.
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
//! Where to go next: [`Demo`] for everything at once, [`Tools`] for the tools alone (with a model of your own),
//! [`Faults`] for what can be made to fail, [`story`] for the words.

pub mod story;

mod currency;
mod data;
mod demo;
mod faults;
mod geocoding;
mod orders;
mod stock;
mod tools;
mod weather;

pub use demo::Demo;
pub use faults::Faults;
pub use orders::{Order, Orders};
pub use tools::{StartError, Tools};
