//! Sliding window of call counts.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::BreakerRules;

/// The number of buckets in a window. Buckets need no memory per call; the window ends at most a sixtieth late.
const BUCKETS: u64 = 60;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Window {
    buckets: VecDeque<Bucket>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Bucket {
    index: u64,
    calls: u32,
    failed: u32,
}

impl Window {
    /// Counts one call; `failed` is 1 for a failed call, else 0.
    pub(super) fn count(&mut self, rules: &BreakerRules, now_ms: u64, failed: u32) {
        self.drop_expired(rules, now_ms);
        let index = bucket_index(rules, now_ms);
        match self.buckets.back_mut() {
            // If the clock went back, the call counts in the newest bucket.
            Some(bucket) if bucket.index >= index => {
                bucket.calls = bucket.calls.saturating_add(1);
                bucket.failed = bucket.failed.saturating_add(failed);
            }
            _ => self.buckets.push_back(Bucket { index, calls: 1, failed }),
        }
    }

    pub(super) fn is_failing(&mut self, rules: &BreakerRules, now_ms: u64) -> bool {
        self.drop_expired(rules, now_ms);
        let sum = |count: fn(&Bucket) -> u32| self.buckets.iter().map(|bucket| u64::from(count(bucket))).sum::<u64>();
        let (calls, failed) = (sum(|bucket| bucket.calls), sum(|bucket| bucket.failed));
        calls >= u64::from(rules.min_calls) && failed * 100 >= calls * u64::from(rules.failure_percent)
    }

    fn drop_expired(&mut self, rules: &BreakerRules, now_ms: u64) {
        let oldest = bucket_index(rules, now_ms).saturating_sub(BUCKETS);
        while self.buckets.front().is_some_and(|bucket| bucket.index < oldest) {
            self.buckets.pop_front();
        }
    }
}

fn bucket_index(rules: &BreakerRules, now_ms: u64) -> u64 {
    now_ms / (rules.window_ms / BUCKETS).max(1)
}
