//! Repairs: their kinds, their penalties, and how they are recorded.

use std::borrow::Cow;

use reknit_protocol::{Path, Segment};

use crate::shorten::shorten;

/// How many characters of a text or value a [`Fix`] quotes.
const MAX_QUOTED_CHARS: usize = 200;

/// One recorded repair.
///
/// Every difference between the text of the model and the returned value is recorded as a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// Where in the result the repair was made.
    pub path: Path,
    /// Which defect was repaired.
    pub kind: FixKind,
    /// The text or value before the repair, cut after 200 characters.
    pub before: String,
    /// The text or value after the repair, cut after 200 characters.
    pub after: String,
    /// The penalty of this repair. The reading with the lowest total penalty wins.
    pub penalty: u32,
    /// How many repairs this entry stands for: 1, or more in a summary. After the first ten thousand repairs, one
    /// summary per kind counts the rest.
    pub times: u32,
}

impl Fix {
    pub(crate) fn new<'t>(path: Path, kind: FixKind, before: &str, after: impl Into<Cow<'t, str>>) -> Self {
        let after = after.into();
        let after =
            if after.len() <= MAX_QUOTED_CHARS { after } else { shorten(&after, MAX_QUOTED_CHARS).into_owned().into() };
        let before = shorten(before, MAX_QUOTED_CHARS).into_owned();
        Self { path, kind, before, after: after.into_owned(), penalty: kind.penalty(), times: 1 }
    }
}

/// The kinds of repair, in the order of the stages: finding the JSON, parsing it, fitting it to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FixKind {
    // Finding the JSON in the text.
    /// Dropped a byte order mark.
    ByteOrderMark,
    /// Took the JSON from a fenced code block.
    Fence,
    /// Dropped the text around the JSON.
    SurroundingText,
    /// Took JSON from the middle of a sentence that does not introduce it.
    Mention,
    /// Took the JSON from a reasoning block, such as `<think>`.
    Reasoning,
    /// Combined several values, one per line or separated by commas, into an array.
    Sequence,
    /// Dropped a function call around the value: `callback({...})`, `ObjectId("...")`.
    Call,

    // Parsing.
    /// Dropped a comment.
    Comment,
    /// Replaced white space that JSON does not allow.
    WhiteSpace,
    /// Dropped a superfluous comma.
    ExtraComma,
    /// Dropped a semicolon after the value, or replaced one with a comma.
    Semicolon,
    /// Added a missing comma.
    MissingComma,
    /// Added a missing colon.
    MissingColon,
    /// Dropped a key that has no value.
    MissingValue,
    /// Replaced single, smart or back quotes with double quotes.
    Quotes,
    /// Added a missing quote.
    MissingQuote,
    /// Escaped a quote inside a string.
    InnerQuote,
    /// Repaired an escape that JSON does not allow.
    Escape,
    /// Escaped a raw control character, such as a line break, in a string.
    RawControl,
    /// Replaced half of a surrogate pair with U+FFFD.
    LoneSurrogate,
    /// Added quotes around a key.
    BareKey,
    /// Added quotes around text.
    BareText,
    /// Converted a literal of another language: `True`, `None`, `undefined`.
    Literal,
    /// Converted a yes-or-no word that was the whole text to a boolean.
    BooleanWord,
    /// Completed a truncated literal: `tru`, `nul`.
    CutLiteral,
    /// Rewrote a number that is not in JSON syntax: `.5`, `2.`.
    NumberSpelling,
    /// Replaced `NaN` or an infinity with null.
    NotANumber,
    /// Joined strings that were concatenated with `+`.
    Concatenation,
    /// Converted a regular expression literal to a string.
    RegularExpression,
    /// Converted a tuple or a set to an array.
    Tuple,
    /// Dropped parentheses around a single value.
    Parentheses,
    /// Removed one layer of escapes from a text that was escaped like the inside of a string.
    EscapedText,
    /// Replaced wide colons and commas, as East Asian scripts have them, with those of JSON.
    WidePunctuation,
    /// Dropped Markdown emphasis (`**x**`) around a value.
    Emphasis,
    /// Replaced a closing bracket of the wrong kind.
    WrongBracket,
    /// Added a missing bracket.
    MissingBracket,
    /// Dropped a superfluous bracket.
    ExtraBracket,
    /// Dropped words that are neither a key nor a value.
    StrayText,
    /// Dropped `...` in place of omitted items.
    Elision,
    /// Closed a text that was cut off.
    CutTail,
    /// Kept the last value of a key that occurs twice in one object.
    DuplicateKey,
    /// Converted unquoted arithmetic to an expression.
    Arithmetic,

    // Fitting to a schema.
    /// Removed a layer around the arguments of a call: `{"arguments": {...}}`.
    Envelope,
    /// Renamed a key to the spelling of the schema.
    KeySpelling,
    /// Converted a string to the number it contains.
    NumberInString,
    /// Converted a word, 0 or 1 to a boolean.
    BooleanFromWord,
    /// Decoded a string that contains an array or an object.
    DoubleEncoding,
    /// Wrapped a single value in an array.
    ScalarForArray,
    /// Converted an object with the keys `"0"`, `"1"` and so on to an array.
    NumberedKeys,
    /// Changed an `enum` or `const` value to the spelling of the schema.
    EnumSpelling,
    /// Wrote an unambiguous date as `date` or `date-time` asks for.
    DateSpelling,
    /// Dropped a null, or a text such as `"N/A"` that stands for one, for an optional property.
    NullForOptional,
    /// Converted a number to a string.
    NumberToString,
}

