//! Scripted servers as clients see them, over loopback HTTP.
#![cfg(test)]

mod cassette;
mod clock;
mod faults;
mod model;
mod support;
mod tool;
