//! What somebody probably meant.

/// The name that is nearest to a misspelt one, if one is near at all.
pub(super) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wanted.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|name| (distance(&plain(wanted), &plain(name)), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Case and separators are what people and models get wrong most.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters must be put in, taken out or exchanged.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.iter().enumerate() {
        let mut corner = index;
        let mut last = index + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(right) {
            let exchanged = corner + usize::from(from != to);
            corner = *cell;
            last = exchanged.min(corner + 1).min(last + 1);
            *cell = last;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["get_weather", "get_stock_quote", "geocode"];
        for (wanted, expected) in [
            ("getWeather", Some("get_weather")),
            ("get_wether", Some("get_weather")),
            ("geocoding", Some("geocode")),
            ("book_hotel", None),
            ("", None),
        ] {
            assert_eq!(nearest(wanted, names), expected, "case: {wanted}");
        }
    }

    #[test]
    fn distance_counts_edits() {
        for (left, right, expected) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)]
        {
            let [left, right] = [left, right].map(|text: &str| text.chars().collect::<Vec<_>>());
            assert_eq!(distance(&left, &right), expected);
        }
    }
}
