//! Sources of tools, and calls to tools.
//!
//! ```text
//! sources -> discover -> Catalogue (descriptions, for the engine) + Tools (routes, for calls)
//! Tools::call(&CallTool) -> ToolReply | TransportFailure     one call, no retry
//! ```
//!
#![cfg_attr(feature = "http", doc = "```no_run")]
#![cfg_attr(not(feature = "http"), doc = "```ignore")]
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

#[cfg(feature = "commands")]
mod command;
#[cfg(any(feature = "commands", feature = "http"))]
mod defined_capability;
mod definition_pins;
mod discovery;
#[cfg(feature = "http")]
mod http;
mod instances;
#[cfg(feature = "commands")]
mod leftovers;
mod listing_store;
mod off_workers;
#[cfg(feature = "openapi")]
mod openapi;
mod option_words;
#[cfg(feature = "http")]
mod plain_http;
#[cfg(any(feature = "commands", feature = "http"))]
mod reply_body;
mod sandbox;
mod secrets;
mod source;
#[cfg(any(feature = "commands", feature = "http"))]
mod template;
#[cfg(feature = "http")]
mod tool_service;

#[cfg(feature = "commands")]
pub use command::{CommandInput, CommandOptions, CommandTool};
#[cfg(any(feature = "commands", feature = "http"))]
pub use defined_capability::{DefinedCapability, InvalidDefinition};
pub use definition_pins::{ChangeKind, ChangeOutcome, DefinitionChange, PinPolicy};
pub use discovery::{Discovery, DiscoveryProblem, ToolInstance, discover, discover_all};
#[cfg(feature = "http")]
pub use http::{
    address::{Address, AddressError},
    body::{ReadBodyError, read_bytes},
    client::{Client, ClientError, ConnectionOptions, last_cause},
    credential::{Credential, CredentialError},
    job::callback_reply,
    service::{HttpOptions, HttpService, InvalidHeader, ServiceError, retry_after_ms},
    token::ClientCredentials,
};
#[cfg(feature = "commands")]
pub use leftovers::{Leftovers, adopt_orphans, end_orphans};
pub use listing_store::{ListingStore, write_beside};
pub use off_workers::{LARGE_BYTES, off_workers};
#[cfg(feature = "openapi")]
pub use openapi::{DocumentLocation, OpenApiOptions, OpenApiService};
pub use option_words::{BodyFormat, CommandOutput, ComponentType, SandboxMode};
#[cfg(feature = "http")]
pub use plain_http::{PlainHttpCapability, PlainHttpOptions, PlainHttpService};
pub use sandbox::Sandbox;
pub use secrets::{KnownSecrets, is_secret_name, is_secret_value, password_in_url};
pub use source::{
    BoxFuture, CallFuture, DefinitionAuthor, FoundSources, ListedCapability, Listing, Route, SourceProvider,
    ToolSource, Tools,
};
#[cfg(feature = "http")]
pub use tool_service::ToolService;
