//! XML: `<path>/a</path>`, `<open><path>/a</path></open>`, `<open path="/a"/>` and `<parameter name="path">/a</parameter>`.

use reknit_protocol::{Object, Value};

use super::insert;

/// How many elements may be around the parameters.
const MAX_LAYERS: usize = 3;

/// Reads the elements or the attributes of a text that is markup as a whole.
pub(super) fn read(text: &str) -> Option<Object> {
    let mut text = text;
    for _ in 0..=MAX_LAYERS {
        let elements = elements(text)?;
        match elements.as_slice() {
            [only] if only.content.is_none_or(str::is_empty) => return attributes_as_entries(&only.attributes),
            [only] if only.content.is_some_and(|content| content.trim_start().starts_with('<')) => {
                text = only.content?.trim();
            }
            all => return as_entries(all),
        }
    }
    None
}

struct Element<'t> {
    name: &'t str,
    attributes: Vec<(&'t str, &'t str)>,
    /// `None` for `<name/>`.
    content: Option<&'t str>,
}

/// The elements of which the text consists.
fn elements(text: &str) -> Option<Vec<Element<'_>>> {
    let mut rest = text.trim();
    let mut elements = Vec::new();
    while !rest.is_empty() {
        let inside = rest.strip_prefix('<')?;
        let (tag, behind) = inside.split_once('>')?;
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let end = tag.find(char::is_whitespace).unwrap_or(tag.len());
        let (name, attributes) = tag.split_at(end);
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'));
        let attributes = is_name.then(|| read_attributes(attributes))??;
        let (content, behind) = if is_empty {
            (None, behind)
        } else {
            // An element in an element of the same name is not told apart.
            let (content, behind) = behind.split_once(&format!("</{name}>"))?;
            (Some(content), behind)
        };
        elements.push(Element { name, attributes, content });
        rest = behind.trim_start();
    }
    (!elements.is_empty()).then_some(elements)
}

fn read_attributes(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = text.trim();
    let mut attributes = Vec::new();
    while !rest.is_empty() {
        let (name, behind) = rest.split_once('=')?;
        let quote = behind.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, behind) = behind.get(1..)?.split_once(quote)?;
        attributes.push((name.trim(), value));
        rest = behind.trim_start();
    }
    Some(attributes)
}

fn attributes_as_entries(attributes: &[(&str, &str)]) -> Option<Object> {
    let mut object = Object::new();
    for (name, value) in attributes {
        insert(&mut object, name, text_of(value)?)?;
    }
    Some(object)
}

/// The elements by their names, or by the attribute `name` of each.
fn as_entries(elements: &[Element<'_>]) -> Option<Object> {
    let mut object = Object::new();
    for element in elements {
        let name = match element.attributes.as_slice() {
            [] => element.name,
            [("name", name)] => name,
            _ => return None,
        };
        insert(&mut object, name, text_of(element.content?)?)?;
    }
    Some(object)
}

/// The text of an element without further elements in it.
fn text_of(text: &str) -> Option<Value> {
    if text.contains('<') {
        return None;
    }
    let text = text.trim().replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    Some(text.replace("&amp;", "&").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_attributes_are_entries() {
        let expected = Some(r#"{"path":"/a","new":"false"}"#);
        for (text, expected) in [
            ("<path>/a</path><new>false</new>", expected),
            ("<args>\n  <path>/a</path>\n  <new>false</new>\n</args>", expected),
            (r#"<open path="/a" new='false'/>"#, expected),
            (r#"<open path="/a" new="false"></open>"#, expected),
            (r#"<invoke name="open"><p name="path">/a</p><p name="new">false</p></invoke>"#, expected),
            ("<path>a &amp; b</path>", Some(r#"{"path":"a & b"}"#)),
            ("<path>/a</path><path>/b</path>", None),
            ("<path>/a</path> and more", None),
            ("<path>/a <b>now</b></path><new>no</new>", None),
            ("<path>/a", None),
            ("<open/>", Some("{}")),
            ("a < b > c", None),
        ] {
            assert_eq!(read(text).map(|object| object.to_string()).as_deref(), expected, "case: {text}");
        }
    }
}
