//! The addresses at which an API is served.

use reknit_protocol::Object;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiServer {
    /// The address, with variables in braces. It may be relative to the address of the document.
    pub url: String,
    /// What the server is for.
    pub description: String,
    pub variables: Vec<ServerVariable>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerVariable {
    pub name: String,
    /// The value if none is given; absent if the document declares none.
    pub default: Option<String>,
    /// The values that are allowed; all if empty.
    pub allowed: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerUrlError {
    #[error("the variable `{0}` of the server has no value")]
    NoValue(String),
    /// A value is not a text, or not one that the document allows.
    #[error("the value of the variable `{0}` of the server is not allowed")]
    NotAllowed(String),
    /// A value is given for a variable that the address does not have.
    #[error("the server has no variable `{0}`")]
    Unknown(String),
}

impl ApiServer {
    /// The address, with the given values and the defaults of all other variables.
    pub fn address(&self, values: &Object) -> Result<String, ServerUrlError> {
        let is_known = |name: &str| self.variables.iter().any(|variable| variable.name == name);
        if let Some(unknown) = values.keys().find(|name| !is_known(name)) {
            return Err(ServerUrlError::Unknown(unknown.to_owned()));
        }
        let mut address = String::new();
        let mut rest = self.url.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            address.push_str(before);
            address.push_str(&self.value(name, values)?);
            rest = after;
        }
        address.push_str(rest);
        Ok(address)
    }

    fn value(&self, name: &str, values: &Object) -> Result<String, ServerUrlError> {
        let variable = self.variables.iter().find(|variable| variable.name == name);
        let given = match values.get(name) {
            None => variable.and_then(|variable| variable.default.clone()),
            Some(value) => Some(value.as_str().ok_or_else(|| ServerUrlError::NotAllowed(name.to_owned()))?.to_owned()),
        };
        let value = given.ok_or_else(|| ServerUrlError::NoValue(name.to_owned()))?;
        let is_listed =
            variable.is_none_or(|variable| variable.allowed.is_empty() || variable.allowed.contains(&value));
        let is_clean = value.chars().all(|c| !c.is_control() && !c.is_whitespace());
        if is_listed && is_clean { Ok(value) } else { Err(ServerUrlError::NotAllowed(name.to_owned())) }
    }
}
