//! How requests of an API are authenticated.

use crate::parameter::ParameterLocation;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityNeed {
    pub name: String,
    pub scheme: SecurityScheme,
    /// The scopes that the operation needs.
    pub scopes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecurityScheme {
    /// A key in a header, the query or a cookie.
    ApiKey {
        /// Where the key goes. Never the path.
        location: ParameterLocation,
        parameter: String,
    },
    /// `Authorization: Bearer <token>`.
    Bearer,
    /// `Authorization: Basic <user and password>`.
    Basic,
    /// A bearer token that is fetched with client credentials.
    ClientCredentials {
        /// Where the token is fetched.
        token_url: String,
        /// The scopes that the scheme has.
        scopes: Vec<String>,
    },
    /// Anything else, which a person must set up.
    Unsupported {
        /// What the document says, such as `oauth2 with the flow implicit`.
        description: String,
    },
}
