//! The file with the tokens that `reknit serve` accepts. It has their hashes, so it cannot be used to log in.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use reknit_model_api::Money;
use reknit_server::{Scope, Token};
use serde::{Deserialize, Serialize};

use crate::output::Failure;
use crate::setup::{FileReaders, replace_file};

/// Reads an amount of money.
pub(crate) fn money(text: &str) -> Result<Money, String> {
    let amount: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    Money::try_from(amount).map_err(|error| error.to_string())
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    #[serde(default, rename = "token")]
    tokens: Vec<TokenEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenEntry {
    name: String,
    hash: String,
    scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requests_per_minute: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    monthly_budget: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    all_runs: bool,
}

/// Reads the tokens. A file that does not exist has none if `may_be_missing`.
pub(crate) fn read(path: &Path, may_be_missing: bool) -> Result<Vec<Token>, Failure> {
    let shown = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if may_be_missing && error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let hint = format!("make a token with `reknit tokens new NAME --scopes read,run --file {shown}`");
            return Err(Failure::usage(format!("cannot read the tokens in `{shown}`: {error}"), hint));
        }
    };
    let refused = |problem: String| {
        Failure::usage(format!("cannot use the tokens in `{shown}`: {problem}"), "write them with `reknit tokens new`")
    };
    let file: TokenFile = toml::from_str(&text).map_err(|error| refused(error.to_string()))?;
    let token = |entry: TokenEntry| {
        let of = |problem: String| refused(format!("token `{}`: {problem}", entry.name));
        let hash = entry.hash.parse().map_err(|error: reknit_server::InvalidTokenHash| of(error.to_string()))?;
        let scopes = entry.scopes.iter().map(|word| word.parse::<Scope>());
        let scopes = scopes.collect::<Result<Vec<_>, _>>().map_err(|error| of(error.to_string()))?;
        let budget = entry.monthly_budget.as_deref().map(money).transpose().map_err(of)?;
        Ok(Token {
            requests_per_minute: entry.requests_per_minute,
            tools: entry.tools.clone(),
            monthly_budget: budget,
            sees_all_runs: entry.all_runs,
            ..Token::new(entry.name.clone(), hash, scopes)
        })
    };
    let tokens = file.tokens.into_iter().map(token).collect::<Result<Vec<Token>, Failure>>()?;
    let is_repeated = |index: usize, token: &Token| tokens.iter().take(index).any(|earlier| earlier.name == token.name);
    match tokens.iter().enumerate().find(|(index, token)| is_repeated(*index, token)) {
        Some((_, token)) => Err(refused(format!("there are two tokens for `{}`", token.name))),
        None => Ok(tokens),
    }
}

/// Replaces the file: nobody ever reads half of it, and only its owner can read it.
pub(crate) fn write(path: &Path, tokens: &[Token]) -> Result<(), Failure> {
    let entry = |token: &Token| TokenEntry {
        name: token.name.clone(),
        hash: token.hash.to_string(),
        scopes: token.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
        requests_per_minute: token.requests_per_minute,
        tools: token.tools.clone(),
        monthly_budget: token.monthly_budget.map(|money| money.to_string()),
        all_runs: token.sees_all_runs,
    };
    let file = TokenFile { tokens: tokens.iter().map(entry).collect() };
    let text = toml::to_string(&file).map_err(|error| Failure::Write(std::io::Error::other(error)))?;
    replace_file(path, &text, FileReaders::Owner).map_err(Failure::Write)
}
