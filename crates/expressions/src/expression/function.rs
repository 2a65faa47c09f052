//! The functions of the expression language.

use std::ops::RangeInclusive;

use reknit_protocol::word_enum;

word_enum! {
    /// A function of the expression language. Its word is the name in expressions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Function {
        If = "if",
        /// `sum(array)` or `sum(a, b, ...)`.
        Sum = "sum",
        /// `len(array)`, `len(string)` in characters, or `len(object)` in keys.
        Len = "len",
        /// `min(array)` or `min(a, b, ...)`, of numbers or of strings.
        Min = "min",
        /// `max(array)` or `max(a, b, ...)`, of numbers or of strings.
        Max = "max",
        Avg = "avg",
        /// `round(number)` or `round(number, places)`, half to even.
        Round = "round",
        Abs = "abs",
        Join = "join",
        First = "first",
        Last = "last",
        /// `unique(array)`: keeps the first of equal items.
        Unique = "unique",
        /// `sort_by(array)`, `sort_by(array, key)` or `sort_by(array, key, "desc")`.
        SortBy = "sort_by",
        /// `pluck(array, key)`: the field of each item.
        Pluck = "pluck",
        /// `filter(array, condition)`: the items for which the condition holds. The condition refers to the item as `item`, or by
        /// a name of its own: `filter(orders, order => order.total > 5)`.
        Filter = "filter",
        /// `map(array, value)` or `map(array, "field")`: the value for each item.
        Map = "map",
        /// `any(array, condition)`, or `any(array)` of booleans.
        Any = "any",
        /// `all(array, condition)`, or `all(array)` of booleans.
        All = "all",
        /// `group_by(array, key)` or `group_by(array, "field")`: an array of `{"key", "items"}`, in the order of the first items.
        GroupBy = "group_by",
        /// `sum_by(array, number)` or `sum_by(array, "field")`: the sum of a number for each item.
        SumBy = "sum_by",
        /// `contains(string, part)`, or as `in`: `contains(array, item)`, `contains(object, key)`.
        Contains = "contains",
        StartsWith = "starts_with",
        EndsWith = "ends_with",
        Lower = "lower",
        Upper = "upper",
        Trim = "trim",
        Split = "split",
        Replace = "replace",
        DateAdd = "date_add",
        DateDiff = "date_diff",
        ToNumber = "to_number",
        ToString = "to_string",
    }
}

impl Function {
    /// The number of arguments it takes, in words and as a range.
    pub(super) fn arity(self) -> (&'static str, RangeInclusive<usize>) {
        match self {
            Self::Sum | Self::Min | Self::Max | Self::Avg => ("an array or at least one value", 1..=usize::MAX),
            Self::Round | Self::Any | Self::All => ("one or two arguments", 1..=2),
            Self::SortBy => ("one to three arguments", 1..=3),
            Self::Len
            | Self::Abs
            | Self::First
            | Self::Last
            | Self::Unique
            | Self::Lower
            | Self::Upper
            | Self::Trim
            | Self::ToNumber
            | Self::ToString => ("one argument", 1..=1),
            Self::If | Self::Replace | Self::DateAdd | Self::DateDiff => ("three arguments", 3..=3),
            _ => ("two arguments", 2..=2),
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
}

impl AsRef<str> for Function {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}
