//! The functions of the expression language.

use std::fmt;
use std::ops::RangeInclusive;

/// A function of the expression language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `if(condition, then, otherwise)`: only the selected branch is evaluated.
    If,
    /// `sum(array)` or `sum(a, b, ...)`.
    Sum,
    /// `len(array)`, `len(string)` in characters, or `len(object)` in keys.
    Len,
    /// `min(array)` or `min(a, b, ...)`, of numbers or of strings.
    Min,
    /// `max(array)` or `max(a, b, ...)`, of numbers or of strings.
    Max,
    /// `avg(array)` or `avg(a, b, ...)`.
    Avg,
    /// `round(number)` or `round(number, places)`, half to even.
    Round,
    /// `abs(number)`.
    Abs,
    /// `join(array, separator)`.
    Join,
    /// `first(array)`.
    First,
    /// `last(array)`.
    Last,
    /// `unique(array)`: keeps the first of equal items.
    Unique,
    /// `sort_by(array)`, `sort_by(array, key)` or `sort_by(array, key, "desc")`.
    SortBy,
    /// `pluck(array, key)`: the field of each item.
    Pluck,
    /// `filter(array, condition)`: the items for which the condition holds. The condition refers to the item as `item`, or by
    /// a name of its own: `filter(orders, order => order.total > 5)`.
    Filter,
    /// `map(array, value)` or `map(array, "field")`: the value for each item.
    Map,
    /// `any(array, condition)`, or `any(array)` of booleans.
    Any,
    /// `all(array, condition)`, or `all(array)` of booleans.
    All,
    /// `group_by(array, key)` or `group_by(array, "field")`: an array of `{"key", "items"}`, in the order of the first items.
    GroupBy,
    /// `sum_by(array, number)` or `sum_by(array, "field")`: the sum of a number for each item.
    SumBy,
    /// `contains(string, part)`, or as `in`: `contains(array, item)`, `contains(object, key)`.
    Contains,
    /// `starts_with(string, part)`.
    StartsWith,
    /// `ends_with(string, part)`.
    EndsWith,
    /// `lower(string)`.
    Lower,
    /// `upper(string)`.
    Upper,
    /// `trim(string)`.
    Trim,
    /// `split(string, separator)`.
    Split,
    /// `replace(string, pattern, replacement)`.
    Replace,
    /// `date_add(date, amount, unit)`.
    DateAdd,
    /// `date_diff(from, to, unit)`.
    DateDiff,
    /// `to_number(string)`.
    ToNumber,
    /// `to_string(value)`.
    ToString,
}

/// One or more arguments.
const AT_LEAST_ONE: RangeInclusive<usize> = 1..=usize::MAX;

impl Function {
    /// Every function.
    pub const ALL: [Self; 32] = [
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
        Self::Filter,
        Self::Map,
        Self::Any,
        Self::All,
        Self::GroupBy,
        Self::SumBy,
        Self::Contains,
        Self::StartsWith,
        Self::EndsWith,
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

    /// The name in expressions.
    pub fn name(self) -> &'static str {
        self.describe().0
    }

    /// The number of arguments it takes, in words and as a range.
    pub(super) fn arity(self) -> (&'static str, RangeInclusive<usize>) {
        let (_, words, range) = self.describe();
        (words, range)
    }

    fn describe(self) -> (&'static str, &'static str, RangeInclusive<usize>) {
        const ONE: &str = "one argument";
        const TWO: &str = "two arguments";
        const THREE: &str = "three arguments";
        const ARRAY_OR_VALUES: &str = "an array or at least one value";
        match self {
            Self::If => ("if", THREE, 3..=3),
            Self::Sum => ("sum", ARRAY_OR_VALUES, AT_LEAST_ONE),
            Self::Len => ("len", ONE, 1..=1),
            Self::Min => ("min", ARRAY_OR_VALUES, AT_LEAST_ONE),
            Self::Max => ("max", ARRAY_OR_VALUES, AT_LEAST_ONE),
            Self::Avg => ("avg", ARRAY_OR_VALUES, AT_LEAST_ONE),
            Self::Round => ("round", "one or two arguments", 1..=2),
            Self::Abs => ("abs", ONE, 1..=1),
            Self::Join => ("join", TWO, 2..=2),
            Self::First => ("first", ONE, 1..=1),
            Self::Last => ("last", ONE, 1..=1),
            Self::Unique => ("unique", ONE, 1..=1),
            Self::SortBy => ("sort_by", "one to three arguments", 1..=3),
            Self::Pluck => ("pluck", TWO, 2..=2),
            Self::Filter => ("filter", TWO, 2..=2),
            Self::Map => ("map", TWO, 2..=2),
            Self::Any => ("any", "one or two arguments", 1..=2),
            Self::All => ("all", "one or two arguments", 1..=2),
            Self::GroupBy => ("group_by", TWO, 2..=2),
            Self::SumBy => ("sum_by", TWO, 2..=2),
            Self::Contains => ("contains", TWO, 2..=2),
            Self::StartsWith => ("starts_with", TWO, 2..=2),
            Self::EndsWith => ("ends_with", TWO, 2..=2),
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

    /// Whether the second argument is evaluated for each item of the first.
    pub(super) fn takes_item_expression(self) -> bool {
        matches!(self, Self::Filter | Self::Map | Self::Any | Self::All) || self.takes_field_name()
    }

    /// Whether the second argument may also be the name of a field in quotes.
    pub(super) fn takes_field_name(self) -> bool {
        matches!(self, Self::Map | Self::GroupBy | Self::SumBy)
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
