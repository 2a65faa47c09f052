//! Hints for unknown names.

use reknit_protocol::spelling::nearest;

const MAX_LISTED: usize = 8;

/// Suggests the closest name, or lists the existing names.
pub(super) fn suggestion(wanted: &str, names: &[&str]) -> String {
    match nearest(wanted, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => listed(names),
    }
}

/// Lists the existing names, at most [`MAX_LISTED`] of them.
pub(super) fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(MAX_LISTED) {
        _ if names.is_empty() => "there are none".to_owned(),
        Some(more @ 1..) => format!("there is {} and {more} more", shown.join(", ")),
        _ => format!("there is {}", shown.join(", ")),
    }
}
