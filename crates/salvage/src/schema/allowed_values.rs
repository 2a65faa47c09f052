//! The values that `enum` and `const` allow, indexed by their spellings.

use std::hash::Hash;
use std::sync::OnceLock;

use reknit_protocol::spelling::folded;
use reknit_protocol::{Number, Value};

use super::diacritics::without_diacritics;
use super::fast_hash::HashMap;
use super::parse_scalar::{self, strip_marks};
use super::typo::only_typo;

/// Up to this many values are compared one by one.
const FEW_VALUES: usize = 16;

/// Among more values than this, no typo is looked for.
const MAX_VALUES_WITH_TYPO: usize = 64;

#[derive(Debug, Clone)]
pub(crate) struct AllowedValues {
    values: Box<[Value]>,
    /// The labels that the schema states for values, as a `title` or in `enumNames`.
    labels: Box<[(String, Value)]>,
    /// Computed on first use.
    spellings: OnceLock<Spellings>,
}

/// The indices of the values by their spellings. Lookups are hashed, because both an enum and a list of wrong values may be long.
#[derive(Debug, Clone)]
struct Spellings {
    texts: HashMap<String, usize>,
    /// The text with a folded spelling; `None` if several texts have it.
    folded_texts: HashMap<String, Option<usize>>,
    /// The text with a folded spelling without diacritics; `None` if several texts have it.
    plain_texts: HashMap<String, Option<usize>>,
    numbers: HashMap<Number, usize>,
    /// The text that contains a number; `None` if several texts contain it.
    number_texts: HashMap<Number, Option<usize>>,
}

impl Spellings {
    fn new(values: &[Value]) -> Self {
        let (mut texts, mut folded_texts) = (HashMap::default(), HashMap::default());
        let mut plain_texts = HashMap::default();
        let (mut numbers, mut number_texts) = (HashMap::default(), HashMap::default());
        for (index, value) in values.iter().enumerate() {
            match value {
                Value::String(text) => {
                    if texts.insert(text.clone(), index).is_some() {
                        continue;
                    }
                    let form = folded(strip_marks(text));
                    insert_unique(&mut plain_texts, without_diacritics(&form).unwrap_or_else(|| form.clone()), index);
                    insert_unique(&mut folded_texts, form, index);
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
        plain_texts.remove("");
        Self { texts, folded_texts, plain_texts, numbers, number_texts }
    }

    fn find(&self, value: &Value) -> Option<usize> {
        match value {
            Value::String(text) => {
                let text = strip_marks(text);
                self.texts.get(text).copied().or_else(|| match self.folded_texts.get(&folded(text)) {
                    Some(only) => *only,
                    None => self.find_number(text).or_else(|| self.find_decorated(text)),
                })
            }
            Value::Number(number) => {
                let as_written = self.texts.get(&number.to_string()).copied();
                as_written.or_else(|| self.number_texts.get(number).copied().flatten())
            }
            _ => None,
        }
    }

    fn find_number(&self, text: &str) -> Option<usize> {
        self.numbers.get(&parse_scalar::number(text)?).copied()
    }

    /// Finds `km.`, `Unit.KM` and `Zurich` among `km` and `Zürich`.
    fn find_decorated(&self, text: &str) -> Option<usize> {
        let find = |text: &str| {
            let form = folded(text);
            let folded = self.folded_texts.get(&form).copied();
            folded.or_else(|| self.plain_texts.get(&without_diacritics(&form).unwrap_or(form)).copied())
        };
        let sentence = text.strip_suffix(['.', '。']).unwrap_or(text);
        // `pre.production` is `pre_production`, and `production` only if there is no such value.
        let joined = || sentence.contains('.').then(|| find(&sentence.replace('.', "_"))).flatten();
        find(sentence).or_else(joined).or_else(|| find(without_qualifier(sentence)?)).flatten()
    }
}

/// `KM` of `Unit.KM` and `Unit::KM`.
fn without_qualifier(text: &str) -> Option<&str> {
    let (qualifier, name) = text.rsplit_once("::").or_else(|| text.rsplit_once('.'))?;
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':'))
    };
    (is_name(qualifier) && is_name(name)).then_some(name)
}

impl AllowedValues {
    pub(super) fn new(values: Vec<Value>, labels: Vec<(String, Value)>) -> Self {
        Self { values: values.into(), labels: labels.into(), spellings: OnceLock::new() }
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

    /// The allowed value whose label the text is; `None` if several have it.
    pub(crate) fn find_by_label(&self, text: &str) -> Option<&Value> {
        if self.labels.is_empty() {
            return None;
        }
        let wanted = folded(strip_marks(text));
        let mut alike = self.labels.iter().filter(|(label, _)| folded(label) == wanted).map(|(_, value)| value);
        alike.next().filter(|first| alike.all(|other| other == *first))
    }

    /// The allowed text from which `text` differs by one typo; `None` if there is none or more than one.
    pub(crate) fn find_typo(&self, text: &str) -> Option<&Value> {
        if self.values.len() > MAX_VALUES_WITH_TYPO {
            return None;
        }
        let found = only_typo(strip_marks(text), self.values.iter().filter_map(Value::as_str))?;
        self.values.iter().find(|value| value.as_str() == Some(found))
    }

    fn spellings(&self) -> &Spellings {
        self.spellings.get_or_init(|| Spellings::new(&self.values))
    }
}

fn insert_unique<K: Eq + Hash>(owners: &mut HashMap<K, Option<usize>>, key: K, index: usize) {
    owners.entry(key).and_modify(|owner| *owner = None).or_insert(Some(index));
}
