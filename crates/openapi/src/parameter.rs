//! Parameters outside of the body, and how they are written.

use reknit_protocol::word_enum;

word_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ParameterLocation {
        Path = "path",
        Query = "query",
        Header = "header",
        Cookie = "cookie",
    }
}

word_enum! {
    /// How a value is written as text. The names are those of OpenAPI.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ParameterStyle {
        /// `a,b`
        Simple = "simple",
        /// `.a.b`
        Label = "label",
        /// `;name=a;name=b`
        Matrix = "matrix",
        /// `name=a&name=b`
        Form = "form",
        /// `name=a%20b`
        SpaceDelimited = "spaceDelimited",
        /// `name=a%7Cb`
        PipeDelimited = "pipeDelimited",
        /// `name=a%09b`, which only Swagger 2 has, as `tsv`
        TabDelimited = "tabDelimited",
        /// `name[key]=value`
        DeepObject = "deepObject",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterEncoding {
    /// As text in a style.
    Styled {
        style: ParameterStyle,
        /// Whether every item and every member is written on its own.
        explode: bool,
        /// Whether reserved characters that are harmless in a query stay as they are.
        allow_reserved: bool,
    },
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiParameter {
    /// The name among the parameters of the capability.
    pub name: String,
    /// The name in the request.
    pub wire_name: String,
    pub location: ParameterLocation,
    /// Whether a request without it is invalid.
    pub required: bool,
    pub encoding: ParameterEncoding,
}
