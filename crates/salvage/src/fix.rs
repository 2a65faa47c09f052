//! Repairs: their kinds, their penalties, and how they are recorded.

use reknit_protocol::{Path, Segment, shorten};

const MAX_QUOTED_CHARS: usize = 200;

/// One recorded repair.
///
/// Every difference between the text of the model and the returned value is recorded as a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// Where in the result the repair was made.
    pub path: Path,
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
    pub(crate) fn new(path: Path, kind: FixKind, before: &str, after: impl AsRef<str>) -> Self {
        let cut = |text: &str| shorten(text, MAX_QUOTED_CHARS).into_owned();
        Self { path, kind, before: cut(before), after: cut(after.as_ref()), penalty: kind.penalty(), times: 1 }
    }
}

/// Defines the kinds of repair: each with its penalty, its stable name and what was done, which is also its documentation.
macro_rules! fix_kinds {
    ($($(#[$example:meta])* $kind:ident($penalty:literal, $name:literal, $description:literal),)*) => {
        /// The kinds of repair, in the order of the stages: finding the JSON, parsing it, fitting it to a schema.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FixKind {
            $(#[doc = concat!("A repair that ", $description, ".")] $(#[$example])* $kind,)*
        }

        impl FixKind {
            /// The stable name, for people and programs: `missing_comma`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// What was done, as a phrase for people: "added a missing comma".
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$kind => $description,)*
                }
            }

            /// The penalty of one such repair: from 0 for a repair that is certainly right to 40 for a doubtful one.
            pub fn penalty(self) -> u32 {
                match self {
                    $(Self::$kind => $penalty,)*
                }
            }
        }
    };
}

