//! The demo over real loopback HTTP.
#![cfg(test)]

mod scenario;
mod support;
mod tools;
