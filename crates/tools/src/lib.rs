//! Sources of tools, and calls to tools.
//!
//! ```text
//! sources -> discover -> Catalogue (descriptions, for the engine) + Tools (routes, for calls)
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

mod command;
mod defined_capability;
mod definition_pins;
mod discovery;
mod http;
mod instances;
mod known_secrets;
mod listing_store;
mod off_workers;
mod openapi;
mod pin_check;
mod plain_http;
mod sandbox;
mod secret_names;
mod source;
mod template;
mod tool_service;
mod tools;

pub use command::{CommandInput, CommandOptions, CommandOutput, CommandTool};
pub use defined_capability::{DefinedCapability, InvalidDefinition};
pub use definition_pins::{ChangeOutcome, DefinitionChange, PinPolicy};
pub use discovery::{Discovery, DiscoveryProblem, discover, discover_all, discover_with};
pub use http::address::{Address, AddressError, ComponentType};
pub use http::client::{Client, ClientError, ConnectionOptions};
pub use http::credential::{Credential, CredentialError};
pub use http::job::callback_reply;
pub use http::service::{HttpOptions, HttpService, InvalidHeader, ServiceError};
pub use http::token::ClientCredentials;
pub use known_secrets::KnownSecrets;
pub use listing_store::ListingStore;
pub use off_workers::{LARGE_BYTES, off_workers};
pub use openapi::{DocumentLocation, OpenApiOptions, OpenApiService};
pub use plain_http::{BodyFormat, PlainHttpCapability, PlainHttpOptions, PlainHttpService};
pub use sandbox::{Sandbox, SandboxMode};
pub use secret_names::{is_secret_name, is_secret_value, password_in_url};
pub use source::{
    BoxFuture, DefinitionAuthor, FoundSources, ListedCapability, Listing, Route, SourceProvider, ToolSource,
};
pub use tool_service::ToolService;
pub use tools::Tools;
