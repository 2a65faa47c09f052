//! How services and MCP servers let us in.

/// How the key of a service is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Authentication {
    Bearer,
    Basic,
    Header,
    Query,
    Cookie,
    ClientCredentials,
}

/// How we are let in by an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpAuthentication {
    Bearer,
    OAuth,
}
