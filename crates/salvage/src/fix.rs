//! What a repair is: where, what kind, from what, to what, at which price.

use std::borrow::Cow;

use reknit_protocol::{Path, Segment};

/// How much of the text or value a [`Fix`] quotes before it is cut with `…`.
const QUOTE_LIMIT: usize = 200;

/// One recorded repair.
///
/// Every difference between what a model wrote and what is returned is one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// Where in the result the repair was made.
    pub path: Path,
    /// What kind of defect was repaired.
    pub kind: FixKind,
    /// What stood there, cut after 200 characters.
    pub before: String,
    /// What stands there now, cut after 200 characters.
    pub after: String,
    /// What this repair costs; the cheapest reading wins.
    pub penalty: u32,
    /// How many repairs this entry stands for: 1, or more in an entry that counts what was not listed one by one
    /// after the first ten thousand.
    pub times: u32,
}

/// The kinds of repair, in the order of the way of the data: finding, reading, fitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FixKind {
    // Finding the JSON in the text.
    /// A byte order mark was dropped.
    ByteOrderMark,
    /// The JSON was taken from a fenced block.
    Fence,
    /// Text around the JSON was left out.
    SurroundingText,
    /// The JSON stands in the middle of a sentence that does not lead up to it.
    Mention,
    /// The JSON was taken from inside a reasoning block.
    Reasoning,
    /// Several values, one per line or divided by commas, became one array.
    Sequence,
    /// A call around the value was dropped: `callback({...})`, `ObjectId("...")`.
    Call,

    // Reading.
    /// A comment was dropped.
    Comment,
    /// White space that JSON does not know was read as a space.
    WhiteSpace,
    /// A comma too many was dropped.
    ExtraComma,
    /// A semicolon behind the value was dropped.
    Semicolon,
    /// A missing comma was put in.
    MissingComma,
    /// A missing colon was put in.
    MissingColon,
    /// A key without a value was dropped.
    MissingValue,
    /// Single, smart or back quotes were read as double quotes.
    Quotes,
    /// A missing quote was put in.
    MissingQuote,
    /// A quote inside a string was escaped.
    InnerQuote,
    /// An escape that JSON does not know was read as what it must mean.
    Escape,
    /// A raw line break, tab or the like inside a string was escaped.
    RawControl,
    /// Half of a surrogate pair became U+FFFD.
    LoneSurrogate,
    /// An unquoted key was quoted.
    BareKey,
    /// Unquoted text was read as a string.
    BareText,
    /// A literal of Python, JavaScript or another spelling: `True`, `None`, `undefined`.
    Literal,
    /// A yes-or-no word that was the whole text became a boolean.
    BooleanWord,
    /// A literal that was cut short was completed: `tru`, `nul`.
    CutLiteral,
    /// A number in a spelling that JSON does not know: `.5`, `2.`.
    NumberSpelling,
    /// `NaN` or an infinity became null.
    NotANumber,
    /// Strings joined with `+` became one.
    Concatenation,
    /// A regular expression literal became a string.
    RegularExpression,
    /// A tuple became an array.
    Tuple,
    /// The value was escaped as if it stood inside a string.
    EscapedText,
    /// Emphasis marks (`**x**`) outside strings were dropped.
    Emphasis,
    /// A closing bracket of the wrong kind was read as the right one.
    WrongBracket,
    /// A missing closing bracket was put in.
    MissingBracket,
    /// A bracket too many was dropped.
    ExtraBracket,
    /// `...` in place of items was dropped.
    Elision,
    /// The text ended early and was closed.
    CutTail,
    /// A key stood twice; the last value was kept.
    DuplicateKey,
    /// Arithmetic outside strings became an expression.
    Arithmetic,

    // Fitting.
    /// A misspelt key got the spelling of the schema.
    KeySpelling,
    /// A number in a string became a number.
    NumberInString,
    /// A word or 0 or 1 became a boolean.
    BooleanFromWord,
    /// Text that holds an array or an object became that array or object.
    DoubleEncoding,
    /// A single value became an array of one.
    ScalarForArray,
    /// An enum value got the spelling of the schema.
    EnumSpelling,
    /// A null for an optional property was dropped.
    NullForOptional,
    /// A number became a string.
    NumberToString,
}

