//! Finds what a person names by the first characters of its id.

use reknit_protocol::spelling::nearest;

use crate::output::Failure;

const MAX_LISTED: usize = 5;

/// The only item whose id starts with `name`. `thing` is the word for it in messages, such as `rule`.
pub(crate) fn find_by_id<'a, T>(
    items: &'a [T],
    id: impl Fn(&T) -> String,
    name: &str,
    thing: &str,
) -> Result<&'a T, Failure> {
    let ids: Vec<String> = items.iter().map(id).collect();
    let found: Vec<(&T, &String)> =
        items.iter().zip(&ids).filter(|(_, id)| !name.is_empty() && id.starts_with(name)).collect();
    match found.as_slice() {
        [(item, _)] => Ok(item),
        [] => {
            let hint = match nearest(name, ids.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`? `reknit {thing}s list` lists all {thing}s"),
                None => format!("list the {thing}s with `reknit {thing}s list`"),
            };
            Err(Failure::usage(format!("there is no {thing} `{name}`"), hint))
        }
        several => {
            let names: Vec<&str> = several.iter().take(MAX_LISTED).map(|(_, id)| id.as_str()).collect();
            let hint = format!("give more characters of one of: {}", names.join(", "));
            Err(Failure::usage(format!("several {thing}s start with `{name}`"), hint))
        }
    }
}
