//! Where a document is, and how it is read with the files it refers to.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reknit_openapi::{ApiDocument, MAX_DOCUMENT_BYTES};
use reknit_protocol::{Object, Value, error_chain, redact_url};

use super::OpenApiOptions;
use crate::http::address::Address;
use crate::http::client::Client;
use crate::http::service::HttpService;

/// How often files are fetched that other files refer to.
const MAX_ROUNDS: usize = 16;

#[derive(Clone, PartialEq, Eq)]
pub enum DocumentLocation {
    File(PathBuf),
    Url(reqwest::Url),
}

impl DocumentLocation {
    /// An address if the text begins with `http://` or `https://`, else the path of a file. Fails if the address is malformed.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with("http://") || text.starts_with("https://") {
            return reqwest::Url::parse(text).map(Self::Url).map_err(|error| error.to_string());
        }
        Ok(Self::File(PathBuf::from(text)))
    }
}

impl fmt::Display for DocumentLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(out),
            Self::Url(url) => out.write_str(&redact_url(url.as_str())),
        }
    }
}

impl fmt::Debug for DocumentLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DocumentLocation({self})")
    }
}

/// Reads the document. Returns also the text from which [`restore`] makes it again, if it was fetched.
pub(super) async fn load(options: &OpenApiOptions, client: &Client) -> Result<(ApiDocument, Option<String>), String> {
    match &options.document {
        DocumentLocation::File(path) => {
            let path = path.clone();
            // Large documents take a while, and files block.
            let read = tokio::task::spawn_blocking(move || load_file(&path)).await;
            Ok((read.map_err(|error| format!("the import failed: {error}"))??, None))
        }
        DocumentLocation::Url(url) => fetch(url, options, client).await,
    }
}

fn load_file(path: &Path) -> Result<ApiDocument, String> {
    let text = read_file(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut load = |name: &str| {
        if Path::new(name).is_absolute() {
            Err("the name of a file must be relative".to_owned())
        } else {
            read_file(&folder.join(name))
        }
    };
    ApiDocument::parse_with_files(&text, "", &mut load).map_err(|error| error_chain(&error))
}

fn read_file(path: &Path) -> Result<String, String> {
    let data = std::fs::metadata(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    if !data.is_file() {
        return Err(format!("`{}` is not a file", path.display()));
    }
    if data.len() > MAX_DOCUMENT_BYTES as u64 {
        return Err(format!("`{}` is larger than {MAX_DOCUMENT_BYTES} bytes", path.display()));
    }
    std::fs::read_to_string(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}

pub(super) fn restore(saved: &str) -> Result<ApiDocument, String> {
    let saved = Value::parse(saved).map_err(|error| error.to_string())?;
    let text = saved.get("document").and_then(Value::as_str).ok_or("there is no document in it")?;
    let file = |name: &str| saved.get("files")?.get(name)?.as_str().map(str::to_owned);
    let mut load = |name: &str| file(name).ok_or_else(|| "it could not be fetched".to_owned());
    ApiDocument::parse_with_files(text, "", &mut load).map_err(|error| error_chain(&error))
}

/// The text of a document and of the files it refers to, for [`restore`].
fn saved(text: &str, files: &HashMap<String, Result<String, String>>) -> String {
    let mut fetched: Vec<(&String, &String)> =
        files.iter().filter_map(|(name, file)| Some((name, file.as_ref().ok()?))).collect();
    fetched.sort();
    let files = fetched.into_iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect::<Object>();
    Object::from([("document", text.into()), ("files", Value::Object(files))]).to_string()
}

async fn fetch(
    url: &reqwest::Url,
    options: &OpenApiOptions,
    client: &Client,
) -> Result<(ApiDocument, Option<String>), String> {
    let mut http = options.http.clone();
    http.max_body = MAX_DOCUMENT_BYTES;
    // The credentials are for the service. A server that only publishes its description does not get them.
    let is_elsewhere = options.url.as_ref().is_some_and(|service| service.origin() != url.origin());
    if is_elsewhere || (options.url.is_none() && !options.allowed_hosts.is_empty()) {
        http.credentials.clear();
        http.client_credentials = None;
    }
    let service = HttpService::new(Address::at(options.name.clone(), url.clone()), client.clone(), http);
    let service = service.map_err(|error| error.to_string())?;
    let text = Arc::new(service.get_text(url.clone()).await?);
    // The document is read again whenever files have arrived to which it refers.
    let mut files: HashMap<String, Result<String, String>> = HashMap::new();
    for _ in 0..MAX_ROUNDS {
        let parse = {
            let (text, files) = (Arc::clone(&text), files.clone());
            move || parse(&text, &files)
        };
        // Large documents take a while.
        let parsed = tokio::task::spawn_blocking(parse).await;
        let (document, missing) = parsed.map_err(|error| format!("the import failed: {error}"))??;
        if missing.is_empty() {
            return Ok((document, Some(saved(&text, &files))));
        }
        for name in missing {
            let file = match url.join(&name) {
                Ok(file) if file.origin() == url.origin() => service.get_text(file).await,
                Ok(_) => Err("it is on another host".to_owned()),
                Err(error) => Err(error.to_string()),
            };
            files.insert(name, file);
        }
    }
    Err(format!("the document refers to files that refer to files, more than {MAX_ROUNDS} times"))
}

/// A document, and the names of the files that are missing.
fn parse(text: &str, files: &HashMap<String, Result<String, String>>) -> Result<(ApiDocument, Vec<String>), String> {
    let mut missing: Vec<String> = Vec::new();
    let mut load = |name: &str| {
        files.get(name).cloned().unwrap_or_else(|| {
            missing.push(name.to_owned());
            Err("it is not fetched yet".to_owned())
        })
    };
    let document = ApiDocument::parse_with_files(text, "", &mut load).map_err(|error| error_chain(&error))?;
    Ok((document, missing))
}
