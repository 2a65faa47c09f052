//! Services as their callers see them, over real loopback HTTP.
#![cfg(test)]

mod arguments;
mod endings;
mod keys;
mod limits;
mod paths;
mod support;
