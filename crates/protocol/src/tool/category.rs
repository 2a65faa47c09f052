//! The five kinds of tool failures, and the HTTP statuses they travel under.

use std::fmt;

/// What kind of failure a tool reports; decides who can do something about it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Category {
    /// `INPUT_ERROR`: the parameters are at fault; other ones may work.
    InputError,
    /// `NOT_FOUND`: there is no such thing; it may exist under another name.
    NotFound,
    /// `RATE_LIMIT`: too many requests; the same one works later.
    RateLimit,
    /// `AUTH_ERROR`: credentials are at fault; no change of parameters helps.
    AuthError,
    /// `SERVICE_ERROR`: something behind the tool is down; the same request may work later.
    ServiceError,
    /// A word the protocol does not know, as written.
    Other(String),
}

impl Category {
    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::InputError => "INPUT_ERROR",
            Self::NotFound => "NOT_FOUND",
            Self::RateLimit => "RATE_LIMIT",
            Self::AuthError => "AUTH_ERROR",
            Self::ServiceError => "SERVICE_ERROR",
            Self::Other(word) => word,
        }
    }

    /// The HTTP status a tool answers with.
    pub fn status(&self) -> u16 {
        match self {
            Self::InputError => 400,
            Self::AuthError => 401,
            Self::NotFound => 404,
            Self::RateLimit => 429,
            Self::Other(_) => 500,
            Self::ServiceError => 503,
        }
    }

    /// What an HTTP status says about a failure whose body says nothing.
    ///
    /// | status | category |
    /// |---|---|
    /// | 401, 403, 407 | `AUTH_ERROR`: the caller is not known or not allowed |
    /// | 404, 410 | `NOT_FOUND` |
    /// | 408, 5xx | `SERVICE_ERROR`: the other side was too slow or broken |
    /// | 429 | `RATE_LIMIT` |
    /// | any other 4xx | `INPUT_ERROR`: the request is at fault in some way |
    ///
    /// `None` for everything that is no failure (1xx, 2xx, 3xx) or no HTTP status.
    pub fn from_status(status: u16) -> Option<Self> {
        match status {
            401 | 403 | 407 => Some(Self::AuthError),
            404 | 410 => Some(Self::NotFound),
            429 => Some(Self::RateLimit),
            408 | 500..=599 => Some(Self::ServiceError),
            400..=499 => Some(Self::InputError),
            _ => None,
        }
    }
}

impl From<&str> for Category {
    /// Reads the word on the wire, exactly as spelt; any other word becomes [`Category::Other`].
    fn from(word: &str) -> Self {
        match word {
            "INPUT_ERROR" => Self::InputError,
            "NOT_FOUND" => Self::NotFound,
            "RATE_LIMIT" => Self::RateLimit,
            "AUTH_ERROR" => Self::AuthError,
            "SERVICE_ERROR" => Self::ServiceError,
            _ => Self::Other(word.to_owned()),
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: [(&str, Category, u16); 5] = [
        ("INPUT_ERROR", Category::InputError, 400),
        ("NOT_FOUND", Category::NotFound, 404),
        ("RATE_LIMIT", Category::RateLimit, 429),
        ("AUTH_ERROR", Category::AuthError, 401),
        ("SERVICE_ERROR", Category::ServiceError, 503),
    ];

    #[test]
    fn each_category_has_its_word_and_its_status_both_ways() {
        for (word, category, status) in TABLE {
            assert_eq!(category.as_str(), word);
            assert_eq!(Category::from(word), category);
            assert_eq!(category.status(), status, "{word}");
            assert_eq!(Category::from_status(status), Some(category), "{status}");
        }
    }

    #[test]
    fn a_word_the_protocol_does_not_know_is_kept_as_written() {
        let category = Category::from("Teapot");
        assert_eq!(category, Category::Other("Teapot".to_owned()));
        assert_eq!(category.to_string(), "Teapot");
        assert_eq!(category.status(), 500);
        // Spelling counts: guessing at `input_error` is for those who may be wrong.
        assert_eq!(Category::from("input_error").as_str(), "input_error");
        assert_ne!(Category::from("input_error"), Category::InputError);
    }

    #[test]
    fn a_status_that_is_no_failure_has_no_category() {
        for status in [0, 100, 200, 204, 302, 399, 600] {
            assert_eq!(Category::from_status(status), None, "{status}");
        }
    }

    #[test]
    fn other_statuses_fall_to_whoever_is_at_fault() {
        for (status, category) in [
            (403, Category::AuthError),
            (408, Category::ServiceError),
            (409, Category::InputError),
            (410, Category::NotFound),
            (422, Category::InputError),
            (499, Category::InputError),
            (500, Category::ServiceError),
            (504, Category::ServiceError),
            (599, Category::ServiceError),
        ] {
            assert_eq!(Category::from_status(status), Some(category), "{status}");
        }
    }
}
