//! Generated schemas, with strategies for the values that fit them.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use reknit_protocol::{Number, Object, Value};

/// A schema that can be generated.
#[derive(Debug, Clone)]
pub(crate) enum Model {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Enum(Vec<&'static str>),
    Numbers(Vec<i64>),
    Nullable(Box<Model>),
    Array(Box<Model>),
    Object(Vec<Property>, Extra),
    /// `anyOf`, or a list of types where that can be written.
    Union(Vec<Model>),
    /// Two objects joined by `allOf`.
    Both(Vec<Property>, Vec<Property>),
}

#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    pub(crate) model: Model,
    pub(crate) required: bool,
}

/// What a schema says about additional keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    Unspecified,
    Open,
    Closed,
    Booleans,
}

pub(crate) fn property(name: &'static str, model: Model, required: bool) -> Property {
    Property { name, model, required }
}

/// Property names. No two are spellings of the same word.
const NAMES: [&str; 6] = ["max_results", "sortOrder", "home-address", "Zip Code", "id", "_from"];
/// Names of additional keys. None is a spelling of a property name.
const ADDITIONAL: [&str; 3] = ["extra", "max.results", "x_id"];
const WORDS: [&str; 5] = ["New York", "san_francisco", "Tokyo", "berlin-mitte", "C"];
/// Strings that look like another type or syntax.
const MISLEADING: [&str; 14] = [
    "",
    "5",
    "0.10",
    "true",
    "yes",
    "null",
    "[1]",
    "{\"a\": 1}",
    "**bold**",
    "1,000",
    "['a']",
    "tokyo",
    "\"x\"",
    "{{step-1.a}}",
];

/// Any model.
pub(crate) fn model() -> impl Strategy<Value = Model> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|model| Model::Nullable(Box::new(model))),
            inner.clone().prop_map(|model| Model::Array(Box::new(model))),
            objects(inner.clone()),
            vec(inner.clone(), 2..4).prop_map(Model::Union),
            properties(inner).prop_map(|mut left| {
                let right = left.split_off(left.len() / 2);
                Model::Both(left, right)
            }),
        ]
    })
}

/// A model without unions other than "or null", under which every damage can be undone.
pub(crate) fn plain_model() -> impl Strategy<Value = Model> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|model| Model::Nullable(Box::new(model))),
            inner.clone().prop_map(|model| Model::Array(Box::new(model))),
            objects(inner),
        ]
    })
}

fn scalar() -> impl Strategy<Value = Model> {
    prop_oneof![
        Just(Model::Null),
        Just(Model::Boolean),
        Just(Model::Integer),
        Just(Model::Number),
        Just(Model::String),
        subsequence(WORDS.to_vec(), 1..=WORDS.len()).prop_map(Model::Enum),
        vec(-3..3_i64, 1..4).prop_map(Model::Numbers),
    ]
}

fn properties(inner: impl Strategy<Value = Model> + Clone) -> impl Strategy<Value = Vec<Property>> {
    subsequence(NAMES.to_vec(), 0..=4).prop_flat_map(move |names| {
        let count = names.len();
        (Just(names), vec((inner.clone(), any::<bool>()), count)).prop_map(|(names, models)| {
            names.into_iter().zip(models).map(|(name, (model, required))| property(name, model, required)).collect()
        })
    })
}

fn objects(inner: impl Strategy<Value = Model> + Clone) -> impl Strategy<Value = Model> {
    let extra = select(vec![Extra::Unspecified, Extra::Open, Extra::Closed, Extra::Booleans]);
    (properties(inner), extra).prop_map(|(properties, extra)| Model::Object(properties, extra))
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into())
}

fn typed(word: &str) -> Value {
    object([("type", word.into())])
}

impl Model {
    /// The schema.
    pub(crate) fn schema(&self) -> Value {
        match self {
            Self::Null => typed("null"),
            Self::Boolean => typed("boolean"),
            Self::Integer => typed("integer"),
            Self::Number => typed("number"),
            Self::String => typed("string"),
            Self::Enum(words) => object([("enum", words.iter().map(|word| Value::from(*word)).collect())]),
            Self::Numbers(numbers) => object([("enum", numbers.iter().map(|number| Value::from(*number)).collect())]),
            Self::Nullable(model) => object([("anyOf", [model.schema(), typed("null")].into_iter().collect())]),
            Self::Array(items) => object([("type", "array".into()), ("items", items.schema())]),
            Self::Object(properties, extra) => object_schema(properties, *extra),
            Self::Union(models) => object([("anyOf", models.iter().map(Self::schema).collect())]),
            Self::Both(left, right) => {
                let parts = [object_schema(left, Extra::Unspecified), object_schema(right, Extra::Unspecified)];
                object([("allOf", parts.into_iter().collect())])
            }
        }
    }

