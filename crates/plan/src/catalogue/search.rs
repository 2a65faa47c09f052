//! Which capabilities a request is likely about, by the words they share. No model is asked.

use std::collections::{BTreeMap, BTreeSet};

use super::{Catalogue, Entry, Tool};

/// A word of the name says more than a word of the description.
const NAME_WEIGHT: u64 = 3;

impl Catalogue {
    /// The capabilities that planners may see, those that share the rarest words with the request first. Those that share
    /// nothing come last, in the order of the catalogue.
    pub fn search(&self, request: &str) -> Vec<String> {
        let pages: Vec<Page> =
            self.tools.iter().flat_map(|tool| tool.shown().map(move |entry| Page::of(tool, entry))).collect();
        let wanted = words(request);
        let mut pages_with: BTreeMap<&str, u64> = BTreeMap::new();
        for page in &pages {
            for word in page.name.union(&page.description) {
                *pages_with.entry(word).or_default() += 1;
            }
        }
        // In whole numbers: what a run decides must not depend on how a machine rounds.
        let count = pages.len() as u64;
        let rarity = |word: &String| pages_with.get(word.as_str()).map_or(0, |with| count / with);
        let mut ranked: Vec<(u64, String)> = pages
            .iter()
            .map(|page| {
                let score = |words: &BTreeSet<String>| wanted.intersection(words).map(rarity).sum::<u64>();
                (NAME_WEIGHT * score(&page.name) + score(&page.description), page.key.clone())
            })
            .collect();
        // Stable: equals stay in the order of the catalogue.
        ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        ranked.into_iter().map(|(_, key)| key).collect()
    }
}

/// What is known of a capability, as words.
struct Page {
    key: String,
    name: BTreeSet<String>,
    description: BTreeSet<String>,
}

impl Page {
    fn of(tool: &Tool, entry: &Entry) -> Self {
        let capability = &entry.capability;
        let mut description = words(&capability.description);
        description.extend(words(&tool.description));
        description.extend(entry.parameters().iter().flat_map(|name| words(name)));
        let name = words(&format!("{} {}", tool.name, capability.name));
        Self { key: tool.key(entry), name, description }
    }
}

/// The words of a text, in one form each: `getStockQuotes` gives `get`, `stock` and `quote`.
fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut word = String::new();
    let mut before_is_lower = false;
    for letter in text.chars().chain(std::iter::once(' ')) {
        let begins = letter.is_uppercase() && before_is_lower;
        if !letter.is_alphanumeric() || begins {
            found.insert(root(&word));
            word.clear();
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before_is_lower = letter.is_lowercase();
    }
    found.remove("");
    found
}

/// A word without the `s` of a plural.
fn root(word: &str) -> String {
    let plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    word.strip_suffix('s').filter(|_| plural).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use reknit_protocol::Capability;

    use super::*;

    #[test]
    fn a_text_falls_into_words_however_it_is_written() {
        let expected: BTreeSet<String> = ["get", "stock", "quote"].map(str::to_owned).into();
        for text in ["getStockQuotes", "get_stock_quote", "Get-Stock quotes!"] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn what_shares_rare_words_with_the_request_comes_first_and_internal_ones_not_at_all() {
        let entry = |name: &str, description: &str, internal| {
            let capability = Capability { description: description.to_owned(), internal, ..Capability::new(name) };
            Entry::new(capability, None).unwrap()
        };
        let tool = Tool {
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
