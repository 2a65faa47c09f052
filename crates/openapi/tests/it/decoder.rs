//! A decoder of requests that shares no code with the crate: it splits by the rules of each style and then decodes.

use reknit_protocol::{Number, Object, Value};

pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next().expect("two digits"), rest.next().expect("two digits")];
            let digits = std::str::from_utf8(&digits).expect("digits are ASCII").to_owned();
            bytes.push(u8::from_str_radix(&digits, 16).expect("hexadecimal digits"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("it is UTF-8")
}

/// The type of a text, taken from the value that a schema would describe.
fn typed(text: &str, like: &Value) -> Value {
    match like {
        Value::Number(_) => Value::Number(Number::parse(text).expect("it is a number")),
        Value::Bool(_) => Value::Bool(text.parse().expect("it is a boolean")),
        _ => text.into(),
    }
}

fn array(texts: &[String], like: &Value) -> Value {
    let types = like.as_array().expect("an array is expected");
    assert_eq!(texts.len(), types.len(), "{texts:?} for {like}");
    texts.iter().zip(types).map(|(text, like)| typed(text, like)).collect()
}

fn object(pairs: &[(String, String)], like: &Value) -> Value {
    let mut object = Object::new();
    for (key, text) in pairs {
        let like = like.get(key).unwrap_or_else(|| panic!("no key `{key}` in {like}"));
        assert!(object.insert(key.as_str(), typed(text, like)).is_none(), "`{key}` is there twice");
    }
    Value::Object(object)
}

fn alternating(texts: &[String]) -> Vec<(String, String)> {
    texts.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

fn split(text: &str, separator: &str) -> Vec<String> {
    text.split(separator).map(percent_decode).collect()
}

fn split_pairs(text: &str, separator: &str) -> Vec<(String, String)> {
    let pairs = text.split(separator).map(|pair| pair.split_once('=').expect("a key and a value"));
    pairs.map(|(key, text)| (percent_decode(key), percent_decode(text))).collect()
}

/// A list or object with commas.
fn with_commas(text: &str, explode: bool, like: &Value) -> Value {
    match like {
        Value::Array(_) => array(&split(text, ","), like),
        Value::Object(_) if explode => object(&split_pairs(text, ","), like),
        Value::Object(_) => object(&alternating(&split(text, ",")), like),
        _ => typed(&percent_decode(text), like),
    }
}

/// The value in a segment of a path.
pub(crate) fn path(text: &str, name: &str, style: &str, explode: bool, like: &Value) -> Value {
    match style {
        "simple" => with_commas(text, explode, like),
        "label" => {
            let text = text.strip_prefix('.').expect("a label begins with a point");
            match like {
                Value::Array(_) if explode => array(&split(text, "."), like),
                Value::Object(_) if explode => object(&split_pairs(text, "."), like),
                _ => with_commas(text, explode, like),
            }
        }
        "matrix" => {
            let text = text.strip_prefix(';').expect("a matrix begins with a semicolon");
            match like {
                Value::Array(_) if explode => {
                    let pairs = split_pairs(text, ";");
                    assert!(pairs.iter().all(|(key, _)| key == name));
                    array(&pairs.into_iter().map(|(_, text)| text).collect::<Vec<_>>(), like)
                }
                Value::Object(_) if explode => object(&split_pairs(text, ";"), like),
                _ => {
                    let (key, text) = text.split_once('=').unwrap_or((text, ""));
                    assert_eq!(percent_decode(key), name);
                    with_commas(text, explode, like)
                }
            }
        }
        other => panic!("the style {other} is not one for paths"),
    }
}

/// The value of one parameter in a query or cookie, of which no other pairs are left.
pub(crate) fn pairs(text: &str, name: &str, style: &str, explode: bool, like: &Value) -> Value {
    let all: Vec<(&str, &str)> = text.split('&').map(|pair| pair.split_once('=').expect("a key and a value")).collect();
    let decoded = || all.iter().map(|(key, text)| (percent_decode(key), percent_decode(text)));
    match (style, like) {
        ("deepObject", Value::Object(_)) => {
            let inner = |key: String| {
                let key =
                    key.strip_prefix(name).and_then(|key| key.strip_prefix('[')).and_then(|key| key.strip_suffix(']'));
                key.expect("a key in brackets").to_owned()
            };
            object(&decoded().map(|(key, text)| (inner(key), text)).collect::<Vec<_>>(), like)
        }
        (_, Value::Array(_)) if explode => {
            assert!(decoded().all(|(key, _)| key == name));
            array(&decoded().map(|(_, text)| text).collect::<Vec<_>>(), like)
        }
        (_, Value::Object(_)) if explode => object(&decoded().collect::<Vec<_>>(), like),
        _ => {
            assert_eq!((all.len(), percent_decode(all[0].0).as_str()), (1, name));
            let is_scalar = like.as_array().is_none() && like.as_object().is_none();
            let separator = match style {
                _ if is_scalar => return with_commas(all[0].1, false, like),
                "spaceDelimited" => "%20",
                "pipeDelimited" => "%7C",
                _ => return with_commas(all[0].1, false, like),
            };
            let texts = split(all[0].1, separator);
            if like.as_array().is_some() { array(&texts, like) } else { object(&alternating(&texts), like) }
        }
    }
}

/// The value of a header, which has no percent-encoding.
pub(crate) fn header(text: &str, explode: bool, like: &Value) -> Value {
    let texts = || text.split(',').map(str::to_owned).collect::<Vec<_>>();
    match like {
        Value::Array(_) => array(&texts(), like),
        Value::Object(_) if explode => {
            let pairs = text.split(',').map(|pair| pair.split_once('=').expect("a key and a value"));
            object(&pairs.map(|(key, text)| (key.to_owned(), text.to_owned())).collect::<Vec<_>>(), like)
        }
        Value::Object(_) => object(&alternating(&texts()), like),
        _ => typed(text, like),
    }
}

/// The texts of a multipart body by name.
pub(crate) fn multipart(content_type: &str, body: &str) -> Vec<(String, String)> {
    let boundary = content_type.split_once("boundary=").expect("there is a boundary").1;
    let inner = body.strip_suffix(&format!("--{boundary}--\r\n")).expect("it is closed");
    let line = format!("--{boundary}\r\n");
    let parts = inner.split(&line).skip(1);
    let read = |part: &str| {
        let (headers, text) = part.split_once("\r\n\r\n").expect("headers and a text");
        let name = headers.split_once("name=\"").expect("a name").1.split_once('"').expect("quotes").0;
        (name.to_owned(), text.strip_suffix("\r\n").expect("a line break").to_owned())
    };
    parts.map(read).collect()
}
