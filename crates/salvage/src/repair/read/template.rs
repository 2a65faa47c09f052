//! References and expressions in double braces.

/// The length of `{{...}}` at the start of `text`, if it can be a reference or an expression.
pub(super) fn template_len(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("{{")?;
    let len = inside.find("}}")?;
    let body = inside.get(..len)?.trim();
    let is_allowed = |c: char| c.is_alphanumeric() || " ._-[]()+*/%?,<>=!".contains(c) || c == '"' || c == '\'';
    let plausible =
        body.starts_with(|c: char| c.is_alphanumeric() || "_[(".contains(c)) && body.chars().all(is_allowed);
    let quoted_key = body.starts_with('"') || body.contains(':');
    (plausible && !quoted_key).then_some(len + 4)
}