impl FixKind {
    /// The kind as people and programs read it: `missing_comma`.
    pub fn name(self) -> &'static str {
        self.describe().0
    }

    /// What was done, in words: "put in a missing comma".
    pub fn words(self) -> &'static str {
        self.describe().1
    }

    /// What one such repair costs: 0 for what carries no doubt, up to 40 for what carries much.
    pub fn penalty(self) -> u32 {
        self.describe().2
    }

    fn describe(self) -> (&'static str, &'static str, u32) {
        match self {
            Self::ByteOrderMark => ("byte_order_mark", "dropped a byte order mark", 0),
            Self::Fence => ("fence", "took the JSON from a fenced block", 5),
            Self::SurroundingText => ("surrounding_text", "left out the text around the JSON", 10),
            Self::Mention => ("mention", "took JSON that is mentioned in a sentence", 4),
            Self::Reasoning => ("reasoning", "took the JSON from a reasoning block", 40),
            Self::Sequence => ("sequence", "read several values as one array", 4),
            Self::Call => ("call", "dropped a call around the value", 3),
            Self::Comment => ("comment", "dropped a comment", 1),
            Self::WhiteSpace => ("white_space", "read unusual white space as a space", 0),
            Self::ExtraComma => ("extra_comma", "dropped an extra comma", 1),
            Self::Semicolon => ("semicolon", "dropped a semicolon", 1),
            Self::MissingComma => ("missing_comma", "put in a missing comma", 2),
            Self::MissingColon => ("missing_colon", "put in a missing colon", 3),
            Self::MissingValue => ("missing_value", "dropped a key that has no value", 6),
            Self::Quotes => ("quotes", "read other quotes as double quotes", 1),
            Self::MissingQuote => ("missing_quote", "put in a missing quote", 6),
            Self::InnerQuote => ("inner_quote", "escaped a quote inside a string", 3),
            Self::Escape => ("escape", "read an unknown escape", 2),
            Self::RawControl => ("raw_control", "escaped a raw line break or tab in a string", 1),
            Self::LoneSurrogate => ("lone_surrogate", "replaced half a surrogate pair", 4),
            Self::BareKey => ("bare_key", "quoted a key", 1),
            Self::BareText => ("bare_text", "quoted a text", 5),
            Self::Literal => ("literal", "read a literal of another language", 1),
            Self::BooleanWord => ("boolean_word", "read a yes-or-no word as a boolean", 3),
            Self::CutLiteral => ("cut_literal", "completed a literal that was cut short", 4),
            Self::NumberSpelling => ("number_spelling", "spelt a number the JSON way", 1),
            Self::NotANumber => ("not_a_number", "read NaN or an infinity as null", 8),
            Self::Concatenation => ("concatenation", "joined strings", 2),
            Self::RegularExpression => ("regular_expression", "quoted a regular expression", 3),
            Self::Tuple => ("tuple", "read a tuple as an array", 1),
            Self::EscapedText => ("escaped_text", "dropped one layer of escapes", 3),
            Self::Emphasis => ("emphasis", "dropped emphasis marks", 2),
            Self::WrongBracket => ("wrong_bracket", "read a wrong bracket as the right one", 6),
            Self::MissingBracket => ("missing_bracket", "put in a missing bracket", 5),
            Self::ExtraBracket => ("extra_bracket", "dropped an extra bracket", 4),
            Self::Elision => ("elision", "dropped `...` that stands for more", 10),
            Self::CutTail => ("cut_tail", "closed a text that ends early", 10),
            Self::DuplicateKey => ("duplicate_key", "kept the last of two equal keys", 8),
            Self::Arithmetic => ("arithmetic", "read arithmetic as an expression", 3),
            Self::KeySpelling => ("key_spelling", "spelt a key as the schema does", 2),
            Self::NumberInString => ("number_in_string", "read a number from a string", 1),
            Self::BooleanFromWord => ("boolean_from_word", "read a word or 0 or 1 as a boolean", 2),
            Self::DoubleEncoding => ("double_encoding", "decoded JSON inside a string", 2),
            Self::ScalarForArray => ("scalar_for_array", "wrapped a single value in an array", 3),
            Self::EnumSpelling => ("enum_spelling", "spelt an allowed value as the schema does", 2),
            Self::NullForOptional => ("null_for_optional", "dropped a null for an optional key", 1),
            Self::NumberToString => ("number_to_string", "wrote a number as a string", 1),
        }
    }
}

