//! What became of failures, by who mended them.

use reknit_engine::{FailureStatistics, Statistics};

use crate::marks::rung_class;

/// How many failures each mended, and how many nobody did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MendedBy {
    pub(super) code: u64,
    pub(super) model: u64,
    pub(super) person: u64,
    pub(super) not_mended: u64,
}

impl MendedBy {
    pub(super) fn of(statistics: &Statistics) -> Self {
        let mut by = Self::default();
        for failure in statistics.tools.values().flat_map(|tool| tool.failures.values()) {
            by.add(failure);
        }
        by
    }

    pub(super) fn add(&mut self, failure: &FailureStatistics) {
        self.not_mended += failure.not_mended;
        for (name, rung) in &failure.rungs {
            match rung_class(name) {
                "rung-model" => self.model += rung.mended,
                "rung-person" => self.person += rung.mended,
                _ => self.code += rung.mended,
            }
        }
    }

    pub(super) fn all(self) -> u64 {
        self.code + self.model + self.person + self.not_mended
    }
}
