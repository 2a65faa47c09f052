//! Tokens: who may do what.

use std::fmt;
use std::str::FromStr;

use reknit_model_api::Money;
use reknit_protocol::{Sha256, hex, word_enum};
use reknit_runtime::RunOwner;
use ring::rand::{SecureRandom, SystemRandom};

word_enum! {
    /// What a token allows, with its name in the configuration.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Scope {
        /// Read runs, tools and models.
        Read = "read",
        /// Start, cancel, resume and retry runs, and use models for mending.
        Run = "run",
        /// Decide questions that a run asks a person.
        Approve = "approve",
        /// Everything.
        Admin = "admin",
    }
}

/// A word that is not the name of a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a scope; write `read`, `run`, `approve` or `admin`")]
pub struct InvalidScope(String);

impl FromStr for Scope {
    type Err = InvalidScope;

    fn from_str(word: &str) -> Result<Self, InvalidScope> {
        Self::from_word(word).ok_or_else(|| InvalidScope(word.to_owned()))
    }
}

/// The SHA-256 digest of a token. Tokens are random, so a fast digest is enough, and the stored digest is of no use to a thief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenHash(String);

/// A text that is not the digest of a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hash of a token has 64 hexadecimal digits; make one with `reknit tokens new NAME`")]
pub struct InvalidTokenHash;

impl TokenHash {
    /// The digest of a token.
    pub fn of(token: &str) -> Self {
        Self(hex(&Sha256::digest(token.as_bytes())))
    }

    /// Whether the digests are equal. The time of the comparison does not depend on where they differ.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.bytes().zip(other.0.bytes()).fold(0, |difference, (one, other)| difference | (one ^ other)) == 0
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl FromStr for TokenHash {
    type Err = InvalidTokenHash;

    fn from_str(text: &str) -> Result<Self, InvalidTokenHash> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(InvalidTokenHash);
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

/// A token of the configuration. Only its digest is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The name of its owner, which decisions and log lines name.
    pub name: String,
    /// Its digest.
    pub hash: TokenHash,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// How many requests it may send in a minute; without a limit if none.
    pub requests_per_minute: Option<u32>,
    /// The tools (`shop`) and capabilities (`shop/price`) that its runs may call; all if none.
    pub tools: Option<Vec<String>>,
    /// What it may spend on models in a month; without a limit if none.
    pub monthly_budget: Option<Money>,
    /// Whether it sees the runs of all tokens. Without it a token sees those that it has started, unless it has the scope `admin`.
    pub sees_all_runs: bool,
}

impl Token {
    /// A token without limits beside its scopes.
    pub fn new(name: impl Into<String>, hash: TokenHash, scopes: impl Into<Vec<Scope>>) -> Self {
        let (name, scopes) = (name.into(), scopes.into());
        let (requests_per_minute, tools, monthly_budget) = (None, None, None);
        Self { name, hash, scopes, requests_per_minute, tools, monthly_budget, sees_all_runs: false }
    }

    pub(crate) fn owner(&self) -> RunOwner {
        RunOwner {
            name: self.name.clone(),
            tools: self.tools.clone(),
            monthly_budget: self.monthly_budget,
            sees_all_runs: self.sees_all_runs || self.allows(Scope::Admin),
        }
    }

    /// A new random token: the text for its owner, and the digest for the configuration.
    pub fn generate() -> std::io::Result<(String, TokenHash)> {
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).map_err(|_| std::io::Error::other("the system has no random numbers"))?;
        let text = format!("rk-{}", hex(&bytes));
        let hash = TokenHash::of(&text);
        Ok((text, hash))
    }

    pub(crate) fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_token_matches_its_hash_and_no_other_token_does() {
        let (text, hash) = Token::generate().unwrap();
        let read: TokenHash = hash.to_string().parse().unwrap();
        let token = Token::new("ann", read, [Scope::Read]);
        assert!(token.hash.is(&TokenHash::of(&text)));
        assert!(!token.hash.is(&TokenHash::of(&format!("{text}0"))));
        assert!(!token.hash.is(&TokenHash::of("")));
        // Every digit counts, the first and the last one, too.
        for at in 0..64 {
            let mut digits: Vec<char> = token.hash.to_string().chars().collect();
            digits[at] = if digits[at] == '0' { '1' } else { '0' };
            let other = digits.into_iter().collect::<String>().parse().unwrap();
            assert!(!token.hash.is(&other), "{at}");
        }
        assert_ne!(Token::generate().unwrap().0, text);
    }

    #[test]
    fn a_scope_allows_itself_and_admin_allows_everything() {
        let token = |scopes: &[Scope]| Token::new("", TokenHash::of("x"), scopes);
        assert!(token(&[Scope::Read, Scope::Run]).allows(Scope::Run));
        assert!(!token(&[Scope::Read, Scope::Run]).allows(Scope::Approve));
        assert!(token(&[Scope::Admin]).allows(Scope::Approve));
        assert!(!token(&[]).allows(Scope::Read));
    }

    #[test]
    fn a_text_that_is_no_hash_is_refused() {
        for text in ["", "abc", &"g".repeat(64), &"é".repeat(32), &"+1".repeat(32)] {
            assert_eq!(text.parse::<TokenHash>(), Err(InvalidTokenHash), "{text}");
        }
    }
}
