//! Scripted servers as clients see them, over real loopback HTTP.
#![cfg(test)]

mod cassette;
mod clock;
mod faults;
mod model;
mod support;
mod tool;
