//! What looks like a secret, by its name or by itself.

/// Words in the names of headers and environment variables whose values are secrets.
const ANYWHERE: &str = "key token secret password passwd passphrase credential cookie authorization signature";

/// The same, as whole words: `SMTP_PASS` is a secret, `COMPASS` is not.
const WHOLE_WORDS: [&str; 7] = ["pass", "pwd", "pw", "dsn", "auth", "session", "pat"];

/// Names of addresses that usually contain a password.
const ADDRESSES: [&str; 3] = ["database_url", "redis_url", "mongodb_uri"];

/// Whether the name of a header or of an environment variable says that its value is a secret.
///
/// ```
/// use reknit_tools::is_secret_name;
///
/// assert!(is_secret_name("X-Api-Key") && is_secret_name("SMTP_PASS") && is_secret_name("SENTRY_DSN"));
/// assert!(!is_secret_name("COMPASS") && !is_secret_name("Accept-Language"));
/// ```
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    ANYWHERE.split(' ').any(|word| name.contains(word))
        || name.split('_').any(|word| WHOLE_WORDS.contains(&word))
        || ADDRESSES.iter().any(|address| name.ends_with(address))
}

/// Whether a value looks like a secret, whatever its name is: a token of a usual form, or an address with a password.
pub fn is_secret_value(value: &str) -> bool {
    let lower = value.trim().to_ascii_lowercase();
    ["bearer ", "basic ", "digest ", "sk-", "ghp_", "github_pat_", "xoxb-", "eyj"]
        .iter()
        .any(|start| lower.starts_with(start))
        || password_in_url(value).is_some()
}

/// The password of an address like `postgres://user:password@host/name`.
pub fn password_in_url(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    (!password.is_empty()).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_of_secrets_are_recognised() {
        for name in
            ["SMTP_PASS", "DATABASE_URL", "APP_DATABASE_URL", "PGPASSWORD", "SENTRY_DSN", "DB_PWD", "x-auth", "Cookie"]
        {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PATH", "HOME", "LANG", "COMPASS_MODE", "AUTHOR", "BASE_URL", "Accept", "X-Request-Source"] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert_eq!(password_in_url("postgres://me:p%40ss@db:5432/x?a=b@c"), Some("p%40ss"));
        for plain in ["postgres://db/x", "https://me@host/", "https://host/a:b@c", "a:b@c"] {
            assert_eq!(password_in_url(plain), None, "{plain}");
        }
        assert!(
            is_secret_value("Bearer abc") && is_secret_value("redis://:hunter22@h") && !is_secret_value("text/html")
        );
    }
}
