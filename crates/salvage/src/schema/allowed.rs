//! The values that `enum` and `const` allow, to be found by another spelling.

use std::collections::HashMap;
use std::hash::Hash;

use reknit_protocol::{Number, Value};

use super::spelling::{without_marks, word_form};
use super::text;

/// Allowed values. All are found without comparing them one by one: an enum may be long, and a list of wrong values too.
#[derive(Debug, Clone)]
pub(crate) struct Allowed {
    values: Box<[Value]>,
    /// Where each text stands.
    texts: HashMap<String, usize>,
    /// Where the text stands that has a form in common with others, if there is only one.
    forms: HashMap<String, Option<usize>>,
    numbers: HashMap<Number, usize>,
    /// The text that holds a number, if there is only one.
    number_texts: HashMap<Number, Option<usize>>,
}

impl Allowed {
    pub(super) fn new(values: Vec<Value>) -> Self {
        let (mut texts, mut forms) = (HashMap::new(), HashMap::new());
        let (mut numbers, mut number_texts) = (HashMap::new(), HashMap::new());
        for (index, value) in values.iter().enumerate() {
            match value {
                Value::String(text) => {
                    if texts.insert(text.clone(), index).is_some() {
                        continue;
                    }
                    claim(&mut forms, word_form(text), index);
                    if let Some(number) = text::number(text) {
                        claim(&mut number_texts, number, index);
                    }
                }
                Value::Number(number) => {
                    numbers.entry(number.clone()).or_insert(index);
                }
                _ => {}
            }
        }
        forms.remove("");
        Self { values: values.into(), texts, forms, numbers, number_texts }
    }

    /// The value that is meant by another spelling; `None` if there is no such value or more than one.
    pub(crate) fn meant_by(&self, value: &Value) -> Option<&Value> {
        let index = match value {
            Value::String(text) => {
                self.texts.get(without_marks(text)).copied().or_else(|| match self.forms.get(&word_form(text)) {
                    Some(only) => *only,
                    None => self.numbers.get(&text::number(text)?).copied(),
                })
            }
            Value::Number(number) => {
                let as_written = self.texts.get(&number.to_string()).copied();
                as_written.or_else(|| self.number_texts.get(number).copied().flatten())
            }
            _ => None,
        };
        self.values.get(index?)
    }
}

/// Notes who has a key; two have none of it.
fn claim<K: Eq + Hash>(owners: &mut HashMap<K, Option<usize>>, key: K, index: usize) {
    owners.entry(key).and_modify(|owner| *owner = None).or_insert(Some(index));
}
