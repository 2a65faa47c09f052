//! What may have been meant.

use reknit_protocol::spelling::nearest;

/// How many names a hint lists.
const LISTED: usize = 8;

/// The name that may be meant, or else the names there are.
pub(super) fn suggestion(wanted: &str, names: &[&str]) -> String {
    match nearest(wanted, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => listed(names),
    }
}

/// The names there are, as many as a person reads.
pub(super) fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(LISTED) {
        _ if names.is_empty() => "there is none at all".to_owned(),
        Some(more @ 1..) => format!("there is {} and {more} more", shown.join(", ")),
        _ => format!("there is {}", shown.join(", ")),
    }
}
