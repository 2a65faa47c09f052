//! Options of sources that are each written as one word. A configuration is checked in the same way whichever sources a build has.

use reknit_protocol::word_enum;

word_enum! {
    /// How the body of a request is encoded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum BodyFormat {
        #[default]
        Json = "json",
        /// As `application/x-www-form-urlencoded`.
        Form = "form",
        Text = "text",
    }
}

word_enum! {
    /// What the standard output of a command is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CommandOutput {
        /// JSON; anything else is a failure.
        Json = "json",
        /// A text, even if it looks like JSON.
        Text = "text",
        /// A list with one text for each line.
        Lines = "lines",
    }
}

word_enum! {
    /// What serves an address. It decides about the body of a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ComponentType {
        /// A tool: the body is the object of the parameters.
        #[default]
        Tool = "tool",
        /// An agent: the body is `{"data": {...}}` with the parameters inside.
        Agent = "agent",
    }
}

word_enum! {
    /// Whether a program is confined.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SandboxMode {
        Off = "off",
        /// As far as the kernel can.
        Auto = "auto",
        /// It is, or it does not start.
        Required = "required",
    }
}
