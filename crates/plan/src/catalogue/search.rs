//! Ranks capabilities by the words that they share with a request, without a model, with the formula BM25.
//!
//! All numbers are integers, because decisions of a run must not depend on how a machine rounds.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::{Catalogue, CatalogueEntry, CatalogueTool};

/// A word in the name counts as often as this many words in the description.
const NAME_WEIGHT: u64 = 3;

/// The parameters of BM25, in hundredths: how soon a word that is repeated counts no more, and how much the length of a text
/// matters.
const SATURATION: u64 = 120;
const LENGTH_WEIGHT: u64 = 75;

impl Catalogue {
    /// The keys of all visible capabilities, those that share the rarest words with the request first. Those that share no
    /// word come last, in the order of the catalogue.
    pub fn search(&self, request: &str) -> Vec<String> {
        self.ranked(request).into_iter().map(|(_, key)| key).collect()
    }

    /// The keys of the visible capabilities that share a word with the request, those that share the rarest words first.
    pub fn matches(&self, request: &str) -> Vec<String> {
        self.ranked(request).into_iter().take_while(|(score, _)| *score > 0).map(|(_, key)| key).collect()
    }

    fn ranked(&self, request: &str) -> Vec<(u64, String)> {
        let mut counter = WordCounter::new(request);
        let visible = self.tools.iter().flat_map(|tool| tool.visible_capabilities().map(move |entry| (tool, entry)));
        let documents: Vec<_> = visible.map(|(tool, entry)| (tool.key(entry), counter.count(tool, entry))).collect();
        let scoring = Scoring::new(documents.iter().map(|(_, counts)| counts), counter.wanted);
        let mut ranked: Vec<_> = documents.into_iter().map(|(key, counts)| (scoring.score(&counts), key)).collect();
        // The sort is stable: equal scores stay in the order of the catalogue.
        ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        ranked
    }
}

/// How often the words of a request are in the texts of a capability, and how many words these texts have.
struct WordCounts {
    of_wanted: Vec<u64>,
    all: u64,
}

/// Counts the words of a request in other texts.
struct WordCounter {
    stemmer: Stemmer,
    /// How many different words the request has.
    wanted: usize,
    /// The number of a word's stem in the request, for the words met so far; `None` if the request does not have it.
    known: HashMap<String, Option<usize>>,
    /// The numbers of the stems of the request.
    stems: HashMap<String, usize>,
}

impl WordCounter {
    fn new(request: &str) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut stems = HashMap::new();
        for_each_word(request, |word| {
            let next = stems.len();
            stems.entry(stemmer.stem(word).into_owned()).or_insert(next);
        });
        Self { stemmer, wanted: stems.len(), known: HashMap::new(), stems }
    }

    fn count(&mut self, tool: &CatalogueTool, entry: &CatalogueEntry) -> WordCounts {
        let mut counts = WordCounts { of_wanted: vec![0; self.wanted], all: 0 };
        for name in [tool.name.as_str(), entry.capability.name.as_str()] {
            self.add(name, NAME_WEIGHT, &mut counts);
        }
        self.add(&entry.capability.description, 1, &mut counts);
        self.add(&tool.description, 1, &mut counts);
        for parameter in entry.parameter_names() {
            self.add(&parameter, 1, &mut counts);
        }
        counts
    }

    fn add(&mut self, text: &str, weight: u64, counts: &mut WordCounts) {
        for_each_word(text, |word| {
            counts.all += weight;
            let known = self.known.get(word).copied();
            let number = known.unwrap_or_else(|| {
                let number = self.stems.get(&*self.stemmer.stem(word)).copied();
                self.known.insert(word.to_owned(), number);
                number
            });
            if let Some(count) = number.and_then(|number| counts.of_wanted.get_mut(number)) {
                *count += weight;
            }
        });
    }
}

/// What BM25 knows of all texts: how rare each word of the request is, and how long a text is on average.
struct Scoring {
    rarity: Vec<u64>,
    average_length: u64,
}

impl Scoring {
    fn new<'a>(documents: impl Iterator<Item = &'a WordCounts>, wanted: usize) -> Self {
        let (mut count, mut words, mut with_word) = (0, 0, vec![0; wanted]);
        for document in documents {
            count += 1;
            words += document.all;
            for (with, here) in with_word.iter_mut().zip(&document.of_wanted) {
                *with += u64::from(*here > 0);
            }
        }
        let rarity = with_word.into_iter().map(|with| rarity(count, with)).collect();
        Self { rarity, average_length: (words / count.max(1)).max(1) }
    }

    fn score(&self, document: &WordCounts) -> u64 {
        let length = 100 - LENGTH_WEIGHT + LENGTH_WEIGHT.saturating_mul(document.all) / self.average_length;
        let norm = SATURATION.saturating_mul(length) / 100;
        let of_word = |(rarity, count): (&u64, &u64)| {
            rarity.saturating_mul(count * (100 + SATURATION) * 100) / (count * 100).saturating_add(norm)
        };
        self.rarity.iter().zip(&document.of_wanted).map(of_word).sum()
    }
}

