//! The APIs that programs use to ask models.

reknit_protocol::word_enum! {
    /// An API that programs use to ask models, and that servers of several providers offer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Api {
        /// `POST /v1/chat/completions` of `OpenAI`.
        ChatCompletions = "chat/completions",
        /// `POST /v1/responses` of `OpenAI`.
        Responses = "responses",
        /// `POST /v1/messages` of Anthropic.
        Messages = "messages",
    }
}
