//! Services and servers that others wrote. `./check third-party` installs them and runs these tests.
#![cfg(test)]

mod documented_tools;
mod fastapi;
mod mcp;
mod redis;
mod redis_server;
mod server;
mod web_ui;
