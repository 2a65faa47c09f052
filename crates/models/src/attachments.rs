//! Attachments of a request: which ones a target takes, and the files among them.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reknit_model_api::{Attachment, AttachmentKind, AttachmentSource, ErrorClass, Message, ModelFailure, ModelRequest};

use crate::{Provider, Target};

/// The request as the target gets it: with the target's defaults, and with every file read. Fails if the target cannot take
/// an attachment.
pub(crate) async fn prepare<'a>(
    target: &Target,
    request: &'a ModelRequest,
) -> Result<Cow<'a, ModelRequest>, ModelFailure> {
    let mut request = Cow::Borrowed(request);
    if !target.defaults.is_empty() {
        target.defaults.apply(request.to_mut());
    }
    if request.messages.iter().any(|message| has_unseen(target, message)) {
        request.to_mut().messages.iter_mut().for_each(|message| describe_unseen(target, message));
    }
    let all = request.messages.iter().flat_map(Message::attachments);
    for attachment in all.clone() {
        let refused = |problem| ModelFailure::new(ErrorClass::ModelError, format!("not sent: {problem}"));
        target.check_attachment(attachment).map_err(refused)?;
    }
    if all.into_iter().any(|attachment| matches!(attachment.source, AttachmentSource::Path(_))) {
        for message in &mut request.to_mut().messages {
            let (Message::User { attachments, .. } | Message::Tool { attachments, .. }) = message else { continue };
            for attachment in attachments {
                load(attachment).await?;
            }
        }
    }
    Ok(request)
}

/// Whether the result of a tool has an attachment that the model may not be able to take. What a person attaches is a question
/// about it, and an error if the model cannot take it; what a tool attaches must not end a session.
fn has_unseen(target: &Target, message: &Message) -> bool {
    let is_result = matches!(message, Message::Tool { .. });
    is_result && message.attachments().iter().any(|attachment| !surely_takes(target, attachment))
}

fn describe_unseen(target: &Target, message: &mut Message) {
    let Message::Tool { text, attachments, .. } = message else { return };
    attachments.retain(|attachment| {
        let is_seen = surely_takes(target, attachment);
        if !is_seen {
            text.push_str("\n(an attachment of type ");
            text.push_str(&attachment.media_type);
            text.push_str(" is not shown to this model)");
        }
        is_seen
    });
}

fn surely_takes(target: &Target, attachment: &Attachment) -> bool {
    // Any model may be behind the others.
    let is_known = !matches!(
        target.provider,
        Provider::Compatible | Provider::Ollama | Provider::Cohere | Provider::Bedrock | Provider::Azure
    );
    (is_known || target.inputs.is_some()) && target.check_attachment(attachment).is_ok()
}

impl Target {
    /// Says why the target cannot take an attachment, as far as that is known before the server is asked.
    pub fn check_attachment(&self, attachment: &Attachment) -> Result<(), String> {
        let Attachment { media_type, source, .. } = attachment;
        let (kind, name, provider) = (attachment.kind(), &self.name, self.provider);
        if self.inputs.as_ref().is_some_and(|inputs| !inputs.contains(&kind)) {
            return Err(format!("model `{name}` takes no {kind} ({media_type}); its `inputs` do not list it"));
        }
        let is_url = matches!(source, AttachmentSource::Url(_));
        if carries(provider, kind, is_url) {
            return Ok(());
        }
        Err(if carries(provider, kind, false) {
            format!("`{provider}` takes no {kind} from an address ({media_type}); send its bytes")
        } else {
            format!("`{provider}` takes no {kind} ({media_type})")
        })
    }
}

fn carries(provider: Provider, kind: AttachmentKind, is_url: bool) -> bool {
    let is_image = kind == AttachmentKind::Image;
    let is_sound = kind == AttachmentKind::Audio;
    match provider {
        Provider::OpenAi | Provider::Azure | Provider::Compatible => is_image || !is_url,
        Provider::OpenAiResponses | Provider::Anthropic => !is_sound,
        Provider::Gemini | Provider::Vertex => true,
        Provider::VertexAnthropic | Provider::Bedrock => !is_sound && !is_url,
        Provider::Ollama => is_image && !is_url,
        Provider::Cohere => is_image,
    }
}

/// Replaces a path by the bytes of its file.
async fn load(attachment: &mut Attachment) -> Result<(), ModelFailure> {
    let AttachmentSource::Path(path) = &attachment.source else { return Ok(()) };
    let failed = |problem: String| {
        ModelFailure::new(ErrorClass::ModelError, format!("not sent: attachment `{path}`: {problem}"))
    };
    let size = tokio::fs::metadata(path).await.map_err(|error| failed(error.to_string()))?.len();
    if size > Attachment::MAX_BYTES {
        return Err(failed(format!("it has {size} bytes, more than {}", Attachment::MAX_BYTES)));
    }
    let bytes = tokio::fs::read(path).await.map_err(|error| failed(error.to_string()))?;
    attachment.source = AttachmentSource::Base64(STANDARD.encode(bytes));
    Ok(())
}

/// The bytes in Base64; none for an address.
pub(crate) fn base64_of(attachment: &Attachment) -> Option<&str> {
    match &attachment.source {
        AttachmentSource::Base64(text) => Some(text),
        AttachmentSource::Url(_) | AttachmentSource::Path(_) => None,
    }
}

/// The address, or one that contains the bytes.
pub(crate) fn address(attachment: &Attachment) -> String {
    match &attachment.source {
        AttachmentSource::Base64(text) => format!("data:{};base64,{text}", attachment.media_type),
        AttachmentSource::Url(url) | AttachmentSource::Path(url) => url.clone(),
    }
}

/// The text of a document; invalid UTF-8 is replaced.
pub(crate) fn decoded_text(attachment: &Attachment) -> String {
    let bytes = base64_of(attachment).and_then(|text| STANDARD.decode(text).ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The name of a file, which some providers demand.
pub(crate) fn file_name(attachment: &Attachment) -> &str {
    attachment.name.as_deref().unwrap_or("attachment")
}

/// The part of the media type after the slash, as `png` of `image/png`.
pub(crate) fn subtype(attachment: &Attachment) -> &str {
    attachment.media_type.split_once('/').map_or("", |(_, subtype)| subtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(target: &Target, attachment: &Attachment) -> String {
        target.check_attachment(attachment).unwrap_err()
    }

    #[test]
    fn an_attachment_that_a_target_cannot_take_is_a_clear_error() {
        let image = Attachment::bytes("image/png", b"x");
        let sound = Attachment::bytes("audio/wav", b"x");
        let linked = Attachment::url("application/pdf", "https://x/y.pdf");
        let claude = Target::for_provider(Provider::Anthropic, "a", "claude-sonnet-4-5");
        assert_eq!((claude.check_attachment(&image), claude.check_attachment(&linked)), (Ok(()), Ok(())));
        assert_eq!(problem(&claude, &sound), "`anthropic` takes no audio (audio/wav)");
        let chat = Target::new("a", "http://localhost", "m");
        assert_eq!(
            problem(&chat, &linked),
            "`compatible` takes no document from an address (application/pdf); send its bytes"
        );
        let text_only = Target { inputs: Some(vec![]), ..chat };
        assert_eq!(problem(&text_only, &image), "model `a` takes no image (image/png); its `inputs` do not list it");
    }
}
