//! The HTTP API of Reknit: starts, follows and controls runs, and offers mending to programs in any language.
//!
//! ```no_run
//! use reknit::Reknit;
//! use reknit_server::{Access, Server};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let reknit = Reknit::builder().tool_service("weather", "http://127.0.0.1:8085").journal("runs.db").start().await?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8320").await?;
//! Server::new(reknit, Access::OwnMachine).serve(listener, std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Every path is in the OpenAPI document at `/openapi.json`, which is made from the code that answers it: [`openapi`] returns it.
//!
//! | what | where |
//! |---|---|
//! | start a request, a plan or an agent; list and read runs | `/v1/runs` |
//! | follow a run | `/v1/runs/{run}/events`, as server-sent events |
//! | cancel, resume, retry, decide | `POST /v1/runs/{run}/cancel` and so on |
//! | mend a failed call, read a model's text, check a plan | `/v1/mend`, `/v1/repair`, `/v1/plans/check` |
//! | the tools for MCP clients | `/mcp` |
//! | pages for people | `/` |
//! | tools and models | `/v1/tools`, `/v1/targets` |
//! | ask models in the APIs of their providers, with mended answers | `/v1/chat/completions`, `/v1/responses`, `/v1/messages` |

mod access;
mod api_error;
mod catalogue;
mod client_api;
mod compat;
mod connections;
mod control;
mod events;
mod gateway;
mod mcp;
mod mending;
mod page_request;
mod places;
mod request;
mod run_view;
mod runs;
mod server;
mod start_run;
mod state;
mod tls;
mod token;
mod ui;

pub use access::Access;
pub use server::{Server, openapi};
pub use tls::TlsFiles;
pub use token::{InvalidScope, InvalidTokenHash, Scope, Token, TokenHash};
