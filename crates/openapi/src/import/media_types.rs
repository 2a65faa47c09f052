//! Choosing one media type of several.

use crate::operation::BodyKind;

/// The kind of body that a media type means.
pub(super) fn kind(media_type: &str) -> BodyKind {
    let name = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match name.as_str() {
        "application/x-www-form-urlencoded" => BodyKind::Form,
        "*/*" | "application/*" | "application/json" | "text/json" | "application/x-json" => BodyKind::Json,
        _ if name.ends_with("+json") => BodyKind::Json,
        _ if name.starts_with("multipart/") => BodyKind::Multipart,
        _ => BodyKind::Text,
    }
}

/// The item with the preferred media type: JSON, then forms, then multipart, then text, then the first.
pub(super) fn preferred<T>(items: &[T], media_type: impl Fn(&T) -> &str) -> Option<&T> {
    let rank = |name: &str| match kind(name) {
        BodyKind::Json if name.contains('*') => 1,
        BodyKind::Json => 0,
        BodyKind::Form => 2,
        BodyKind::Multipart => 3,
        BodyKind::Text if name.starts_with("text/") => 4,
        BodyKind::Text => 5,
    };
    items.iter().min_by_key(|item| rank(media_type(item)))
}

/// The type as it is sent: a range such as `*/*` is not one.
pub(super) fn concrete(media_type: &str) -> String {
    let media_type = media_type.trim();
    match kind(media_type) {
        BodyKind::Json if media_type.contains('*') => "application/json".to_owned(),
        _ if media_type.contains('*') => "application/octet-stream".to_owned(),
        _ => media_type.to_owned(),
    }
}

/// Whether a text can be the value of a header.
pub(super) fn is_valid(media_type: &str) -> bool {
    !media_type.trim().is_empty() && media_type.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}