/// The logarithm of how rare a word is, in units of 1/256. A word that every text has still counts.
fn rarity(texts: u64, with_word: u64) -> u64 {
    const ONE: u64 = 1 << 16;
    let ratio = ONE + (2 * (texts - with_word) + 1) * ONE / (2 * with_word + 1);
    let whole = u64::from(ratio.ilog2());
    // Between two powers of two the logarithm is taken as linear.
    ((whole - 16) * 256 + ((ratio >> (whole - 16)) - ONE) / 256).max(1)
}

/// Calls `visit` with each word of a text in lower case: `getStockQuotes` has `get`, `stock` and `quotes`.
fn for_each_word(text: &str, mut visit: impl FnMut(&str)) {
    let mut word = String::new();
    let mut was_lower = false;
    for letter in text.chars().chain(std::iter::once(' ')) {
        let begins = letter.is_uppercase() && was_lower;
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            visit(&word);
            word.clear();
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
}

#[cfg(test)]
mod tests {
    use reknit_protocol::Capability;

    use super::*;

    fn entry(name: &str, description: &str, internal: bool) -> CatalogueEntry {
        let capability = Capability { description: description.to_owned(), internal, ..Capability::new(name) };
        CatalogueEntry::new(capability, None).unwrap()
    }

    fn shop(capabilities: Vec<CatalogueEntry>) -> Catalogue {
        Catalogue { tools: vec![CatalogueTool { name: "shop".into(), description: String::new(), capabilities }] }
    }

    fn catalogue(capabilities: &[(&str, &str)]) -> Catalogue {
        shop(capabilities.iter().map(|(name, description)| entry(name, description, false)).collect())
    }

    #[test]
    fn a_text_is_split_into_the_same_words_in_any_notation() {
        for text in ["getStockQuotes", "get_stock_quotes", "Get-Stock quotes!"] {
            let mut words = Vec::new();
            for_each_word(text, |word| words.push(word.to_owned()));
            assert_eq!(words, ["get", "stock", "quotes"], "{text}");
        }
    }

    #[test]
    fn words_are_found_in_other_forms_and_count_by_length_and_place_of_the_text() {
        let forms = [("list_orders", ""), ("cancel_subscription", "")];
        let long = "Sends a note, a letter, a card, a parcel, an invoice or a postcard to one or more people at once";
        let lengths = [("a", long), ("b", "Sends an invoice"), ("c", "Deletes a note")];
        let names = [("send", "Makes a refund"), ("refund", "Sends money to people")];
        for (sentence, capabilities, request, expected) in [
            (
                "a word is found in its other forms",
                &forms[..],
                "which subscriptions were cancelled?",
                &["cancel_subscription"][..],
            ),
            ("a word is found in its other forms", &forms, "a list of every order", &["list_orders"]),
            ("a word counts more in a short text than in a long one", &lengths, "invoice", &["b", "a"]),
            ("a word counts more in the name than in the description", &names, "refund", &["refund", "send"]),
            ("an empty request has no matches", &forms, "", &[]),
        ] {
            let expected: Vec<String> = expected.iter().map(|name| format!("shop/{name}")).collect();
            assert_eq!(catalogue(capabilities).matches(request), expected, "{sentence}");
        }
        assert!(Catalogue { tools: Vec::new() }.matches("weather").is_empty());
    }

    #[test]
    fn one_rare_word_by_chance_does_not_outweigh_several_that_fit() {
        let mut capabilities = vec![("get_weather", "Not on Friday"), ("create_refund", "Pays money to a customer")];
        capabilities.extend([("list_refunds", "Lists refunds of customers"); 20]);
        capabilities.extend([("send_money", "Sends money to somebody"); 20]);
        capabilities.extend([("list_invoices", "Lists invoices of a month"); 300]);
        let found = catalogue(&capabilities).matches("refund the customer's money by Friday");
        assert_eq!(found.first().map(String::as_str), Some("shop/create_refund"));
    }

    #[test]
    fn a_word_that_all_capabilities_share_matches_all_of_them() {
        assert_eq!(catalogue(&[("get_order", ""); 500]).matches("shop").len(), 500);
    }

    #[test]
    fn capabilities_that_share_rare_words_come_first_and_internal_ones_never() {
        let catalogue = shop(vec![
            entry("get_order", "Gets an order", false),
            entry("get_weather", "Gets the weather of a town", false),
            entry("weather_secret", "weather weather", true),
            entry("get_stock_quote", "Gets the price of a share", false),
        ]);
        let found = catalogue.search("What is the weather, and what are shares worth?");
        assert_eq!(found, ["shop/get_weather", "shop/get_stock_quote", "shop/get_order"]);
    }
}
