//! Images, sound and files in the result of a tool: a model looks at them instead of reading their bytes.

use reknit_model_api::Attachment;
use reknit_protocol::{Object, Value};

/// More of them stay in the text.
const MAX_ATTACHMENTS: usize = 8;
/// What stands in the text instead of the bytes.
const ATTACHED: &str = "(attached)";

/// Takes the images, the sound and the files out of a result in the format of MCP. The text stays as it is if there are none.
pub(super) fn take_attachments(text: String) -> (String, Vec<Attachment>) {
    if !text.contains("\"mimeType\"") {
        return (text, Vec::new());
    }
    let Ok(mut value) = Value::parse(&text) else { return (text, Vec::new()) };
    let mut attachments = Vec::new();
    if let Value::Object(result) = &mut value
        && let Some(Value::Array(blocks)) = result.get_mut("content")
    {
        for block in blocks.iter_mut().take(MAX_ATTACHMENTS) {
            attachments.extend(take_from_block(block));
        }
    }
    if attachments.is_empty() { (text, attachments) } else { (value.to_string(), attachments) }
}

fn take_from_block(block: &mut Value) -> Option<Attachment> {
    let Value::Object(block) = block else { return None };
    match block.get("type").and_then(Value::as_str)? {
        "image" | "audio" => take_bytes(block, "data"),
        "resource" => {
            let Some(Value::Object(resource)) = block.get_mut("resource") else { return None };
            let uri = resource.get("uri").and_then(Value::as_str).map(str::to_owned);
            let name = uri.and_then(|uri| uri.rsplit('/').next().map(str::to_owned)).filter(|name| !name.is_empty());
            take_bytes(resource, "blob").map(|attachment| Attachment { name, ..attachment })
        }
        _ => None,
    }
}

fn take_bytes(object: &mut Object, key: &str) -> Option<Attachment> {
    let media_type = object.get("mimeType").and_then(Value::as_str)?.to_owned();
    let Some(Value::String(bytes)) = object.get_mut(key) else { return None };
    let bytes = std::mem::replace(bytes, ATTACHED.to_owned());
    Some(Attachment::base64(media_type, bytes))
}

#[cfg(test)]
mod tests {
    use reknit_model_api::AttachmentKind;

    use super::*;

    #[test]
    fn images_sound_and_files_are_taken_out_and_the_rest_stays() {
        let result = r#"{"content":[{"type":"text","text":"a chart"},{"type":"image","mimeType":"image/png","data":"YWJj"},{"type":"resource","resource":{"uri":"file:///a/b.pdf","mimeType":"application/pdf","blob":"ZGVm"}},{"type":"resource","resource":{"uri":"file:///c","mimeType":"text/plain","text":"C"}}]}"#;
        let (text, attachments) = take_attachments(result.to_owned());
        assert_eq!(text, result.replace("YWJj", ATTACHED).replace("ZGVm", ATTACHED));
        let kinds: Vec<AttachmentKind> = attachments.iter().map(Attachment::kind).collect();
        assert_eq!(kinds, [AttachmentKind::Image, AttachmentKind::Document]);
        assert_eq!(attachments[1].name.as_deref(), Some("b.pdf"));
    }

    #[test]
    fn a_result_without_them_is_not_changed() {
        for text in [
            "a text",
            r#"{"a": 1.10}"#,
            r#"{"mimeType": "image/png", "data": "YWJj"}"#,
            r#"{"content": [{"type": "image", "mimeType": "image/png"}, {"type": "image", "data": "x"}]}"#,
            r#"{"content": [{"type": "resource_link", "mimeType": "text/plain"}], "#,
        ] {
            assert_eq!(take_attachments(text.to_owned()), (text.to_owned(), Vec::new()));
        }
    }
}
