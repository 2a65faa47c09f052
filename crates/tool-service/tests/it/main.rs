//! Services as callers see them, over loopback HTTP.
#![cfg(test)]

mod idempotency;
mod limits;
mod local;
mod registration;
mod routes;
mod shutdown;
mod support;
mod validation;
