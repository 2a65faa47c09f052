//! The five categories of tool failures and their HTTP statuses.

use std::fmt;

/// The category of a failure, which decides what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Category {
    /// `INPUT_ERROR`: the parameters are wrong; other ones may work.
    InputError,
    /// `NOT_FOUND`: the requested thing does not exist, at least not under this name.
    NotFound,
    /// `RATE_LIMIT`: too many requests; the same request works later.
    RateLimit,
    /// `AUTH_ERROR`: the credentials are wrong; other parameters do not help.
    AuthError,
    /// `SERVICE_ERROR`: an upstream service is down; the same request may work later.
    ServiceError,
    /// A category that the protocol does not define, as written.
    Other(String),
}

impl Category {
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

    /// The category that an HTTP status implies when the body names none.
    ///
    /// | status | category |
    /// |---|---|
    /// | 401, 403, 407 | `AUTH_ERROR`: the caller is not authenticated or not allowed |
    /// | 404, 410 | `NOT_FOUND` |
    /// | 408, 5xx | `SERVICE_ERROR`: the server was too slow or failed |
    /// | 429 | `RATE_LIMIT` |
    /// | any other 4xx | `INPUT_ERROR`: the request is wrong in some way |
    ///
    /// `None` for 1xx, 2xx and 3xx, and for numbers that are not HTTP statuses.
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
    /// Reads the name, which is case-sensitive; any other word becomes [`Category::Other`].
    fn from(word: &str) -> Self {
        let known = [Self::InputError, Self::NotFound, Self::RateLimit, Self::AuthError, Self::ServiceError];
        known.into_iter().find(|category| category.as_str() == word).unwrap_or_else(|| Self::Other(word.to_owned()))
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

    #[test]
    fn each_category_maps_to_one_name_and_one_status_and_back() {
        for (word, category, status) in [
            ("INPUT_ERROR", Category::InputError, 400),
            ("NOT_FOUND", Category::NotFound, 404),
            ("RATE_LIMIT", Category::RateLimit, 429),
            ("AUTH_ERROR", Category::AuthError, 401),
            ("SERVICE_ERROR", Category::ServiceError, 503),
        ] {
            assert_eq!(category.as_str(), word);
            assert_eq!(Category::from(word), category);
            assert_eq!(category.status(), status, "{word}");
            assert_eq!(Category::from_status(status), Some(category), "{status}");
        }
    }

    #[test]
    fn an_unknown_category_is_kept_as_written() {
        let category = Category::from("Teapot");
        assert_eq!(category, Category::Other("Teapot".to_owned()));
        assert_eq!(category.to_string(), "Teapot");
        assert_eq!(category.status(), 500);
        assert_eq!(Category::from("input_error").as_str(), "input_error");
        assert_ne!(Category::from("input_error"), Category::InputError);
    }

    #[test]
    fn every_failure_status_has_a_category_and_no_other_status_has_one() {
        for status in [0, 100, 200, 204, 302, 399, 600] {
            assert_eq!(Category::from_status(status), None, "{status}");
        }
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
