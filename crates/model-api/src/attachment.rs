//! Images, documents and sound beside the text of a message.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// An image, a document or sound that belongs to a message.
///
/// ```
/// use reknit_model_api::{Attachment, AttachmentKind};
///
/// let chart = Attachment::bytes("image/png", b"...");
/// assert_eq!(chart.kind(), AttachmentKind::Image);
/// assert_eq!(Attachment::file("report.pdf").map(|file| file.media_type), Some("application/pdf".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub media_type: String,
    pub source: AttachmentSource,
    /// The name that the model sees, where the provider has a field for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Where the bytes of an attachment are.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentSource {
    Base64(String),
    /// In this file, which is read when the request is sent.
    Path(String),
    /// At this address, which the provider reads.
    Url(String),
}

impl fmt::Debug for AttachmentSource {
    /// Shows the length of the bytes only.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base64(text) => write!(out, "Base64({} characters)", text.len()),
            Self::Path(path) => write!(out, "Path({path:?})"),
            Self::Url(url) => write!(out, "Url({url:?})"),
        }
    }
}

/// The name, the media type and the size, as in `chart.png (image/png, 12 kB)`. Never the bytes, and nothing of an address but that there is
/// one, because it may contain a key.
impl fmt::Display for Attachment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let media_type = &self.media_type;
        let origin = match &self.source {
            AttachmentSource::Base64(text) => match decoded_length(text) {
                bytes @ 0..1_000 => format!(", {bytes} bytes"),
                bytes => format!(", {} kB", bytes / 1_000),
            },
            AttachmentSource::Path(_) => String::new(),
            AttachmentSource::Url(_) => ", from an address".to_owned(),
        };
        match &self.name {
            Some(name) => write!(out, "{name} ({media_type}{origin})"),
            None => write!(out, "{media_type}{origin}"),
        }
    }
}

/// Four characters are three bytes, less those that only fill the last four.
fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

reknit_protocol::word_enum! {
    /// What an attachment is, by its media type.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AttachmentKind {
        Image = "image",
        Audio = "audio",
        /// Anything else, such as `application/pdf`.
        Document = "document",
    }
}

