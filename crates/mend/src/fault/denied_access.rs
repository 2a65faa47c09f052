//! Whether an error says that the caller has no access, whatever its status is. `docs/tool-errors.md` states the rule.

use reknit_protocol::Value;
use reknit_protocol::spelling::folded;

use crate::is_listed;

/// Codes of denied access, without case and separators.
const CODES: &str = "401 403 407 accessdenied authenticationerror authenticationfailed authenticationrequired \
    autherror forbidden invalidapikey unauthenticated unauthorized";

/// What a message about a key or credentials says, in words, each after a comma.
const PHRASES: &str = "invalid api key,incorrect api key,wrong api key,missing api key,expired api key,no api key,\
    api key is invalid,api key is missing,api key is required,api key not valid,api key expired,api key has expired,\
    invalid credentials,invalid authentication credentials";

/// Whether the code, or the message of an error in the body, denies access.
pub(super) fn denies_access(body: &Value, code: &str, message: &str) -> bool {
    let stated = [body.get("code"), body.get("error").and_then(|error| error.get("code"))];
    let words = words(message);
    is_listed(CODES, &folded(code))
        || stated.into_iter().flatten().any(is_denial_code)
        || PHRASES.split(',').any(|phrase| format!(" {words} ").contains(&format!(" {phrase} ")))
        || ["unauthorized", "unauthenticated"].contains(&words.as_str())
}

/// Whether the value of a member `code` denies access.
pub(super) fn is_denial_code(code: &Value) -> bool {
    match code {
        Value::String(text) => is_listed(CODES, &folded(text.trim())),
        Value::Number(number) => matches!(number.as_u64(), Some(401 | 403 | 407)),
        _ => false,
    }
}

/// The words of a text in lower case, with `API-key` and `apikey` as two words.
fn words(text: &str) -> String {
    let letters: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let text = letters.to_lowercase().replace("apikey", "api key");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
