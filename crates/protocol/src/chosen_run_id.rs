//! Run ids that a caller chooses.

use crate::RunId;

const MAX_LENGTH: usize = 128;

/// Stands for the newest run on the command line.
const RESERVED: &str = "last";

/// Why a text cannot be the id of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRunId {
    #[error("a run id is not empty")]
    Empty,
    #[error("a run id has at most {MAX_LENGTH} characters, not {0}")]
    TooLong(usize),
    #[error("a run id begins with a letter or a digit, not with {0:?}")]
    Start(char),
    #[error("a run id has only ASCII letters, digits, `-`, `_`, `.` and `:`, not {0:?}")]
    Character(char),
    #[error("`{RESERVED}` stands for the newest run and is no run id")]
    Reserved,
    #[error("ids that begin with `{0}` are made by Reknit; choose another one")]
    Derived(&'static str),
}

impl RunId {
    /// Before the ids that follow from a call of an MCP client.
    pub const MCP_PREFIX: &'static str = "mcp-";
    /// Before the ids that follow from an idempotency key.
    pub const KEY_PREFIX: &'static str = "key-";

    /// Reads an id that a client of a server chooses. As [`parse`](Self::parse), but not an id that Reknit derives itself: whoever
    /// chose one could guess where the request of another client looks for its run.
    pub fn parse_foreign(text: &str) -> Result<Self, InvalidRunId> {
        let run = Self::parse(text)?;
        match run.derived_prefix() {
            Some(prefix) => Err(InvalidRunId::Derived(prefix)),
            None => Ok(run),
        }
    }

    /// The prefix of an id that Reknit derives from its owner and a request; `None` for any other id.
    pub fn derived_prefix(&self) -> Option<&'static str> {
        [Self::MCP_PREFIX, Self::KEY_PREFIX].into_iter().find(|prefix| self.as_str().starts_with(prefix))
    }

    /// The id that a caller chooses for a run, so that a second start does nothing twice: 1 to 128 ASCII letters, digits, `-`,
    /// `_`, `.` and `:`. The first character is a letter or a digit.
    pub fn parse(text: &str) -> Result<Self, InvalidRunId> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let length = text.chars().count();
        match text.chars().next() {
            None => Err(InvalidRunId::Empty),
            _ if length > MAX_LENGTH => Err(InvalidRunId::TooLong(length)),
            Some(first) if is_allowed(first) && !first.is_ascii_alphanumeric() => Err(InvalidRunId::Start(first)),
            _ if text == RESERVED => Err(InvalidRunId::Reserved),
            _ => match text.chars().find(|c| !is_allowed(*c)) {
                Some(found) => Err(InvalidRunId::Character(found)),
                None => Ok(Self::new(text)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_id_is_short_printable_and_safe_in_a_shell() {
        for text in ["r", "7", "refund-7", "a.b_c:d", &"x".repeat(128)] {
            assert_eq!(RunId::parse(text), Ok(RunId::new(text)));
        }
        for (text, problem) in [
            ("", InvalidRunId::Empty),
            ("--json", InvalidRunId::Start('-')),
            (".hidden", InvalidRunId::Start('.')),
            ("last", InvalidRunId::Reserved),
            ("a b", InvalidRunId::Character(' ')),
            ("a/b", InvalidRunId::Character('/')),
            ("a\u{7}", InvalidRunId::Character('\u{7}')),
            ("für", InvalidRunId::Character('ü')),
            ("$(x)", InvalidRunId::Character('$')),
            (&"x".repeat(129), InvalidRunId::TooLong(129)),
        ] {
            assert_eq!(RunId::parse(text), Err(problem), "case: {text:?}");
        }
    }

    #[test]
    fn a_client_chooses_no_id_that_reknit_derives() {
        for text in ["mcp-0123-1", "key-0123", "mcp-", "key-"] {
            assert!(matches!(RunId::parse_foreign(text), Err(InvalidRunId::Derived(_))), "case: {text:?}");
            assert_eq!(RunId::parse(text), Ok(RunId::new(text)), "it can be looked up");
        }
        for text in ["mcp", "mcp.1", "keys-1", "refund-key-1"] {
            assert_eq!(RunId::parse_foreign(text), Ok(RunId::new(text)));
        }
        assert_eq!(RunId::parse_foreign("a b"), Err(InvalidRunId::Character(' ')));
    }
}
