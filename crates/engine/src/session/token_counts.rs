//! The exact token counts of questions, as targets told them.

use std::collections::BTreeMap;

use reknit_model_api::TargetName;
use serde::{Deserialize, Serialize};

/// The last exact token count per target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct TokenCounts(BTreeMap<TargetName, TokenCount>);

/// An exact token count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct TokenCount {
    /// The estimated size of the same question.
    size: u64,
    tokens: u64,
}

impl TokenCounts {
    /// Records the exact token count of a question with this estimated size.
    pub(super) fn record(&mut self, target: &TargetName, size: u64, tokens: u64) {
        if size > 0 && tokens > 0 {
            self.0.insert(target.clone(), TokenCount { size, tokens });
        }
    }

    /// Whether the last exact count is for a question of this size.
    pub(super) fn is_exact(&self, target: &TargetName, size: u64) -> bool {
        self.0.get(target).is_some_and(|count| count.size == size)
    }

    /// Estimates the tokens of a question with this size: the last exact count plus the estimated growth since.
    pub(super) fn estimate(&self, target: &TargetName, size: u64) -> u64 {
        match self.0.get(target) {
            None => size,
            Some(count) if size >= count.size => count.tokens.saturating_add(size - count.size),
            // Part of the question was removed. Add a tenth, because the rest may have more tokens per byte.
            Some(count) => {
                let estimate = u128::from(count.tokens) * u128::from(size) * 11 / (u128::from(count.size) * 10);
                u64::try_from(estimate).unwrap_or(u64::MAX).min(count.tokens).max(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_starts_from_the_last_exact_count_and_rounds_up() {
        let (mut counts, target) = (TokenCounts::default(), TargetName::from("a"));
        assert_eq!(counts.estimate(&target, 500), 500);
        counts.record(&target, 400, 100);
        for (size, tokens) in [(400, 100), (460, 160), (200, 55), (399, 100), (0, 1)] {
            assert_eq!(counts.estimate(&target, size), tokens, "{size}");
        }
        assert!(counts.is_exact(&target, 400) && !counts.is_exact(&target, 401));
    }
}
