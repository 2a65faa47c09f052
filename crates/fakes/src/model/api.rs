//! The provider APIs that a scripted model serves.

/// The provider APIs that a scripted model serves, each at its own path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelApi {
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/responses`.
    Responses,
    /// `/v1/messages`.
    Anthropic,
    /// `/v1/models/NAME:generateContent` and `:streamGenerateContent`, and the same under `/v1beta`.
    Gemini,
}