/// The list of repairs while it grows: detailed first, then one entry per kind that counts the rest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fixes {
    detailed: Vec<Fix>,
    counted: Vec<Fix>,
    /// Segments in the paths of `detailed`.
    segments: usize,
}

impl Fixes {
    /// How many repairs are listed one by one. A hostile text could otherwise make the list many times larger than
    /// itself.
    pub(crate) const DETAILED: usize = 10_000;

    /// How many path segments the detailed repairs may hold together, against deeply nested texts.
    const SEGMENTS: usize = 200_000;

    /// Whether the next repair is listed one by one, so that its path is asked for.
    pub(crate) fn lists_next(&self) -> bool {
        self.detailed.len() < Self::DETAILED && self.segments < Self::SEGMENTS
    }

    pub(crate) fn push<'t>(
        &mut self,
        path: impl FnOnce() -> Path,
        kind: FixKind,
        before: &str,
        after: impl Into<Cow<'t, str>>,
    ) {
        let penalty = kind.penalty();
        if self.lists_next() {
            let (path, before, after) = (path(), quote(before).into_owned(), quote_all(after.into()));
            self.segments += path.segments().len();
            self.detailed.push(Fix { path, kind, before, after, penalty, times: 1 });
        } else if let Some(summary) = self.counted.iter_mut().find(|fix| fix.kind == kind) {
            summary.times = summary.times.saturating_add(1);
            summary.penalty = summary.penalty.saturating_add(penalty);
        } else {
            let (before, after) = (String::new(), String::new());
            self.counted.push(Fix { path: Path::root(), kind, before, after, penalty, times: 1 });
        }
    }

    /// Takes over the fixes of a later stage.
    pub(crate) fn extend(&mut self, later: Fixes) {
        self.segments += later.segments;
        self.detailed.extend(later.detailed);
        self.counted.extend(later.counted);
    }

    pub(crate) fn has(&self, kind: FixKind) -> bool {
        self.detailed.iter().chain(&self.counted).any(|fix| fix.kind == kind)
    }

    /// The value with these fixes became item `index` of an array.
    pub(crate) fn move_below(&mut self, index: usize) {
        for fix in &mut self.detailed {
            let mut path = Path::root();
            path.push_index(index);
            for segment in fix.path.segments() {
                match segment {
                    Segment::Key(key) => path.push_key(key.as_str()),
                    Segment::Index(index) => path.push_index(*index),
                }
            }
            fix.path = path;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.detailed.len()
    }

    /// Forgets what was recorded after the list had `len` entries, for an attempt that is given up. Repairs that were
    /// only counted stay counted: the count may be too high by that attempt, never too low.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.detailed.truncate(len);
    }

    pub(crate) fn into_list(self) -> Vec<Fix> {
        let mut list = self.detailed;
        list.extend(self.counted);
        list
    }
}

/// As [`quote`], without a copy of a text that is owned and short.
fn quote_all(text: Cow<'_, str>) -> String {
    if text.len() <= QUOTE_LIMIT { text.into_owned() } else { quote(&text).into_owned() }
}

/// A quotation that is cut after [`QUOTE_LIMIT`] characters.
pub(crate) fn quote(text: &str) -> Cow<'_, str> {
    if text.len() <= QUOTE_LIMIT {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(QUOTE_LIMIT) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}
