//! When a gate closes, and for how long.

use serde::{Deserialize, Serialize};

/// When a gate closes, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRules {
    /// How far back calls count.
    pub window_ms: u64,
    /// How many calls there must be in that time before their failures count.
    pub calls: u32,
    /// How many of a hundred of them must fail to close the gate. More than 100 keeps it open.
    pub percent: u32,
    /// How long it then rests; also the longest rest.
    pub rest_ms: u64,
    /// How many failures in a row, with no answer between them, close it as well.
    pub in_a_row: Option<u32>,
    /// How long it rests after those. Each probe that fails doubles it, up to the longest.
    pub first_rest_ms: u64,
    /// How long it cools down after a rate limit that does not say how long: so long for each in a row.
    pub cool_down_ms: u64,
    /// The longest that anybody may ask it to cool down.
    pub longest_cool_down_ms: u64,
}

impl GateRules {
    /// For a service with tools: 30 s of rest when half of at least 10 calls within 60 s fail; as long a cool-down as it
    /// asks for, up to a minute.
    pub fn service() -> Self {
        Self {
            window_ms: 60_000,
            calls: 10,
            percent: 50,
            rest_ms: 30_000,
            in_a_row: None,
            first_rest_ms: 5_000,
            cool_down_ms: 0,
            longest_cool_down_ms: 60_000,
        }
    }

    /// For a model that others can stand in for: the same, and a rest of 5 s, then 10, 20 and 30 s, as soon as two attempts
    /// in a row fail; after a rate limit at least a second.
    pub fn model() -> Self {
        Self { in_a_row: Some(2), cool_down_ms: 1_000, ..Self::service() }
    }

    /// For a model that others cannot stand in for, or that is asked in turn with them: as a service, and at least a second
    /// after a rate limit.
    pub fn model_in_turn() -> Self {
        Self { in_a_row: None, ..Self::model() }
    }
}
