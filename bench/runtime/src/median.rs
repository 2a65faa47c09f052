//! What many turns say together.

/// The middle one. A busy moment of the machine moves the slowest and the mean, but hardly this.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The least and the greatest.
pub fn ends(numbers: &[f64]) -> (f64, f64) {
    numbers
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &number| (least.min(number), most.max(number)))
}
