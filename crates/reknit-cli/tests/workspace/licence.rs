//! Licence expressions as SPDX writes them: names, `AND`, `OR`, `WITH` and parentheses.
//!
//! ```text
//! either = both ("OR" both)*          both = one ("AND" one)*
//! one    = "(" either ")" | NAME ["WITH" NAME]
//! ```

/// A licence expression.
#[derive(Debug)]
pub(crate) enum Expression {
    Licence(String),
    Both(Box<Expression>, Box<Expression>),
    Either(Box<Expression>, Box<Expression>),
}

/// Why a text is no expression.
#[derive(Debug)]
pub(crate) struct ParseError {
    pub(crate) problem: String,
}

impl Expression {
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        // Manifests from before 2015 write `MIT/Apache-2.0` and mean OR.
        let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let mut tokens: Vec<&str> = spaced.split_whitespace().rev().collect();
        let expression = either(&mut tokens)?;
        match tokens.pop() {
            None => Ok(expression),
            Some(token) => Err(unexpected(Some(token))),
        }
    }

    /// Whether someone who accepts only these licences may use what comes under this expression.
    pub(crate) fn is_satisfied_by(&self, accepted: &[&str]) -> bool {
        match self {
            Self::Licence(name) => accepted.contains(&name.as_str()),
            Self::Both(left, right) => left.is_satisfied_by(accepted) && right.is_satisfied_by(accepted),
            Self::Either(left, right) => left.is_satisfied_by(accepted) || right.is_satisfied_by(accepted),
        }
    }
}

// The tokens are a stack: the next one is the last.

fn either(tokens: &mut Vec<&str>) -> Result<Expression, ParseError> {
    let mut left = both(tokens)?;
    while tokens.pop_if(|token| *token == "OR").is_some() {
        left = Expression::Either(Box::new(left), Box::new(both(tokens)?));
    }
    Ok(left)
}

fn both(tokens: &mut Vec<&str>) -> Result<Expression, ParseError> {
    let mut left = one(tokens)?;
    while tokens.pop_if(|token| *token == "AND").is_some() {
        left = Expression::Both(Box::new(left), Box::new(one(tokens)?));
    }
    Ok(left)
}

fn one(tokens: &mut Vec<&str>) -> Result<Expression, ParseError> {
    if tokens.pop_if(|token| *token == "(").is_some() {
        let inner = either(tokens)?;
        return match tokens.pop() {
            Some(")") => Ok(inner),
            other => Err(unexpected(other)),
        };
    }
    let licence = Expression::Licence(name(tokens)?);
    if tokens.pop_if(|token| *token == "WITH").is_some() {
        // An exception adds permissions and takes none away, so its name does not matter here.
        name(tokens)?;
    }
    Ok(licence)
}

fn name(tokens: &mut Vec<&str>) -> Result<String, ParseError> {
    match tokens.pop() {
        Some(token) if !["AND", "OR", "WITH", "(", ")"].contains(&token) => Ok(token.to_owned()),
        other => Err(unexpected(other)),
    }
}

fn unexpected(token: Option<&str>) -> ParseError {
    ParseError {
        problem: token.map_or_else(|| "it ends early".to_owned(), |token| format!("`{token}` is not expected")),
    }
}
