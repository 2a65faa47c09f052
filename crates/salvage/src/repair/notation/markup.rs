//! XML: `<path>/a</path>`, `<open><path>/a</path></open>`, `<open path="/a"/>`, `<parameter name="path">/a</parameter>`,
//! `<parameter=path>/a</parameter>`, `<arg_key>path</arg_key><arg_value>/a</arg_value>` and tables of HTML.

use std::borrow::Cow;

use reknit_protocol::{Object, Value};

use super::insert;

/// How many elements may be around the parameters.
const MAX_LAYERS: usize = 5;

/// Elements with the name of a key, each with the element of its value that follows.
const PAIRS: [(&str, &str); 4] = [("arg_key", "arg_value"), ("key", "value"), ("dt", "dd"), ("td", "td")];

/// Elements with the parameters of a call, beside an element with its name.
const PARAMETERS: [&str; 4] = ["parameters", "arguments", "args", "input"];

/// Reads the elements or the attributes of a text that is markup as a whole.
pub(super) fn read(text: &str) -> Option<Object> {
    let text = text.strip_prefix("<?xml").map_or(text, |rest| rest.split_once("?>").map_or(text, |(_, rest)| rest));
    let mut text = Cow::Borrowed(text.trim());
    // DeepSeek puts a mark before the names of its elements.
    if text.contains("｜DSML｜") {
        text = text.replace("｜DSML｜", "").into();
    }
    let mut text = text.as_ref();
    for _ in 0..=MAX_LAYERS {
        let elements = elements(without_call_name(text))?;
        match elements.as_slice() {
            [only] if only.content.is_none_or(str::is_empty) => return attributes_as_entries(&only.attributes),
            [only] if is_layer(only) => text = only.content?.trim(),
            [name, parameters] if is_call_name(name) && PARAMETERS.contains(&parameters.local_name()) => {
                text = parameters.content?.trim();
            }
            all => return as_entries(all),
        }
    }
    None
}

/// The markup behind the name of the called tool: `<tool_call>f<arg_key>...`.
fn without_call_name(text: &str) -> &str {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.'))
    };
    let start = text.find('<').unwrap_or(0);
    let (before, markup) = text.split_at(start);
    if is_name(before.trim()) { markup } else { text }
}

/// Whether the element is around further ones, and is no parameter itself.
fn is_layer(element: &Element<'_>) -> bool {
    let has_elements = element.content.is_some_and(|content| without_call_name(content.trim()).starts_with('<'));
    has_elements && element.content.is_some_and(|content| !content.trim_start().starts_with("<![CDATA["))
}

fn is_call_name(element: &Element<'_>) -> bool {
    matches!(element.local_name(), "tool_name" | "name" | "function" | "tool")
}

struct Element<'t> {
    name: &'t str,
    attributes: Vec<(&'t str, &'t str)>,
    /// `None` for `<name/>`.
    content: Option<&'t str>,
    /// Whether the content is written as it is, without entities.
    is_raw: bool,
}

impl<'t> Element<'t> {
    /// The name without its namespace: `parameter` of `x:parameter`.
    fn local_name(&self) -> &'t str {
        self.name.rsplit_once(':').map_or(self.name, |(_, local)| local)
    }
}

/// The elements of which the text consists.
fn elements(text: &str) -> Option<Vec<Element<'_>>> {
    let mut rest = text.trim();
    let mut elements = Vec::new();
    while !rest.is_empty() {
        let inside = rest.strip_prefix('<')?;
        let (tag, behind) = inside.split_once('>')?;
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let end = tag.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(tag.len());
        let (name, attributes) = tag.split_at(end);
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'));
        // `<parameter=path>`
        let value = attributes.strip_prefix('=').map(|value| value.trim_matches(['"', '\'']));
        let attributes = match value {
            Some(value) => vec![("name", value)],
            None => is_name.then(|| read_attributes(attributes))??,
        };
        let (content, behind) = if is_empty { (None, behind) } else { content(name, value.is_some(), behind)? };
        elements.push(Element { name, attributes, content, is_raw: value.is_some() });
        rest = behind.trim_start();
    }
    (!elements.is_empty()).then_some(elements)
}

/// The content of an element and what follows it. An element in an element of the same name is not told apart.
fn content<'t>(name: &str, is_raw: bool, behind: &'t str) -> Option<(Option<&'t str>, &'t str)> {
    let closed = behind.split_once(&format!("</{name}>"));
    if !is_raw || name != "parameter" {
        let (content, behind) = closed?;
        return Some((Some(content), behind));
    }
    // Some models leave out the end of a parameter before the next one.
    let next = behind.find("<parameter=");
    match (closed, next) {
        (Some((content, behind)), next) if next.is_none_or(|next| content.len() < next) => {
            Some((Some(content), behind))
        }
        (_, Some(next)) => behind.split_at_checked(next).map(|(content, behind)| (Some(content), behind)),
        (_, None) => Some((Some(behind), "")),
    }
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
        insert(&mut object, name, text_of(value, false)?)?;
    }
    Some(object)
}

