//! The values that `enum` and `const` allow, indexed by their spellings.

use std::hash::Hash;
use std::sync::OnceLock;

use reknit_protocol::spelling::folded;
use reknit_protocol::{Number, Value};

use super::fast_hash::HashMap;
use super::parse_scalar::{self, strip_marks};

/// Up to this many values are compared one by one.
const FEW_VALUES: usize = 16;

#[derive(Debug, Clone)]
pub(crate) struct AllowedValues {
    values: Box<[Value]>,
    /// Computed on first use.
    spellings: OnceLock<Spellings>,
}

/// The indices of the values by their spellings. Lookups are hashed, because both an enum and a list of wrong values may be long.
#[derive(Debug, Clone)]
struct Spellings {
    texts: HashMap<String, usize>,
    /// The text with a folded spelling; `None` if several texts have it.
    folded_texts: HashMap<String, Option<usize>>,
    numbers: HashMap<Number, usize>,
    /// The text that contains a number; `None` if several texts contain it.
    number_texts: HashMap<Number, Option<usize>>,
}

impl Spellings {
    fn new(values: &[Value]) -> Self {
        let (mut texts, mut folded_texts) = (HashMap::default(), HashMap::default());
        let (mut numbers, mut number_texts) = (HashMap::default(), HashMap::default());
        for (index, value) in values.iter().enumerate() {
            match value {
                Value::String(text) => {
                    if texts.insert(text.clone(), index).is_some() {
                        continue;
                    }
                    insert_unique(&mut folded_texts, folded(strip_marks(text)), index);
                    if let Some(number) = parse_scalar::number(text) {
                        insert_unique(&mut number_texts, number, index);
                    }
                }
                Value::Number(number) => {
                    numbers.entry(number.clone()).or_insert(index);
                }
                _ => {}
            }
        }
        folded_texts.remove("");
        Self { texts, folded_texts, numbers, number_texts }
    }

    fn find(&self, value: &Value) -> Option<usize> {
        match value {
            Value::String(text) => {
                let text = strip_marks(text);
                self.texts.get(text).copied().or_else(|| match self.folded_texts.get(&folded(text)) {
                    Some(only) => *only,
                    None => self.numbers.get(&parse_scalar::number(text)?).copied(),
                })
            }
            Value::Number(number) => {
                let as_written = self.texts.get(&number.to_string()).copied();
                as_written.or_else(|| self.number_texts.get(number).copied().flatten())
            }
            _ => None,
        }
    }
}

impl AllowedValues {
    pub(super) fn new(values: Vec<Value>) -> Self {
        Self { values: values.into(), spellings: OnceLock::new() }
    }

    pub(crate) fn contains_text(&self, text: &str) -> bool {
        if self.values.len() <= FEW_VALUES {
            return self.values.iter().any(|value| value.as_str() == Some(text));
        }
        self.spellings().texts.contains_key(text)
    }

    /// The allowed value of which `value` is another spelling; `None` if there is none or more than one.
    pub(crate) fn find_by_spelling(&self, value: &Value) -> Option<&Value> {
        self.values.get(self.spellings().find(value)?)
    }

    fn spellings(&self) -> &Spellings {
        self.spellings.get_or_init(|| Spellings::new(&self.values))
    }
}

fn insert_unique<K: Eq + Hash>(owners: &mut HashMap<K, Option<usize>>, key: K, index: usize) {
    owners.entry(key).and_modify(|owner| *owner = None).or_insert(Some(index));
}
