//! Durations as people write them.

/// A duration with a unit: `50 ms`, `1.5 s`, `2 min`, `1 h 30 min`.
pub fn human_duration(ms: u64) -> String {
    const SECOND: u64 = 1_000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    let two = |large: u64, large_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{large} {large_unit}"),
        small => format!("{large} {large_unit} {small} {small_unit}"),
    };
    match ms {
        ..SECOND => format!("{ms} ms"),
        SECOND..MINUTE if ms.is_multiple_of(SECOND) => format!("{} s", ms / SECOND),
        SECOND..MINUTE => format!("{}.{} s", ms / SECOND, ms % SECOND / 100),
        MINUTE..HOUR => two(ms / MINUTE, "min", ms % MINUTE / SECOND, "s"),
        HOUR.. => two(ms / HOUR, "h", ms % HOUR / MINUTE, "min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_printed_in_the_units_that_people_use() {
        for (ms, text) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_000, "1 s"),
            (1_550, "1.5 s"),
            (90_000, "1 min 30 s"),
            (120_000, "2 min"),
            (7_200_000, "2 h"),
            (5_400_000, "1 h 30 min"),
        ] {
            assert_eq!(human_duration(ms), text);
        }
    }
}
