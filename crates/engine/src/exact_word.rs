//! Words that name one thing exactly: an address, an account, an id.

/// The kind of a word that names one thing exactly.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExactWord {
    Mail,
    Address,
    Code,
}

impl ExactWord {
    /// The kind of a word in lower case; `None` for a name, and for several words.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let is_code = word.chars().count() >= 8 && word.chars().any(|letter| letter.is_ascii_digit());
        let is_host = |word: &str| {
            word.split('/').next().is_some_and(|host| {
                let end = host
                    .rsplit_once('.')
                    .map(|(start, end)| !start.is_empty() && end.len() >= 2 && end.chars().all(char::is_alphabetic));
                end.unwrap_or(false)
            })
        };
        match word {
            _ if word.contains(char::is_whitespace) => None,
            _ if word.contains("://") || is_host(word) && !word.contains('@') => Some(Self::Address),
            _ if word.contains('@') => Some(Self::Mail),
            _ if is_code => Some(Self::Code),
            _ => None,
        }
    }
}
