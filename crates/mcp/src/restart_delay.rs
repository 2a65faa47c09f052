//! When a server that ended is started again.

use std::time::Duration;

/// The wait before each start, in seconds, by the number of failures in a row before it.
const DELAYS: [u64; 7] = [0, 1, 2, 5, 10, 30, 60];

/// The wait after a number of failures in a row.
pub(crate) fn restart_delay(failures: u32) -> Duration {
    let index = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX).min(DELAYS.len() - 1);
    Duration::from_secs(DELAYS.get(index).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_with_each_failure_up_to_a_minute() {
        let delays: Vec<u64> = (1..10).map(|failures| restart_delay(failures).as_secs()).collect();
        assert_eq!(delays, [0, 1, 2, 5, 10, 30, 60, 60, 60]);
        assert_eq!(restart_delay(u32::MAX).as_secs(), 60);
    }
}
