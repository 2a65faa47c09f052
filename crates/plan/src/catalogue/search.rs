//! Ranks capabilities by the words that they share with a request, without a model.

use std::collections::{BTreeMap, BTreeSet};

use super::{Catalogue, CatalogueEntry, CatalogueTool};

/// A word in the name counts more than a word in the description.
const NAME_WEIGHT: u64 = 3;

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
        let documents: Vec<SearchDocument> = self
            .tools
            .iter()
            .flat_map(|tool| tool.visible_capabilities().map(move |entry| SearchDocument::new(tool, entry)))
            .collect();
        let wanted = words(request);
        let mut document_frequency: BTreeMap<&str, u64> = BTreeMap::new();
        for document in &documents {
            for word in document.name.union(&document.description) {
                *document_frequency.entry(word).or_default() += 1;
            }
        }
        // Integers, because decisions of a run must not depend on how a machine rounds.
        let count = documents.len() as u64;
        let rarity = |word: &String| document_frequency.get(word.as_str()).map_or(0, |with| count / with);
        let mut ranked: Vec<(u64, String)> = documents
            .iter()
            .map(|document| {
                let score = |words: &BTreeSet<String>| wanted.intersection(words).map(rarity).sum::<u64>();
                (NAME_WEIGHT * score(&document.name) + score(&document.description), document.key.clone())
            })
            .collect();
        // The sort is stable: equal scores stay in the order of the catalogue.
        ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        ranked
    }
}

/// The words of a capability.
struct SearchDocument {
    key: String,
    name: BTreeSet<String>,
    description: BTreeSet<String>,
}

impl SearchDocument {
    fn new(tool: &CatalogueTool, entry: &CatalogueEntry) -> Self {
        let capability = &entry.capability;
        let mut description = words(&capability.description);
        description.extend(words(&tool.description));
        description.extend(entry.parameter_names().iter().flat_map(|name| words(name)));
        let name = words(&format!("{} {}", tool.name, capability.name));
        Self { key: tool.key(entry), name, description }
    }
}

/// The words of a text in lower case and singular: `getStockQuotes` gives `get`, `stock` and `quote`.
fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut word = String::new();
    let mut was_lower = false;
    for letter in text.chars().chain(std::iter::once(' ')) {
        let begins = letter.is_uppercase() && was_lower;
        if !letter.is_alphanumeric() || begins {
            found.insert(singular(&word));
            word.clear();
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    found.remove("");
    found
}

/// A word without the `s` of a plural.
fn singular(word: &str) -> String {
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    word.strip_suffix('s').filter(|_| is_plural).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use reknit_protocol::Capability;

    use super::*;

    #[test]
    fn a_text_is_split_into_the_same_words_in_any_notation() {
        let expected: BTreeSet<String> = ["get", "stock", "quote"].map(str::to_owned).into();
        for text in ["getStockQuotes", "get_stock_quote", "Get-Stock quotes!"] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn capabilities_that_share_rare_words_come_first_and_internal_ones_never() {
        let entry = |name: &str, description: &str, internal| {
            let capability = Capability { description: description.to_owned(), internal, ..Capability::new(name) };
            CatalogueEntry::new(capability, None).unwrap()
        };
        let tool = CatalogueTool {
            name: "shop".into(),
            description: String::new(),
            capabilities: vec![
                entry("get_order", "Gets an order", false),
                entry("get_weather", "Gets the weather of a town", false),
                entry("weather_secret", "weather weather", true),
                entry("get_stock_quote", "Gets the price of a share", false),
            ],
        };
        let found = Catalogue { tools: vec![tool] }.search("What is the weather, and what are shares worth?");
        assert_eq!(found, ["shop/get_weather", "shop/get_stock_quote", "shop/get_order"]);
    }
}
