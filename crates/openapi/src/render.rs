//! The HTTP request of one call.

mod body;
mod pairs;
mod style;

use std::fmt::Write as _;

use percent_encoding::percent_decode;
use reknit_protocol::{HttpMethod, Object, Value, percent_encoded};

use crate::operation::{BodyContent, Operation, PathPart};
use crate::parameter::{ApiParameter, ParameterEncoding, ParameterLocation, ParameterStyle};
use pairs::Pairs;
use style::StyledText;

/// An HTTP request, relative to a server of the operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    pub method: HttpMethod,
    /// The path, percent-encoded. It begins with `/` and is appended to the path of the server.
    pub path: String,
    /// The query, percent-encoded, without `?`.
    pub query: Option<String>,
    /// The headers, without cookies. All names and values are visible ASCII, with spaces inside of values.
    pub headers: Vec<(String, String)>,
    /// The cookies. The values are percent-encoded.
    pub cookies: Vec<(String, String)>,
    /// The body. Its type is the header `content-type`.
    pub body: Option<Vec<u8>>,
}

/// Why a request cannot be made from parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    #[error("the parameter `{parameter}` is missing")]
    Missing { parameter: String },
    #[error("there is no parameter `{parameter}`")]
    Unknown { parameter: String },
    #[error("the parameter `{parameter}` cannot be sent in the style {style}: {reason}")]
    NotRepresentable { parameter: String, style: &'static str, reason: &'static str },
    /// A value would leave a segment of the path empty, which can lead to another operation.
    #[error("the parameter `{parameter}` is empty, but is part of the path")]
    EmptyPathParameter { parameter: String },
    /// The path would have a segment `.` or `..`, which leads to another place.
    #[error("the path `{path}` would lead to another place")]
    PathTraversal { path: String },
    /// A value has characters that a header cannot have, such as line breaks.
    #[error("the parameter `{parameter}` has characters that a header cannot have")]
    InvalidHeader { parameter: String },
    #[error("the parameter `{parameter}` has a key `{key}` that another parameter is sent under")]
    NameClash { parameter: String, key: String },
}

impl RenderError {
    fn not_representable(parameter: &str, style: &'static str, reason: &'static str) -> Self {
        Self::NotRepresentable { parameter: parameter.to_owned(), style, reason }
    }
}

impl HttpRequest {
    /// The path and the query, as in the first line of a request.
    pub fn target(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    /// The value of the header `cookie`; `None` without cookies.
    pub fn cookie_header(&self) -> Option<String> {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!cookies.is_empty()).then(|| cookies.join("; "))
    }
}

impl Operation {
    /// The request for these parameters. It does not check them against [`Operation::input_schema`].
    ///
    /// Fails if a required parameter is missing, if a parameter is unknown, or if a value has no exact form in the style that
    /// the document wants: it is never sent in another one.
    pub fn render(&self, parameters: &Object) -> Result<HttpRequest, RenderError> {
        self.check_names(parameters)?;
        let mut request = HttpRequest {
            method: self.method,
            path: self.render_path(parameters)?,
            query: self.render_query(parameters)?,
            headers: self.accept.iter().map(|accept| ("accept".to_owned(), accept.clone())).collect(),
            cookies: Vec::new(),
            body: None,
        };
        for (parameter, value) in self.given(ParameterLocation::Header, parameters) {
            request.headers.push((parameter.wire_name.clone(), header(parameter, value)?));
        }
        for (parameter, value) in self.given(ParameterLocation::Cookie, parameters) {
            request.cookies.push((parameter.wire_name.clone(), cookie(parameter, value)?));
        }
        if let Some(body) = &self.body
            && let Some((content_type, bytes)) = body::render(body, parameters)?
        {
            request.headers.push(("content-type".to_owned(), content_type));
            request.body = Some(bytes);
        }
        Ok(request)
    }

    fn check_names(&self, parameters: &Object) -> Result<(), RenderError> {
        let in_body: Vec<&str> = match self.body.as_ref().map(|body| &body.content) {
            None => Vec::new(),
            Some(BodyContent::Whole { parameter }) => vec![parameter],
            Some(BodyContent::Properties(list)) => list.iter().map(|property| property.name.as_str()).collect(),
        };
        let is_known =
            |name: &str| in_body.contains(&name) || self.parameters.iter().any(|parameter| parameter.name == name);
        if let Some(unknown) = parameters.keys().find(|name| !is_known(name)) {
            return Err(RenderError::Unknown { parameter: unknown.to_owned() });
        }
        let is_missing = |parameter: &&ApiParameter| parameter.required && !parameters.contains_key(&parameter.name);
        match self.parameters.iter().find(is_missing) {
            Some(missing) => Err(RenderError::Missing { parameter: missing.name.clone() }),
            None => Ok(()),
        }
    }