    /// Values that fit.
    pub(crate) fn values(&self) -> BoxedStrategy<Value> {
        match self {
            Self::Null => Just(Value::Null).boxed(),
            Self::Boolean => any::<bool>().prop_map(Value::from).boxed(),
            Self::Integer => any::<i32>().prop_map(Value::from).boxed(),
            Self::Number => number().prop_map(Value::Number).boxed(),
            Self::String => text().prop_map(Value::from).boxed(),
            Self::Enum(words) => select(words.clone()).prop_map(Value::from).boxed(),
            Self::Numbers(numbers) => select(numbers.clone()).prop_map(Value::from).boxed(),
            Self::Nullable(model) => prop_oneof![1 => Just(Value::Null), 3 => model.values()].boxed(),
            Self::Array(items) => vec(items.values(), 0..4).prop_map(Value::from).boxed(),
            Self::Object(properties, extra) => object_values(properties, *extra),
            Self::Union(models) => proptest::strategy::Union::new(models.iter().map(Self::values)).boxed(),
            Self::Both(left, right) => {
                object_values(&left.iter().chain(right).cloned().collect::<Vec<_>>(), Extra::Unspecified)
            }
        }
    }
}

fn object_schema(properties: &[Property], extra: Extra) -> Value {
    let declared: Object =
        properties.iter().map(|property| (property.name.to_owned(), property.model.schema())).collect();
    let required = properties.iter().filter(|property| property.required).map(|property| Value::from(property.name));
    let mut schema = Object::from([
        ("type", "object".into()),
        ("properties", Value::Object(declared)),
        ("required", required.collect()),
    ]);
    match extra {
        Extra::Unspecified => None,
        Extra::Open => schema.insert("additionalProperties", true),
        Extra::Closed => schema.insert("additionalProperties", false),
        Extra::Booleans => schema.insert("additionalProperties", typed("boolean")),
    };
    Value::Object(schema)
}

fn object_values(properties: &[Property], extra: Extra) -> BoxedStrategy<Value> {
    let mut entries: BoxedStrategy<Vec<(String, Value)>> = Just(Vec::new()).boxed();
    for property in properties {
        let name = property.name.to_owned();
        let value = (any::<bool>(), property.model.values());
        let required = property.required;
        entries = (entries, value)
            .prop_map(move |(mut entries, (wanted, value))| {
                if wanted || required {
                    entries.push((name.clone(), value));
                }
                entries
            })
            .boxed();
    }
    let others = match extra {
        Extra::Closed => Just(Vec::new()).boxed(),
        Extra::Booleans => additional_entries(any::<bool>().prop_map(Value::from).boxed()),
        Extra::Unspecified | Extra::Open => additional_entries(text().prop_map(Value::from).boxed()),
    };
    (entries, others).prop_map(|(entries, others)| Value::Object(entries.into_iter().chain(others).collect())).boxed()
}

fn additional_entries(values: BoxedStrategy<Value>) -> BoxedStrategy<Vec<(String, Value)>> {
    let keys = subsequence(ADDITIONAL.to_vec(), 0..2);
    (keys, values)
        .prop_map(|(keys, value)| keys.into_iter().map(|key| (key.to_owned(), value.clone())).collect())
        .boxed()
}

fn number() -> impl Strategy<Value = Number> {
    "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,4})?".prop_map(|text| Number::parse(&text).expect("a number"))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![2 => "[a-zA-Z0-9 ._-]{0,8}", 1 => select(MISLEADING.to_vec()).prop_map(str::to_owned)]
}

/// Any JSON value, made of the names and words of the models.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..3_i64).prop_map(Value::from),
        number().prop_map(Value::Number),
        text().prop_map(Value::from),
        select(WORDS.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let keys =
            select([NAMES.as_slice(), &ADDITIONAL, &["maxResults", "sort_order", "ID", "zipcode", "from"]].concat());
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((keys.prop_map(str::to_owned), inner.clone()), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            inner.prop_map(|value| Value::from(value.to_string())),
        ]
    })
}
