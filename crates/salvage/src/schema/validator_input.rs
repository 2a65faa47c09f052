//! [`Value`] as the input of the validator, without copies and with all digits of numbers.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;

use jsonschema::JsonType;
use jsonschema::json::{self, Json, JsonNumber, NodeIdentity};
use reknit_protocol::{Number, Object, Value, ValueKind};

/// Up to this many items are compared in pairs, more with a set.
const FEW_ITEMS: usize = 8;

/// How many bytes of a string are copied into an error.
const MAX_COPIED_BYTES: usize = 200;

/// Which values are copied for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copies {
    Scalars,
    /// Also the value that is validated, because the validator looks into it for the text of a match that takes too long.
    Whole,
}

thread_local! {
    /// The address of the value that is copied for errors.
    static COPIED: Cell<Option<usize>> = const { Cell::new(None) };
}

impl Copies {
    pub(crate) fn while_validating<T>(self, value: &Value, validate: impl FnOnce() -> T) -> T {
        COPIED.set((self == Self::Whole).then(|| std::ptr::from_ref(value).addr()));
        let result = validate();
        COPIED.set(None);
        result
    }
}

/// JSON represented by [`Value`].
#[derive(Debug)]
pub(crate) struct ValueInput;

impl Json for ValueInput {
    type Node<'a> = &'a Value;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, read: impl FnOnce(&Value) -> T) -> T {
        *buffer = string.into();
        read(buffer)
    }
}

impl<'a> json::Node<'a, ValueInput> for &'a Value {
    type Object = &'a Object;
    type Array = &'a [Value];
    type Number = NumberInput<'a>;

    fn as_object(&self) -> Option<&'a Object> {
        Value::as_object(self)
    }

    fn as_array(&self) -> Option<&'a [Value]> {
        Value::as_array(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        Value::as_str(self).map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<NumberInput<'a>> {
        Value::as_number(self).map(NumberInput)
    }

    fn as_boolean(&self) -> Option<bool> {
        Value::as_bool(self)
    }

    fn is_null(&self) -> bool {
        Value::is_null(self)
    }

    fn json_type(&self) -> JsonType {
        match self.kind() {
            ValueKind::Null => JsonType::Null,
            ValueKind::Boolean => JsonType::Boolean,
            ValueKind::Number => JsonType::Number,
            ValueKind::String => JsonType::String,
            ValueKind::Array => JsonType::Array,
            ValueKind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &serde_json::Value) -> bool {
        equal(self, expected)
    }

    /// The value for an error. Messages quote from the original value by its path, so large values need not be copied for
    /// each error. Short strings are copied, because a property name has no path.
    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        if COPIED.get() == Some(std::ptr::from_ref::<Value>(self).addr()) {
            return Cow::Owned(self.to_serde());
        }
        let text = Value::as_str(self).filter(|text| text.len() <= MAX_COPIED_BYTES);
        Cow::Owned(text.map_or(serde_json::Value::Null, Into::into))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref::<Value>(self).addr()))
    }
}

impl<'a> json::Object<'a, ValueInput> for &'a Object {
    type Node = &'a Value;
    type MemberName = &'a str;
    type MembersIter = <&'a Object as IntoIterator>::IntoIter;

    fn len(&self) -> usize {
        Object::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Value> {
        Object::get(self, key)
    }

    fn members(&self) -> Self::MembersIter {
        Object::iter(self)
    }
}

impl<'a> json::Array<'a, ValueInput> for &'a [Value] {
    type Node = &'a Value;
    type ElementsIter = std::slice::Iter<'a, Value>;

    fn len(&self) -> usize {
        <[Value]>::len(self)
    }

    fn elements(&self) -> Self::ElementsIter {
        <[Value]>::iter(self)
    }

    fn is_unique(&self) -> bool {
        if <[Value]>::len(self) > FEW_ITEMS {
            let mut seen = HashSet::with_capacity(<[Value]>::len(self));
            return <[Value]>::iter(self).all(|item| seen.insert(item));
        }
        let mut rest = *self;
        while let [first, others @ ..] = rest {
            if others.contains(first) {
                return false;
            }
            rest = others;
        }
        true
    }
}

#[derive(Debug)]
pub(crate) struct NumberInput<'a>(&'a Number);

impl JsonNumber for NumberInput<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    /// `None` beyond the range of floats. The validator treats it as an infinity with the same sign.
    fn as_f64(&self) -> Option<f64> {
        Some(self.0.to_f64()).filter(|float| float.is_finite())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(self.0.to_string())
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(match Value::Number(self.0.clone()).to_serde() {
            serde_json::Value::Number(number) => number,
            _ => 0.into(),
        })
    }

    fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    /// Overrides the provided method, which is wrong here because `as_u64` converts `5.0`.
    fn is_written_as_integer(&self) -> bool {
        !self.0.to_string().contains(['.', 'e', 'E'])
    }
}

/// Whether a value equals a constant of the schema.
///
/// The validator keeps constants as `serde_json` values, which round numbers beyond 64-bit integers to floats. Such a
/// constant is compared as a float, because an exact comparison would reject the very number in the schema.
pub(crate) fn equal(value: &Value, expected: &serde_json::Value) -> bool {
    match (value, expected) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(left), serde_json::Value::Bool(right)) => left == right,
        (Value::Number(left), serde_json::Value::Number(right)) => equal_numbers(left, right),
        (Value::String(left), serde_json::Value::String(right)) => left == right,
        (Value::Array(left), serde_json::Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), serde_json::Value::Object(right)) => {
            let same = |(key, value)| right.get(key).is_some_and(|expected| equal(value, expected));
            left.len() == right.len() && left.iter().all(same)
        }
        _ => false,
    }
}

fn equal_numbers(value: &Number, expected: &serde_json::Number) -> bool {
    match (expected.as_i64(), expected.as_u64(), expected.as_f64()) {
        (Some(expected), _, _) => value.as_i64() == Some(expected),
        (_, Some(expected), _) => value.as_u64() == Some(expected),
        #[expect(clippy::float_cmp, reason = "both are the nearest float of a written number")]
        (_, _, Some(expected)) => value.to_f64() == expected,
        _ => false,
    }
}