const EXTENSIONS: &[(&str, &str)] = &[
    ("csv", "text/csv"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("m4a", "audio/mp4"),
    ("md", "text/markdown"),
    ("mp3", "audio/mpeg"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webp", "image/webp"),
];

impl Attachment {
    /// Every provider refuses larger files.
    pub const MAX_BYTES: u64 = 50 * 1024 * 1024;

    pub fn known_extensions() -> impl Iterator<Item = &'static str> {
        EXTENSIONS.iter().map(|(extension, _)| *extension)
    }

    pub fn bytes(media_type: impl Into<String>, bytes: &[u8]) -> Self {
        Self::base64(media_type, STANDARD.encode(bytes))
    }

    pub fn url(media_type: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(media_type, AttachmentSource::Url(url.into()))
    }

    /// An attachment that is read from a file when the request is sent.
    pub fn path(media_type: impl Into<String>, path: impl Into<String>) -> Self {
        let path = path.into();
        let name = path.rsplit(['/', '\\']).next().map(str::to_owned).filter(|name| !name.is_empty());
        Self { name, ..Self::new(media_type, AttachmentSource::Path(path)) }
    }

    /// A file, with the media type that its extension stands for; none if the extension is not known.
    pub fn file(path: impl Into<String>) -> Option<Self> {
        let path = path.into();
        let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())?;
        let (_, media_type) = EXTENSIONS.iter().find(|(known, _)| *known == extension)?;
        Some(Self::path(*media_type, path))
    }

    pub fn base64(media_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(media_type, AttachmentSource::Base64(text.into()))
    }

    /// Whether its bytes, if it has them, are Base64 and not nothing.
    pub fn has_bytes(&self) -> bool {
        match &self.source {
            AttachmentSource::Base64(text) => STANDARD.decode(text).is_ok_and(|bytes| !bytes.is_empty()),
            AttachmentSource::Path(_) | AttachmentSource::Url(_) => false,
        }
    }

    fn new(media_type: impl Into<String>, source: AttachmentSource) -> Self {
        Self { media_type: media_type.into(), source, name: None }
    }

    pub fn kind(&self) -> AttachmentKind {
        match self.media_type.split('/').next().unwrap_or_default() {
            "image" => AttachmentKind::Image,
            "audio" => AttachmentKind::Audio,
            _ => AttachmentKind::Document,
        }
    }

    /// A rough number of its tokens. Providers count images by their size in pixels and documents by their pages.
    pub fn tokens(&self) -> u64 {
        self.estimate(1_600, 12, 10_000)
    }

    /// An upper bound of its tokens. An image is scaled down by every provider; of a file we know nothing.
    pub(crate) fn max_tokens(&self) -> u64 {
        self.estimate(20_000, 1, 1_000_000)
    }

    /// The tokens of an image, those of letters in Base64, or those of a file that we do not have.
    fn estimate(&self, image: u64, letters_per_token: usize, unknown: u64) -> u64 {
        match (self.kind(), &self.source) {
            (AttachmentKind::Image, _) => image,
            (_, AttachmentSource::Base64(text)) => u64::try_from(text.len() / letters_per_token).unwrap_or(u64::MAX),
            _ => unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, ToolCall};

    #[test]
    fn a_message_with_attachments_survives_serialization() {
        let call = ToolCall::new("1", "f", "{}");
        let messages = [
            Message::user("what is it?").with_attachments(vec![Attachment::bytes("image/png", b"abc")]),
            Message::tool_result(&call, "a chart").with_attachments(vec![Attachment::url("image/png", "https://x/y")]),
            Message::user("and this?").with_attachments(vec![Attachment::file("a/b.pdf").unwrap()]),
        ];
        assert!(Attachment::bytes("image/png", b"abc").has_bytes());
        assert!(!Attachment::base64("image/png", "a b").has_bytes());
        let text = serde_json::to_string(&messages).unwrap().replace("},{\"role", "},\n{\"role");
        insta::assert_snapshot!(text, @r#"
        [{"role":"user","text":"what is it?","attachments":[{"media_type":"image/png","source":{"base64":"YWJj"}}]},
        {"role":"tool","call":"1","name":"f","text":"a chart","attachments":[{"media_type":"image/png","source":{"url":"https://x/y"}}]},
        {"role":"user","text":"and this?","attachments":[{"media_type":"application/pdf","source":{"path":"a/b.pdf"},"name":"b.pdf"}]}]
        "#);
        assert_eq!(serde_json::from_str::<Vec<Message>>(&text).unwrap(), messages);
    }

    #[test]
    fn the_kind_follows_from_the_media_type_and_the_media_type_from_the_extension() {
        for (path, kind) in [
            ("a.PNG", Some(AttachmentKind::Image)),
            ("a.b/c.pdf", Some(AttachmentKind::Document)),
            ("a.mp3", Some(AttachmentKind::Audio)),
            ("a.xyz", None),
            ("png", None),
        ] {
            assert_eq!(Attachment::file(path).map(|file| file.kind()), kind, "{path}");
        }
    }

    #[test]
    fn an_attachment_is_shown_without_its_bytes_and_without_its_address() {
        let named = |attachment: Attachment| Attachment { name: Some("a.png".to_owned()), ..attachment }.to_string();
        assert_eq!(named(Attachment::bytes("image/png", &[0; 12_345])), "a.png (image/png, 12 kB)");
        assert_eq!(named(Attachment::bytes("image/png", b"abc")), "a.png (image/png, 3 bytes)");
        assert_eq!(Attachment::url("image/png", "https://x/y?key=s3cret").to_string(), "image/png, from an address");
    }

    #[test]
    fn the_debug_output_has_the_length_of_the_bytes_only() {
        let debug = format!("{:?}", Attachment::bytes("image/png", b"secret"));
        assert!(debug.contains("Base64(8 characters)"), "{debug}");
    }
}
