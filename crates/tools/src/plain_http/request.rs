//! The request of a call, from templates.

use reknit_protocol::{CallTool, Object, Value, percent_encoded};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};

use super::PlainHttpOptions;
use crate::defined_capability::{DefinedCapability, InvalidDefinition};
use crate::http::address::{Address, has_dot_segment, leaves_base};
use crate::http::service::IDEMPOTENCY_HEADER;
use crate::option_words::BodyFormat;
use crate::template::{TemplateText, TemplateValue, text_of};

/// Headers that decide where a request goes, how it is framed or who sends it.
const RESERVED_HEADERS: &str =
    "authorization connection content-length cookie host proxy-authorization te transfer-encoding";

#[derive(Debug, Clone)]
pub(super) struct RequestTemplate {
    capability: DefinedCapability,
    method: reqwest::Method,
    path: TemplateText,
    query: Vec<(String, TemplateText)>,
    headers: Vec<(HeaderName, TemplateText)>,
    body: Option<BodyTemplate>,
    /// Unless the configuration sets these headers itself.
    default_headers: Vec<(HeaderName, HeaderValue)>,
}

#[derive(Debug, Clone)]
enum BodyTemplate {
    Json(TemplateValue),
    Form(Vec<(String, TemplateValue)>),
    Text(TemplateText),
}

impl RequestTemplate {
    pub(super) fn new(options: &PlainHttpOptions) -> Result<Self, InvalidDefinition> {
        let method = options.method.as_str().to_ascii_uppercase();
        let method = reqwest::Method::from_bytes(method.as_bytes());
        let body = options.body.as_ref().map(|body| BodyTemplate::parse(body, options.body_format)).transpose()?;
        let mut default_headers = vec![(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"))];
        default_headers.extend(body.as_ref().map(|body| (CONTENT_TYPE, body.content_type())));
        default_headers.retain(|(name, _)| !options.http.headers.contains_key(name));
        let template = Self {
            method: method.map_err(|error| InvalidDefinition::new("method", error.to_string()))?,
            path: path_template(&options.path, &options.capability)?,
            query: texts("query", &options.query)?,
            headers: header_templates(&options.headers)?,
            body,
            default_headers,
            capability: options.capability.clone(),
        };
        template.capability.check_placeholders(&template.placeholders())?;
        Ok(template)
    }

    /// The names in placeholders, with the keys of the configuration in which they are.
    fn placeholders(&self) -> Vec<(&'static str, String)> {
        let path = self.path.parameters().map(|name| ("path", name));
        let query = self.query.iter().flat_map(|(_, text)| text.parameters()).map(|name| ("query", name));
        let headers = self.headers.iter().flat_map(|(_, text)| text.parameters()).map(|name| ("request-headers", name));
        let body = match &self.body {
            None => Vec::new(),
            Some(BodyTemplate::Json(value)) => value.parameters(),
            Some(BodyTemplate::Form(members)) => members.iter().flat_map(|(_, value)| value.parameters()).collect(),
            Some(BodyTemplate::Text(text)) => text.parameters().collect(),
        };
        let body = body.into_iter().map(|name| ("body", name));
        path.chain(query).chain(headers).chain(body).map(|(key, name)| (key, name.to_owned())).collect()
    }

    /// The request of a call. Fails with the reason if it cannot be made as the parameters want it.
    pub(super) fn render(&self, address: &Address, call: &CallTool) -> Result<reqwest::Request, String> {
        let parameters = &call.parameters;
        self.capability.check_parameters(parameters)?;
        let mut pairs = Vec::new();
        for (name, text) in &self.query {
            match text.whole() {
                Some(parameter) => add_pairs(&mut pairs, name, parameters.get(parameter)),
                None => add_pairs(&mut pairs, name, text.render(parameters, |value| value).map(Value::from).as_ref()),
            }
        }
        let query = (!pairs.is_empty()).then(|| pairs.join("&"));
        let url = address.append(&self.render_path(parameters)?, query.as_deref());
        let mut request = reqwest::Request::new(self.method.clone(), url);
        let headers = request.headers_mut();
        headers.extend(self.default_headers.iter().cloned());
        for (name, text) in &self.headers {
            if let Some(value) = text.render(parameters, |value| value) {
                let value = HeaderValue::try_from(value);
                headers.insert(name, value.map_err(|_| format!("the value of the header `{name}` is not valid"))?);
            }
        }
        if let Some(key) = call.idempotency_key.as_deref().filter(|_| !headers.contains_key(IDEMPOTENCY_HEADER)) {
            let key = HeaderValue::try_from(key).map_err(|_| "the idempotency key is not valid in a header")?;
            headers.insert(HeaderName::from_static("idempotency-key"), key);
        }
        *request.body_mut() = self.body.as_ref().and_then(|body| body.render(parameters)).map(Into::into);
        if request.body().is_none() && self.body.is_some() {
            request.headers_mut().remove(CONTENT_TYPE);
        }
        Ok(request)
    }

    fn render_path(&self, parameters: &Object) -> Result<String, String> {
        for name in self.path.parameters() {
            if parameters.get(name).and_then(text_of).is_none_or(|text| text.is_empty()) {
                return Err(format!("`{name}` is empty, but it is a part of the path"));
            }
        }
        let path = self.path.render(parameters, |value| percent_encoded(&value)).unwrap_or_default();
        // Servers and clients resolve such segments also when they are encoded.
        match has_dot_segment(&path) {
            Some(false) => Ok(path),
            Some(true) => Err(format!("the path `{path}` has a segment `.` or `..`, which leads to another place")),
            None => Err(format!("the path `{path}` is percent-encoded again and again")),
        }
    }
}

impl BodyTemplate {
    fn parse(body: &Value, format: BodyFormat) -> Result<Self, InvalidDefinition> {
        let invalid = |problem: String| InvalidDefinition::new("body", problem);
        match (format, body) {
            (BodyFormat::Json, value) => Ok(Self::Json(TemplateValue::parse(value).map_err(invalid)?)),
            (BodyFormat::Form, Value::Object(members)) => {
                let member = |(name, value): (&str, &Value)| {
                    Ok((name.to_owned(), TemplateValue::parse(value).map_err(invalid)?))
                };
                Ok(Self::Form(members.iter().map(member).collect::<Result<_, InvalidDefinition>>()?))
            }
            (BodyFormat::Text, Value::String(text)) => Ok(Self::Text(TemplateText::parse(text).map_err(invalid)?)),
            (BodyFormat::Form, _) => Err(invalid("write a table: a form consists of names and values".to_owned())),
            (BodyFormat::Text, _) => Err(invalid("write a text, because `body-format` is `text`".to_owned())),
        }
    }

    fn content_type(&self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Json(_) => "application/json",
            Self::Form(_) => "application/x-www-form-urlencoded",
            Self::Text(_) => "text/plain; charset=utf-8",
        })
    }

