//! Statistics over many rounds.

/// The median, which a busy moment of the machine hardly changes.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The minimum and the maximum.
pub fn min_max(numbers: &[f64]) -> (f64, f64) {
    numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), &number| (min.min(number), max.max(number)))
}
