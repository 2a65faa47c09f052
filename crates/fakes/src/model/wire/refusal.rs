//! Refusals in the wire format of each provider.

use serde_json::json;

use super::ModelApi;
use crate::reply::Refusal;

impl ModelApi {
    /// The status and the body of a refusal.
    pub(in crate::model) fn refuse(self, refusal: &Refusal) -> (u16, String) {
        let (status, body) = match (self, refusal) {
            (Self::Chat | Self::Responses, Refusal::ContextLength) => {
                let message =
                    "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.";
                (400, openai("context_length_exceeded", message))
            }
            (Self::Chat | Self::Responses, Refusal::ContentFilter(reason)) => {
                (400, openai("content_policy_violation", reason))
            }
            (Self::Anthropic, Refusal::ContextLength) => {
                (400, anthropic("prompt is too long: 210000 tokens > 200000 maximum"))
            }
            (Self::Anthropic, Refusal::ContentFilter(reason)) => (400, anthropic(reason)),
            (Self::Gemini, Refusal::ContextLength) => {
                let message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).";
                (400, json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}))
            }
            // Gemini reports it in a successful response, in place of an answer.
            (Self::Gemini, Refusal::ContentFilter(reason)) => {
                let feedback = json!({"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": reason});
                (200, json!({"promptFeedback": feedback}))
            }
        };
        (status, body.to_string())
    }
}

fn openai(code: &str, message: &str) -> serde_json::Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "code": code}})
}

fn anthropic(message: &str) -> serde_json::Value {
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
}
