//! Tools on the wire, and how they are found.
//!
//! ```text
//! addresses -> discover -> Catalogue (what the engine knows) + Tools (who to call and where)
//! Tools::call(&CallTool) -> ToolReply | TransportFailure     one call, never a second
//! ```
//!
//! ```no_run
//! use reknit_tools::{Address, Client};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let found = Client::new()?.discover(&[Address::parse("weather-tool", "http://127.0.0.1:8085")?]).await;
//! for problem in &found.problems {
//!     eprintln!("{problem}");
//! }
//! println!("{} tools", found.catalogue.tools.len());
//! # Ok(())
//! # }
//! ```
//!
//! Whether a failed call is made again is never decided here.

mod address;
mod call;
mod client;
mod discover;
mod read;

pub use address::{Address, AddressError};
pub use client::{Client, ClientError, Tools};
pub use discover::{Found, Problem};
