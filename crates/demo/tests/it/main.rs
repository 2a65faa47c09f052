//! The demo as its callers see it, over real loopback HTTP.
#![cfg(test)]

mod story;
mod support;
mod tools;
