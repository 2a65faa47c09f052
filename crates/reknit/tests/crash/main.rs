//! The real binary, killed with SIGKILL wherever its journal stands, and resumed; watched, ended and contested by other
//! processes; and with a journal that cannot be written or has lost its tail.
#![cfg(test)]

mod beside;
mod contest;
mod disk;
mod moments;
mod positions;
mod sessions;
mod tail;
mod world;
