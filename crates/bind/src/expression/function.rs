//! The functions there are: their names and how many arguments they take.

use std::fmt;
use std::ops::RangeInclusive;

/// A function of the expression language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `if(condition, then, otherwise)`: only the chosen one is evaluated.
    If,
    /// `sum(list)` or `sum(a, b, ...)`.
    Sum,
    /// `len(list)`, also of a text (characters) or an object (keys).
    Len,
    /// `min(list)` or `min(a, b, ...)`, of numbers or of texts.
    Min,
    /// `max(list)` or `max(a, b, ...)`, of numbers or of texts.
    Max,
    /// `avg(list)` or `avg(a, b, ...)`.
    Avg,
    /// `round(number)` or `round(number, places)`, half to even.
    Round,
    /// `abs(number)`.
    Abs,
    /// `join(list, separator)`.
    Join,
    /// `first(list)`.
    First,
    /// `last(list)`.
    Last,
    /// `unique(list)`: the first of equal items stays.
    Unique,
    /// `sort_by(list)`, `sort_by(list, key)` or `sort_by(list, key, "desc")`.
    SortBy,
    /// `pluck(list, key)`: that field of each item.
    Pluck,
    /// `lower(text)`.
    Lower,
    /// `upper(text)`.
    Upper,
    /// `trim(text)`.
    Trim,
    /// `split(text, separator)`.
    Split,
    /// `replace(text, what, with)`.
    Replace,
    /// `date_add(date, amount, unit)`.
    DateAdd,
    /// `date_diff(from, to, unit)`.
    DateDiff,
    /// `to_number(text)`.
    ToNumber,
    /// `to_string(value)`.
    ToString,
}

/// As many arguments as one likes, but one.
const SOME: RangeInclusive<usize> = 1..=usize::MAX;

impl Function {
    /// Every function.
    pub const ALL: [Self; 23] = [
        Self::If,
        Self::Sum,
        Self::Len,
        Self::Min,
        Self::Max,
        Self::Avg,
        Self::Round,
        Self::Abs,
        Self::Join,
        Self::First,
        Self::Last,
        Self::Unique,
        Self::SortBy,
        Self::Pluck,
        Self::Lower,
        Self::Upper,
        Self::Trim,
        Self::Split,
        Self::Replace,
        Self::DateAdd,
        Self::DateDiff,
        Self::ToNumber,
        Self::ToString,
    ];

    /// The name as it is written.
    pub fn name(self) -> &'static str {
        self.describe().0
    }

    /// How many arguments it takes, in words and in numbers.
    pub(super) fn arguments(self) -> (&'static str, RangeInclusive<usize>) {
        let (_, words, range) = self.describe();
        (words, range)
    }

    fn describe(self) -> (&'static str, &'static str, RangeInclusive<usize>) {
        const ONE: &str = "one argument";
        const TWO: &str = "two arguments";
        const THREE: &str = "three arguments";
        const LIST: &str = "a list, or values one by one";
        match self {
            Self::If => ("if", THREE, 3..=3),
            Self::Sum => ("sum", LIST, SOME),
            Self::Len => ("len", ONE, 1..=1),
            Self::Min => ("min", LIST, SOME),
            Self::Max => ("max", LIST, SOME),
            Self::Avg => ("avg", LIST, SOME),
            Self::Round => ("round", "one or two arguments", 1..=2),
            Self::Abs => ("abs", ONE, 1..=1),
            Self::Join => ("join", TWO, 2..=2),
            Self::First => ("first", ONE, 1..=1),
            Self::Last => ("last", ONE, 1..=1),
            Self::Unique => ("unique", ONE, 1..=1),
            Self::SortBy => ("sort_by", "one to three arguments", 1..=3),
            Self::Pluck => ("pluck", TWO, 2..=2),
            Self::Lower => ("lower", ONE, 1..=1),
            Self::Upper => ("upper", ONE, 1..=1),
            Self::Trim => ("trim", ONE, 1..=1),
            Self::Split => ("split", TWO, 2..=2),
            Self::Replace => ("replace", THREE, 3..=3),
            Self::DateAdd => ("date_add", THREE, 3..=3),
            Self::DateDiff => ("date_diff", THREE, 3..=3),
            Self::ToNumber => ("to_number", ONE, 1..=1),
            Self::ToString => ("to_string", ONE, 1..=1),
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }
}

impl AsRef<str> for Function {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

impl fmt::Display for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}