/// The elements by their names, or by the attribute `name` of each, or in pairs of a key and a value.
fn as_entries(elements: &[Element<'_>]) -> Option<Object> {
    if let Some(object) = as_pairs(elements) {
        return Some(object);
    }
    let mut object = Object::new();
    for (at, element) in elements.iter().enumerate() {
        let attribute =
            |wanted: &str| element.attributes.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        let are_known =
            element.attributes.iter().all(|(name, _)| matches!(*name, "name" | "value" | "type" | "string"));
        let name = attribute("name").unwrap_or(element.name);
        // The name of the tool in place of the first parameter: `<parameter=f><parameter=path>/a</parameter>`.
        if at == 0
            && element.is_raw
            && element.content.is_some_and(|content| content.trim().is_empty())
            && elements.len() > 1
        {
            continue;
        }
        let value = match (element.content, attribute("value")) {
            (Some(content), None) => value_of(content, element.is_raw)?,
            (None, Some(value)) => text_of(value, false)?,
            _ => return None,
        };
        are_known.then(|| insert(&mut object, name, value))??;
    }
    Some(object)
}

/// The entries of `<key>a</key><value>1</value>...`, or of rows with two cells each.
fn as_pairs(items: &[Element<'_>]) -> Option<Object> {
    if items.iter().all(|row| row.name == "tr") {
        let mut object = Object::new();
        for row in items {
            let row = as_pairs(&elements(row.content?)?)?;
            let mut entries = row.into_iter();
            let (key, value) = entries.next().filter(|_| entries.next().is_none())?;
            insert(&mut object, &key, value)?;
        }
        return Some(object);
    }
    let mut object = Object::new();
    let (pairs, rest) = items.as_chunks::<2>();
    for [key, value] in pairs {
        let is_pair =
            |(name, other): &(&str, &str)| key.local_name().ends_with(name) && value.local_name().ends_with(other);
        PAIRS.iter().find(|pair| is_pair(pair))?;
        let name = text_of(key.content?, true)?;
        insert(&mut object, name.as_str()?, value_of(value.content?, true)?)?;
    }
    (rest.is_empty() && !object.is_empty()).then_some(object)
}

/// The text of an element, or the list of the texts of its elements, which have the same name: `<item>a</item><item>b</item>`.
fn value_of(text: &str, is_raw: bool) -> Option<Value> {
    if let Some(inner) = text.trim().strip_prefix("<![CDATA[").and_then(|rest| rest.strip_suffix("]]>")) {
        return (!inner.contains("]]>")).then(|| inner.into());
    }
    if is_raw || !text.contains('<') {
        return text_of(text, is_raw);
    }
    let items = elements(text)?;
    let first = items.first()?.name;
    let are_items = items.iter().all(|item| item.name == first && item.attributes.is_empty());
    let texts = items.iter().map(|item| text_of(item.content?, false)).collect::<Option<Vec<_>>>()?;
    are_items.then_some(Value::Array(texts))
}

/// The text of an element without further elements in it.
fn text_of(text: &str, is_raw: bool) -> Option<Value> {
    if text.contains('<') {
        return None;
    }
    let text = text.trim();
    if is_raw {
        return Some(text.into());
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
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
            (
                r#"<x:invoke name="open"><x:p name="path" type="string">/a</x:p><x:p name="new">false</x:p></x:invoke>"#,
                expected,
            ),
            (r#"<open><param name="path" value="/a"/><param name="new" value="false"/></open>"#, expected),
            (
                "<function=open>\n<parameter=path>\n/a\n</parameter>\n<parameter=new>\nfalse\n</parameter>\n</function>",
                expected,
            ),
            ("<function=open>\n<parameter=path>\n/a\n<parameter=new>\nfalse\n</function>", expected),
            (
                "<tool_call>open\n<arg_key>path</arg_key><arg_value>/a</arg_value>\n<arg_key>new</arg_key><arg_value>false</arg_value></tool_call>",
                expected,
            ),
            (
                "<invoke><tool_name>open</tool_name><parameters><path>/a</path><new>false</new></parameters></invoke>",
                expected,
            ),
            ("<?xml version=\"1.0\"?>\n<open><path><![CDATA[/a]]></path><new>false</new></open>", expected),
            ("<table><tr><td>path</td><td>/a</td></tr><tr><td>new</td><td>false</td></tr></table>", expected),
            ("<dl><dt>path</dt><dd>/a</dd><dt>new</dt><dd>false</dd></dl>", expected),
            (
                "<a><ids><item>1</item><item>2</item></ids><new>false</new></a>",
                Some(r#"{"ids":["1","2"],"new":"false"}"#),
            ),
            ("<q>a &lt; b &amp; c</q><n>1</n>", Some(r#"{"q":"a < b & c","n":"1"}"#)),
            ("<parameter=q>a &lt; b</parameter>\n<parameter=n>1</parameter>", Some(r#"{"q":"a &lt; b","n":"1"}"#)),
            ("<parameter=q>1</parameter>\n<parameter=q>2</parameter>", None),
            ("<path>/a</path> and more", None),
            ("<path>/a", None),
            ("<path>/a</path><path>/b</path>", None),
            ("<a><b>1</b><c>2</c></a><n>1</n>", None),
            ("no markup", None),
        ] {
            assert_eq!(read(text).map(|object| object.to_string()).as_deref(), expected, "case: {text}");
        }
    }
}
