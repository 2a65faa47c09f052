//! The calls of the last while, counted.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::GateRules;

/// Into how many parts the window is divided. Counts per part need no room per call, and the window ends a sixtieth late
/// at most.
const PARTS: u64 = 60;

/// The calls of the last while, counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Window {
    parts: VecDeque<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    index: u64,
    calls: u32,
    failed: u32,
}

impl Window {
    /// Counts a call, and its failure if it is one.
    pub(super) fn count(&mut self, rules: &GateRules, now_ms: u64, failed: u32) {
        self.forget(rules, now_ms);
        let index = index(rules, now_ms);
        match self.parts.back_mut() {
            // A clock that went back counts as one that stood still.
            Some(part) if part.index >= index => {
                part.calls = part.calls.saturating_add(1);
                part.failed = part.failed.saturating_add(failed);
            }
            _ => self.parts.push_back(Part { index, calls: 1, failed }),
        }
    }

    /// Whether so many of so many calls failed.
    pub(super) fn is_failing(&mut self, rules: &GateRules, now_ms: u64) -> bool {
        self.forget(rules, now_ms);
        let sum = |count: fn(&Part) -> u32| self.parts.iter().map(|part| u64::from(count(part))).sum::<u64>();
        let (calls, failed) = (sum(|part| part.calls), sum(|part| part.failed));
        calls >= u64::from(rules.calls) && failed * 100 >= calls * u64::from(rules.percent)
    }

    fn forget(&mut self, rules: &GateRules, now_ms: u64) {
        let oldest = index(rules, now_ms).saturating_sub(PARTS);
        while self.parts.front().is_some_and(|part| part.index < oldest) {
            self.parts.pop_front();
        }
    }
}

fn index(rules: &GateRules, now_ms: u64) -> u64 {
    now_ms / (rules.window_ms / PARTS).max(1)
}
