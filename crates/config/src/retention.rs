//! `keep-time`, `keep-runs` and `keep-size` of `[journal]`.

use std::time::Duration;

use reknit_journal::Retention;

use super::ByteSize;

/// Which ended runs the journal keeps. 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepSettings {
    /// For how long after its end.
    pub time: Duration,
    pub runs: u32,
    pub size: ByteSize,
}

impl Default for KeepSettings {
    /// Three months of occasional work. With 10,000 runs a day, ten days; the file stays below 4 GB, whatever the runs are.
    fn default() -> Self {
        Self { time: Duration::from_hours(90 * 24), runs: 100_000, size: ByteSize(4_000_000_000) }
    }
}

impl KeepSettings {
    /// The limits as the journal takes them.
    pub fn retention(&self) -> Retention {
        let limit = |number: u64| (number > 0).then_some(number);
        Retention {
            max_age_ms: limit(u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX)),
            max_runs: limit(self.runs.into()),
            max_bytes: limit(self.size.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_no_limit() {
        let all = KeepSettings { time: Duration::ZERO, runs: 0, size: ByteSize(0) };
        assert_eq!(all.retention(), Retention::default());
        let retention = KeepSettings::default().retention();
        assert_eq!((retention.max_runs, retention.max_bytes), (Some(100_000), Some(4_000_000_000)));
        assert_eq!(retention.max_age_ms, Some(90 * 86_400_000));
    }
}