fix_kinds! {
    // Finding the JSON in the text.
    ByteOrderMark(0, "byte_order_mark", "dropped a byte order mark"),
    Fence(5, "fence", "took the JSON from a fenced block"),
    SurroundingText(10, "surrounding_text", "dropped the text around the JSON"),
    Mention(4, "mention", "took JSON from the middle of a sentence"),
    Reasoning(40, "reasoning", "took the JSON from a reasoning block"),
    Sequence(4, "sequence", "combined several values into an array"),
    /// For example `callback({...})`, `ObjectId("...")`.
    Call(3, "call", "dropped a function call around the value"),
    /// For example `f(city="Bern")`, `city: Bern` on lines, `city=Bern&days=2`, `<city>Bern</city>`.
    Notation(5, "notation", "read arguments in another notation"),

    // Parsing.
    Comment(1, "comment", "dropped a comment"),
    WhiteSpace(0, "white_space", "replaced unusual white space with a space"),
    ExtraComma(1, "extra_comma", "dropped an extra comma"),
    Semicolon(1, "semicolon", "dropped or replaced a semicolon"),
    MissingComma(2, "missing_comma", "added a missing comma"),
    MissingColon(3, "missing_colon", "added a missing colon"),
    MissingValue(6, "missing_value", "dropped a key that has no value"),
    Quotes(1, "quotes", "replaced other quotes with double quotes"),
    MissingQuote(6, "missing_quote", "added a missing quote"),
    InnerQuote(3, "inner_quote", "escaped a quote inside a string"),
    Escape(2, "escape", "repaired an invalid escape"),
    RawControl(1, "raw_control", "escaped a raw line break or tab in a string"),
    LoneSurrogate(4, "lone_surrogate", "replaced half a surrogate pair"),
    BareKey(1, "bare_key", "added quotes around a key"),
    BareText(5, "bare_text", "added quotes around text"),
    /// For example `True`, `None`, `undefined`.
    Literal(1, "literal", "converted a literal of another language"),
    BooleanWord(3, "boolean_word", "converted a yes-or-no word to a boolean"),
    /// For example `tru`, `nul`.
    CutLiteral(4, "cut_literal", "completed a truncated literal"),
    /// For example `.5`, `2.`.
    NumberSpelling(1, "number_spelling", "rewrote a number in JSON syntax"),
    NotANumber(8, "not_a_number", "replaced NaN or an infinity with null"),
    /// For example `"a" + "b"`.
    Concatenation(2, "concatenation", "joined concatenated strings"),
    RegularExpression(3, "regular_expression", "converted a regular expression to a string"),
    Tuple(1, "tuple", "converted a tuple or set to an array"),
    Parentheses(1, "parentheses", "dropped parentheses around a value"),
    EscapedText(3, "escaped_text", "removed one layer of escapes"),
    WidePunctuation(2, "wide_punctuation", "replaced wide colons and commas"),
    /// For example `**x**`.
    Emphasis(2, "emphasis", "dropped emphasis marks"),
    WrongBracket(6, "wrong_bracket", "replaced a wrong closing bracket"),
    MissingBracket(5, "missing_bracket", "added a missing bracket"),
    ExtraBracket(4, "extra_bracket", "dropped an extra bracket"),
    StrayText(8, "stray_text", "dropped words outside of strings"),
    Elision(10, "elision", "dropped `...` in place of omitted items"),
    CutTail(10, "cut_tail", "closed a text that was cut off"),
    DuplicateKey(8, "duplicate_key", "kept the last value of a duplicate key"),
    Arithmetic(3, "arithmetic", "converted arithmetic to an expression"),

    // Fitting to a schema.
    /// For example `{"arguments": {...}}`.
    Envelope(3, "envelope", "removed a layer around the arguments"),
    KeySpelling(2, "key_spelling", "renamed a key as the schema spells it"),
    /// For example `qurey` for `query`, where no other property is as near.
    KeyTypo(6, "key_typo", "corrected a typo in a key"),
    NumberInString(1, "number_in_string", "converted a string to a number"),
    /// For example `1.234,56`, `1'234`, `twenty-one`, `5n`.
    NumberNotation(2, "number_notation", "read a number in another notation"),
    /// For example `high<|im_end|>`, `[5]`, `days: 3` for `days`.
    Decoration(3, "decoration", "dropped marks, tokens or its own name around a value"),
    BooleanFromWord(2, "boolean_from_word", "converted a word, 0 or 1 to a boolean"),
    DoubleEncoding(2, "double_encoding", "decoded JSON inside a string"),
    ScalarForArray(3, "scalar_for_array", "wrapped a single value in an array"),
    /// For example `"1, 2, 3"` where the items are integers, and `"- red\n- blue"`.
    SplitList(3, "split_list", "split a text into the items of a list"),
    ListOfOne(3, "list_of_one", "took the only item of a list"),
    /// For example `{"value": 5}` and `{"type": "integer", "value": 5}` in place of `5`.
    ValueLayer(3, "value_layer", "took the value out of a layer around it"),
    /// For example `[{"name": "city", "value": "Bern"}]`.
    NamedValues(3, "named_values", "converted a list of names and values to an object"),
    /// For example `{"address.city": "Bern"}` for `{"address": {"city": "Bern"}}`.
    NestedKeys(4, "nested_keys", "put entries into the object to which they belong"),
    NumberedKeys(3, "numbered_keys", "converted an object with numbered keys to an array"),
    /// Changed an `enum` or `const` value to the spelling of the schema.
    EnumSpelling(2, "enum_spelling", "changed a value to an allowed spelling"),
    /// For example `deliverd` for `delivered`, where no other allowed value is as near.
    EnumTypo(6, "enum_typo", "corrected a typo in an allowed value"),
    /// The schema states the label as a `title` or in `enumNames`.
    EnumLabel(3, "enum_label", "replaced a label with its value"),
    /// Wrote an unambiguous date as `date` or `date-time` asks for.
    DateSpelling(1, "date_spelling", "wrote a date as the schema asks for"),
    /// Dropped a null, or a text such as `"N/A"` that stands for one, for an optional property.
    NullForOptional(1, "null_for_optional", "dropped a null for an optional property"),
    NumberToString(1, "number_to_string", "converted a number to a string"),
}

/// A growing list of repairs: the first ones in detail, then one summary per kind that counts the rest.
#[derive(Debug, Clone, Default)]
pub(crate) struct FixList {
    detailed: Vec<Fix>,
    summaries: Vec<Fix>,
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

    pub(crate) fn push(&mut self, path: impl FnOnce() -> Path, kind: FixKind, before: &str, after: impl AsRef<str>) {
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

    pub(crate) fn extend(&mut self, later: FixList) {
        self.segments += later.segments;
        self.detailed.extend(later.detailed);
        self.summaries.extend(later.summaries);
    }

    pub(crate) fn contains(&self, kind: FixKind) -> bool {
        self.detailed.iter().chain(&self.summaries).any(|fix| fix.kind == kind)
    }

    /// The first key that the text has several times with different values.
    pub(crate) fn first_conflict(&self) -> Option<&Fix> {
        self.detailed.iter().chain(&self.summaries).find(|fix| is_conflict(fix))
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

/// The keys that a text has several times with different values: which of them is meant is not known.
pub fn conflicting_keys(fixes: &[Fix]) -> impl Iterator<Item = &Path> {
    fixes.iter().filter(|fix| is_conflict(fix)).map(|fix| &fix.path)
}

fn is_conflict(fix: &Fix) -> bool {
    // Values that were cut may differ behind the cut.
    let is_same = fix.before == fix.after && !fix.before.is_empty() && !fix.before.ends_with('…');
    fix.kind == FixKind::DuplicateKey && !is_same
}