    /// The parameters of a place that have a value.
    fn given<'a>(
        &'a self,
        location: ParameterLocation,
        parameters: &'a Object,
    ) -> impl Iterator<Item = (&'a ApiParameter, &'a Value)> {
        let here = self.parameters.iter().filter(move |parameter| parameter.location == location);
        here.filter_map(|parameter| Some((parameter, parameters.get(&parameter.name)?)))
    }

    fn render_path(&self, parameters: &Object) -> Result<String, RenderError> {
        let mut path = String::new();
        for part in &self.path_parts {
            match part {
                PathPart::Literal(text) => path.push_str(text),
                PathPart::Parameter(wire_name) => {
                    let given = self.given(ParameterLocation::Path, parameters);
                    let (parameter, value) = given
                        .into_iter()
                        .find(|(parameter, _)| parameter.wire_name == *wire_name)
                        .ok_or_else(|| RenderError::Missing { parameter: wire_name.clone() })?;
                    let text = path_text(parameter, value)?;
                    if text.is_empty() {
                        return Err(RenderError::EmptyPathParameter { parameter: parameter.name.clone() });
                    }
                    path.push_str(&text);
                }
            }
        }
        // Servers and clients resolve such segments also when they are encoded, some of them after they decoded slashes.
        let leaves_its_place = |decoded: String| decoded.split(['/', '\\']).any(is_dots);
        if decoded_fully(&path).is_none_or(leaves_its_place) {
            return Err(RenderError::PathTraversal { path });
        }
        Ok(path)
    }

    fn render_query(&self, parameters: &Object) -> Result<Option<String>, RenderError> {
        let declared: Vec<&ApiParameter> =
            self.parameters.iter().filter(|parameter| parameter.location == ParameterLocation::Query).collect();
        let mut pairs = Pairs::new(declared.iter().map(|parameter| (parameter.wire_name.as_str(), parameter.encoding)));
        for (parameter, value) in self.given(ParameterLocation::Query, parameters) {
            pairs.add(&parameter.name, &parameter.wire_name, parameter.encoding, value)?;
        }
        let query: Vec<String> = self.fixed_query.iter().cloned().chain(pairs.finish()?).collect();
        Ok((!query.is_empty()).then(|| query.join("&")))
    }
}

/// Whether a segment is `.` or `..`. Some servers drop the parameters of a segment (`..;x=1`) before they resolve it.
fn is_dots(segment: &str) -> bool {
    matches!(segment.split(';').next().unwrap_or_default().trim(), "." | "..")
}

fn path_text(parameter: &ApiParameter, value: &Value) -> Result<String, RenderError> {
    styled(parameter, value, percent_encoded, |text, style, explode| text.in_path(&parameter.wire_name, style, explode))
}

/// The value in the style of its parameter, or as JSON.
fn styled(
    parameter: &ApiParameter,
    value: &Value,
    of_json: fn(&str) -> String,
    in_style: impl Fn(StyledText, ParameterStyle, bool) -> Result<String, &'static str>,
) -> Result<String, RenderError> {
    let ParameterEncoding::Styled { style, explode, .. } = parameter.encoding else {
        return Ok(of_json(&value.to_string()));
    };
    let text = StyledText::new(value).and_then(|text| in_style(text, style, explode));
    text.map_err(|reason| RenderError::not_representable(&parameter.name, style.as_str(), reason))
}

fn header(parameter: &ApiParameter, value: &Value) -> Result<String, RenderError> {
    let text = styled(parameter, value, ascii, |text, style, explode| text.in_header(style, explode))?;
    let is_visible = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if !is_visible || text.trim() != text {
        return Err(RenderError::InvalidHeader { parameter: parameter.name.clone() });
    }
    Ok(text)
}

fn cookie(parameter: &ApiParameter, value: &Value) -> Result<String, RenderError> {
    styled(parameter, value, percent_encoded, |text, _, explode| text.in_cookie(explode))
}

/// How often a text is decoded before it counts as an attempt to hide something.
const MAX_ROUNDS: usize = 8;

/// The text, decoded until nothing is encoded any more; `None` if that takes too many rounds.
fn decoded_fully(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..MAX_ROUNDS {
        let decoded: Vec<u8> = percent_decode(&bytes).collect();
        if decoded == bytes {
            return Some(String::from_utf8_lossy(&bytes).into_owned());
        }
        bytes = decoded;
    }
    None
}

/// JSON in ASCII: other characters are escaped.
fn ascii(json: &str) -> String {
    let mut out = String::new();
    for c in json.chars() {
        if c.is_ascii() && !c.is_ascii_control() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}
