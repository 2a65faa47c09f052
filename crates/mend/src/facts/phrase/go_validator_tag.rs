//! The tags of Go's validator package: `failed on the 'required' tag`.

use reknit_protocol::Number;
use reknit_salvage::Comparison;

use crate::facts::FactKind;

/// The fact that a tag states. Most errors show a tag without its limit.
pub(super) fn fact_kind(tag: &str) -> FactKind {
    let (name, parameter) = tag.split_once('=').unwrap_or((tag, ""));
    let bound = |side| Number::parse(parameter).map_or(FactKind::Invalid, |limit| FactKind::Bound { side, limit });
    match name {
        "required" => FactKind::Missing,
        "gt" => bound(Comparison::MoreThan),
        "gte" | "min" => bound(Comparison::AtLeast),
        "lt" => bound(Comparison::LessThan),
        "lte" | "max" => bound(Comparison::AtMost),
        "datetime" | "email" | "url" | "uuid" => FactKind::Format { format: Some(name.to_owned()), example: None },
        _ => FactKind::Invalid,
    }
}
