//! The tags of Go's validator: `failed on the 'required' tag`.

use reknit_protocol::Number;
use reknit_salvage::Bound;

use crate::facts::Says;

/// What a tag says. Its limit is seldom shown.
pub(super) fn meaning(tag: &str) -> Says {
    let (name, parameter) = tag.split_once('=').unwrap_or((tag, ""));
    let bound = |side| Number::parse(parameter).map_or(Says::Invalid, |limit| Says::Bound { side, limit });
    match name {
        "required" => Says::Missing,
        "gt" => bound(Bound::MoreThan),
        "gte" | "min" => bound(Bound::AtLeast),
        "lt" => bound(Bound::LessThan),
        "lte" | "max" => bound(Bound::AtMost),
        "datetime" | "email" | "url" | "uuid" => Says::Format { form: Some(name.to_owned()), example: None },
        _ => Says::Invalid,
    }
}