impl FixKind {
    /// The stable name, for people and programs: `missing_comma`.
    pub fn name(self) -> &'static str {
        self.properties().0
    }

    /// What was done, as a phrase for people: "added a missing comma".
    pub fn description(self) -> &'static str {
        self.properties().1
    }

    /// The penalty of one such repair: from 0 for a repair that is certainly right to 40 for a doubtful one.
    pub fn penalty(self) -> u32 {
        self.properties().2
    }

    fn properties(self) -> (&'static str, &'static str, u32) {
        match self {
            Self::ByteOrderMark => ("byte_order_mark", "dropped a byte order mark", 0),
            Self::Fence => ("fence", "took the JSON from a fenced block", 5),
            Self::SurroundingText => ("surrounding_text", "dropped the text around the JSON", 10),
            Self::Mention => ("mention", "took JSON from the middle of a sentence", 4),
            Self::Reasoning => ("reasoning", "took the JSON from a reasoning block", 40),
            Self::Sequence => ("sequence", "combined several values into an array", 4),
            Self::Call => ("call", "dropped a function call around the value", 3),
            Self::Comment => ("comment", "dropped a comment", 1),
            Self::WhiteSpace => ("white_space", "replaced unusual white space with a space", 0),
            Self::ExtraComma => ("extra_comma", "dropped an extra comma", 1),
            Self::Semicolon => ("semicolon", "dropped or replaced a semicolon", 1),
            Self::MissingComma => ("missing_comma", "added a missing comma", 2),
            Self::MissingColon => ("missing_colon", "added a missing colon", 3),
            Self::MissingValue => ("missing_value", "dropped a key that has no value", 6),
            Self::Quotes => ("quotes", "replaced other quotes with double quotes", 1),
            Self::MissingQuote => ("missing_quote", "added a missing quote", 6),
            Self::InnerQuote => ("inner_quote", "escaped a quote inside a string", 3),
            Self::Escape => ("escape", "repaired an invalid escape", 2),
            Self::RawControl => ("raw_control", "escaped a raw line break or tab in a string", 1),
            Self::LoneSurrogate => ("lone_surrogate", "replaced half a surrogate pair", 4),
            Self::BareKey => ("bare_key", "added quotes around a key", 1),
            Self::BareText => ("bare_text", "added quotes around text", 5),
            Self::Literal => ("literal", "converted a literal of another language", 1),
            Self::BooleanWord => ("boolean_word", "converted a yes-or-no word to a boolean", 3),
            Self::CutLiteral => ("cut_literal", "completed a truncated literal", 4),
            Self::NumberSpelling => ("number_spelling", "rewrote a number in JSON syntax", 1),
            Self::NotANumber => ("not_a_number", "replaced NaN or an infinity with null", 8),
            Self::Concatenation => ("concatenation", "joined concatenated strings", 2),
            Self::RegularExpression => ("regular_expression", "converted a regular expression to a string", 3),
            Self::Tuple => ("tuple", "converted a tuple or set to an array", 1),
            Self::Parentheses => ("parentheses", "dropped parentheses around a value", 1),
            Self::EscapedText => ("escaped_text", "removed one layer of escapes", 3),
            Self::WidePunctuation => ("wide_punctuation", "replaced wide colons and commas", 2),
            Self::Emphasis => ("emphasis", "dropped emphasis marks", 2),
            Self::WrongBracket => ("wrong_bracket", "replaced a wrong closing bracket", 6),
            Self::MissingBracket => ("missing_bracket", "added a missing bracket", 5),
            Self::ExtraBracket => ("extra_bracket", "dropped an extra bracket", 4),
            Self::StrayText => ("stray_text", "dropped words outside of strings", 8),
            Self::Elision => ("elision", "dropped `...` in place of omitted items", 10),
            Self::CutTail => ("cut_tail", "closed a text that was cut off", 10),
            Self::DuplicateKey => ("duplicate_key", "kept the last value of a duplicate key", 8),
            Self::Arithmetic => ("arithmetic", "converted arithmetic to an expression", 3),
            Self::Envelope => ("envelope", "removed a layer around the arguments", 3),
            Self::KeySpelling => ("key_spelling", "renamed a key as the schema spells it", 2),
            Self::NumberInString => ("number_in_string", "converted a string to a number", 1),
            Self::BooleanFromWord => ("boolean_from_word", "converted a word, 0 or 1 to a boolean", 2),
            Self::DoubleEncoding => ("double_encoding", "decoded JSON inside a string", 2),
            Self::ScalarForArray => ("scalar_for_array", "wrapped a single value in an array", 3),
            Self::NumberedKeys => ("numbered_keys", "converted an object with numbered keys to an array", 3),
            Self::EnumSpelling => ("enum_spelling", "changed a value to an allowed spelling", 2),
            Self::DateSpelling => ("date_spelling", "wrote a date as the schema asks for", 1),
            Self::NullForOptional => ("null_for_optional", "dropped a null for an optional property", 1),
            Self::NumberToString => ("number_to_string", "converted a number to a string", 1),
        }
    }
}

