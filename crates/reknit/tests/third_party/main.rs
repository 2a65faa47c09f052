//! Services and servers that others wrote. `./check third-party` installs them and runs these tests.
#![cfg(test)]

mod fastapi;
mod redis;
mod redis_server;
mod server;