    fn render(&self, parameters: &Object) -> Option<String> {
        match self {
            Self::Json(value) => value.render(parameters).map(|value| value.to_string()),
            Self::Text(text) => text.render(parameters, |value| value),
            Self::Form(members) => {
                let mut pairs = Vec::new();
                for (name, value) in members {
                    add_pairs(&mut pairs, name, value.render(parameters).as_ref());
                }
                Some(pairs.join("&"))
            }
        }
    }
}

/// Adds a value to a query or a form: one pair for each item of a plain list, otherwise one pair, and none for null.
fn add_pairs(pairs: &mut Vec<String>, name: &str, value: Option<&Value>) {
    let is_plain = |value: &Value| matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
    let items = match value {
        None => &[][..],
        Some(Value::Array(items)) if items.iter().all(is_plain) => items.as_slice(),
        Some(value) => std::slice::from_ref(value),
    };
    let pair = |text: String| format!("{}={}", percent_encoded(name), percent_encoded(&text));
    pairs.extend(items.iter().filter_map(text_of).map(pair));
}

fn path_template(path: &str, capability: &DefinedCapability) -> Result<TemplateText, InvalidDefinition> {
    let invalid = |problem: &str| InvalidDefinition::new("path", problem);
    let template = TemplateText::parse(path).map_err(|problem| invalid(&problem))?;
    if !path.is_empty() && !path.starts_with('/') {
        return Err(invalid("a path begins with `/`"));
    }
    if path.contains(['?', '#']) {
        return Err(invalid("write what follows the `?` as a table under `query`"));
    }
    if let Some(problem) = leaves_base(path) {
        return Err(invalid(&format!("it is not below the address: {problem}")));
    }
    // An undeclared name is reported with those of other places.
    let is_optional = |name: &&str| capability.declares(name) && !capability.is_required(name);
    if let Some(name) = template.parameters().find(is_optional) {
        return Err(invalid(&format!("`{name}` must be required, because it is a part of the path")));
    }
    Ok(template)
}

fn texts(key: &'static str, texts: &[(String, String)]) -> Result<Vec<(String, TemplateText)>, InvalidDefinition> {
    let parse = |(name, text): &(String, String)| {
        let text = TemplateText::parse(text);
        let invalid = |problem: String| InvalidDefinition::new(key, format!("`{name}`: {problem}"));
        Ok((name.clone(), text.map_err(invalid)?))
    };
    texts.iter().map(parse).collect()
}

fn header_templates(headers: &[(String, String)]) -> Result<Vec<(HeaderName, TemplateText)>, InvalidDefinition> {
    let key = "request-headers";
    let parse = |(name, text): (String, TemplateText)| {
        let header = HeaderName::try_from(name.as_str());
        let header =
            header.map_err(|_| InvalidDefinition::new(key, format!("`{name}` is not a valid name of a header")))?;
        if RESERVED_HEADERS.split(' ').any(|name| name == header.as_str()) {
            let problem = format!("`{name}` cannot be set here; `auth` and `key-env` send credentials");
            return Err(InvalidDefinition::new(key, problem));
        }
        Ok((header, text))
    };
    texts(key, headers)?.into_iter().map(parse).collect()
}
