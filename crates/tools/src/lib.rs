//! Discovers tools and calls them over HTTP.
//!
//! ```text
//! addresses -> Client::discover -> Catalogue (descriptions, for the engine) + Tools (routes, for calls)
//! Tools::call(&CallTool) -> ToolReply | TransportFailure     one call, no retry
//! ```
//!
//! ```no_run
//! use reknit_tools::{Address, Client};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let discovery = Client::new()?.discover(&[Address::parse("weather-tool", "http://127.0.0.1:8085")?]).await;
//! for problem in &discovery.problems {
//!     eprintln!("{problem}");
//! }
//! println!("{} tools", discovery.catalogue.tools.len());
//! # Ok(())
//! # }
//! ```
//!
//! This crate never retries: the engine decides whether a failed call is repeated.

mod address;
mod body;
mod call;
mod client;
mod discovery;

pub use address::{Address, AddressError, ComponentType};
pub use client::{Client, ClientError, Tools};
pub use discovery::{Discovery, DiscoveryProblem};