/// A growing list of repairs: the first ones in detail, then one summary per kind that counts the rest.
#[derive(Debug, Clone, Default)]
pub(crate) struct FixList {
    detailed: Vec<Fix>,
    summaries: Vec<Fix>,
    /// The number of path segments in `detailed`.
    segments: usize,
}

impl FixList {
    /// How many repairs are listed in detail. Without a limit, a hostile text could make the list many times larger
    /// than the text.
    const MAX_DETAILED: usize = 10_000;

    /// How many path segments the detailed repairs may have together, against deeply nested texts.
    const MAX_SEGMENTS: usize = 200_000;

    /// Whether the next repair is listed in detail, so that its path is needed.
    pub(crate) fn lists_next_in_detail(&self) -> bool {
        self.detailed.len() < Self::MAX_DETAILED && self.segments < Self::MAX_SEGMENTS
    }

    pub(crate) fn push<'t>(
        &mut self,
        path: impl FnOnce() -> Path,
        kind: FixKind,
        before: &str,
        after: impl Into<Cow<'t, str>>,
    ) {
        if self.lists_next_in_detail() {
            let fix = Fix::new(path(), kind, before, after);
            self.segments += fix.path.segments().len();
            self.detailed.push(fix);
        } else if let Some(summary) = self.summaries.iter_mut().find(|fix| fix.kind == kind) {
            summary.times = summary.times.saturating_add(1);
            summary.penalty = summary.penalty.saturating_add(kind.penalty());
        } else {
            self.summaries.push(Fix::new(Path::root(), kind, "", ""));
        }
    }

    /// Appends the fixes of a later stage.
    pub(crate) fn extend(&mut self, later: FixList) {
        self.segments += later.segments;
        self.detailed.extend(later.detailed);
        self.summaries.extend(later.summaries);
    }

    pub(crate) fn contains(&self, kind: FixKind) -> bool {
        self.detailed.iter().chain(&self.summaries).any(|fix| fix.kind == kind)
    }

    /// Prefixes every path with `index`, because the value became that item of an array.
    pub(crate) fn nest_under_index(&mut self, index: usize) {
        for fix in &mut self.detailed {
            fix.path = std::iter::once(Segment::Index(index)).chain(fix.path.segments().iter().cloned()).collect();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.detailed.len()
    }

    /// Removes the fixes of an abandoned attempt: all after the first `len` detailed ones. Summaries are not reduced:
    /// they may still count fixes of the abandoned attempt, but never miss one.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.detailed.truncate(len);
    }

    pub(crate) fn into_vec(mut self) -> Vec<Fix> {
        self.detailed.extend(self.summaries);
        self.detailed
    }
}
