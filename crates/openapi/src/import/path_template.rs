//! Paths with placeholders.

use reknit_protocol::percent_encoded_except;

use crate::operation::PathPart;

/// A path as it is sent, with places for parameters.
#[derive(Debug)]
pub(super) struct PathTemplate {
    pub(super) parts: Vec<PathPart>,
    /// The pairs of a query that is part of the path, as written.
    pub(super) query: Vec<String>,
    /// Whether the path had a fragment, which is not sent.
    pub(super) has_fragment: bool,
}

impl PathTemplate {
    pub(super) fn placeholders(&self) -> Vec<String> {
        let name = |part: &PathPart| match part {
            PathPart::Parameter(name) => Some(name.clone()),
            PathPart::Literal(_) => None,
        };
        self.parts.iter().filter_map(name).collect()
    }

    /// The name that a placeholder is sent under if it is a value in the query of the path, as in `/a?name={placeholder}`.
    pub(super) fn query_name(&self, placeholder: &str) -> Option<&str> {
        let is_value = |text: &str| text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) == Some(placeholder);
        self.query
            .iter()
            .filter_map(|pair| pair.split_once('='))
            .find(|(_, value)| is_value(value))
            .map(|(name, _)| name)
    }
}

pub(super) fn read(path: &str) -> Result<PathTemplate, String> {
    if !path.starts_with('/') {
        return Err(format!("the path `{path}` must begin with `/`"));
    }
    let (path, fragment) = split_outside_braces(path, '#');
    if fragment.is_some_and(|fragment| fragment.contains(['{', '}'])) {
        return Err("a placeholder after a `#` in the path is not supported".to_owned());
    }
    let (path, query) = split_outside_braces(path, '?');
    let mut parts = Vec::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return Err("a `{` in the path is not closed".to_owned());
        };
        if name.is_empty() || name.contains('{') {
            return Err("the path has a placeholder without a name".to_owned());
        }
        push_literal(&mut parts, before)?;
        parts.push(PathPart::Parameter(name.to_owned()));
        rest = after;
    }
    push_literal(&mut parts, rest)?;
    let query = query.into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
    let query = query.map(str::to_owned).collect();
    Ok(PathTemplate { parts, query, has_fragment: fragment.is_some() })
}

/// The query of a path without the pairs that are declared as parameters; `None` if nothing is left.
pub(super) fn fixed_query(pairs: &[String], is_parameter: impl Fn(&str) -> bool) -> Result<Option<String>, String> {
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
    let fixed: Vec<&String> = pairs.iter().filter(|pair| !is_parameter(&name(pair))).collect();
    if fixed.iter().any(|pair| pair.contains(['{', '}'])) {
        return Err("a placeholder in the query of the path is not a parameter".to_owned());
    }
    let fixed: Vec<String> = fixed.into_iter().map(|pair| encoded(pair, "=%?")).collect();
    Ok((!fixed.is_empty()).then(|| fixed.join("&")))
}

/// The text before and after the first such character that is not part of a placeholder.
fn split_outside_braces(text: &str, separator: char) -> (&str, Option<&str>) {
    let mut is_inside = false;
    for (at, c) in text.char_indices() {
        match c {
            '{' => is_inside = true,
            '}' => is_inside = false,
            _ if c == separator && !is_inside => {
                return (text.get(..at).unwrap_or_default(), text.get(at + c.len_utf8()..));
            }
            _ => {}
        }
    }
    (text, None)
}

fn push_literal(parts: &mut Vec<PathPart>, text: &str) -> Result<(), String> {
    if text.contains('}') {
        return Err("a `}` in the path has no `{`".to_owned());
    }
    if !text.is_empty() {
        parts.push(PathPart::Literal(encoded(text, "%")));
    }
    Ok(())
}

/// The text with everything encoded that must not stand in a path or query, except for what the author wrote on purpose.
fn encoded(text: &str, also_allowed: &str) -> String {
    percent_encoded_except(text, &format!("/!$&'()*+,;=:@{also_allowed}"))
}
