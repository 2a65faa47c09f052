//! Files with learned rules, which people review and commit.

mod edit;
mod read;
mod write;

use std::fmt;

use reknit_mend::RuleBook;
use reknit_plan::{Document, FileProblem};

/// Why a file with rules cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFileError {
    /// Everything that is wrong, in the order of the file.
    pub problems: Vec<FileProblem>,
}

impl std::error::Error for RuleFileError {}

impl fmt::Display for RuleFileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        out.write_str(&problems.join("; "))
    }
}

/// Reads a file with rules. An empty file has none.
///
/// ```
/// use reknit_engine::{read_rule_file, write_rule_file};
///
/// let text = r#"
/// rules:
///   - id: 3f9a20c1d4
///     state: accepted
///     capability: bank/convert
///     error: {code: NO_RATE, status: 404, message: "no rate from * to *", fields: [from]}
///     change:
///       from: {of: parameters.from, map: {Pounds: GBP, Yen: JPY}}
/// "#;
/// let book = read_rule_file(text)?;
/// assert_eq!(book.rules[0].capability, "bank/convert");
/// assert_eq!(read_rule_file(&write_rule_file(&book))?, book);
///
/// let error = read_rule_file("rules:\n  - capability: bank/convert\n    chang: {}").unwrap_err();
/// assert!(error.to_string().starts_with("line 3, column 5: `rules[0].chang`: unknown key"));
/// # Ok::<(), reknit_engine::RuleFileError>(())
/// ```
pub fn read_rule_file(text: &str) -> Result<RuleBook, RuleFileError> {
    let document = Document::read(text).map_err(|problem| RuleFileError { problems: vec![problem] })?;
    read::read(&document).map_err(|problems| RuleFileError { problems })
}

/// The text of a file with other rules. What people wrote around the rules is kept, and the text of rules that did not change.
pub fn edit_rule_file(text: &str, book: &RuleBook) -> String {
    edit::edit(text, book)
}

/// The text of a new file with these rules.
pub fn write_rule_file(book: &RuleBook) -> String {
    write::write(book)
}
