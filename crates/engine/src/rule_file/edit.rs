//! Changes the text of a file with rules, and keeps what people have written around them.

use reknit_mend::RuleBook;
use reknit_plan::Document;
use reknit_protocol::Path;

use super::read::read;
use super::write::{HEAD, rule_lines, write};

/// The text with other rules. Rules that did not change keep their text, and every rule the comments above it. Only comments inside a
/// rule that changes are lost, and all of them if the rules are not a list with one item per line.
pub(super) fn edit(text: &str, book: &RuleBook) -> String {
    let edited = edit_items(text, book).filter(|edited| {
        let document = Document::read(edited).ok();
        document.is_some_and(|document| read(&document).is_ok_and(|found| found == *book))
    });
    edited.unwrap_or_else(|| write(book))
}

fn edit_items(text: &str, book: &RuleBook) -> Option<String> {
    let document = Document::read(text).ok()?;
    let before = read(&document).ok()?;
    let lines: Vec<&str> = text.lines().collect();
    if before.rules.is_empty() {
        return with_first_rules(&lines, book);
    }
    let items = Items::find(&document, before.rules.len(), &lines)?;
    let mut edited: Vec<String> = items.head(&lines)?;
    for rule in &book.rules {
        let known = before.rules.iter().position(|known| known.id == rule.id);
        let item = known.and_then(|index| Some((before.rules.get(index)?, items.item(index, &lines)?)));
        match item {
            Some((known, item)) if known == rule => edited.extend(item.all()),
            Some((_, item)) => edited.extend(item.with_body(rule_lines(rule, &items.indent))),
            None => edited.extend(rule_lines(rule, &items.indent)),
        }
    }
    Some(edited.join("\n") + "\n")
}

/// A file without rules: its comments, then the rules.
fn with_first_rules(lines: &[&str], book: &RuleBook) -> Option<String> {
    let comments: Vec<&str> = lines.iter().copied().filter(|line| line.trim_start().starts_with('#')).collect();
    let rules = write(book);
    let rules = rules.strip_prefix(HEAD)?;
    (!comments.is_empty()).then(|| format!("{}\n{rules}", comments.join("\n")))
}

/// The lines at which the items of the list of rules begin.
struct Items {
    starts: Vec<usize>,
    indent: String,
}

/// The lines of a rule: the comments above it, the rule, and the empty lines and comments after it that belong to no rule.
struct Item<'t> {
    above: &'t [&'t str],
    body: &'t [&'t str],
    below: &'t [&'t str],
}

impl Items {
    /// `None` if an item does not begin a line of its own, or is indented in another way than the first.
    fn find(document: &Document, count: usize, lines: &[&str]) -> Option<Self> {
        let position = |index| document.position(&Path::root().key("rules").index(index));
        let starts: Vec<usize> =
            (0..count).map(|index| position(index)?.0.checked_sub(1)).collect::<Option<Vec<usize>>>()?;
        let indent_of = |start: &usize| {
            let line = lines.get(*start)?;
            let item = line.trim_start();
            item.starts_with("- ").then(|| line.strip_suffix(item).unwrap_or_default().to_owned())
        };
        let indents: Vec<String> = starts.iter().map(indent_of).collect::<Option<Vec<String>>>()?;
        let indent = indents.first()?.clone();
        let is_list = starts.is_sorted_by(|one, next| one < next) && indents.iter().all(|other| *other == indent);
        is_list.then_some(Self { starts, indent })
    }

    /// The lines before the first rule and its comments.
    fn head(&self, lines: &[&str]) -> Option<Vec<String>> {
        let first = self.lead_of(0, lines)?;
        Some(lines.get(..first)?.iter().map(|line| (*line).to_owned()).collect())
    }

    /// Where the comments directly above an item begin.
    fn lead_of(&self, index: usize, lines: &[&str]) -> Option<usize> {
        let start = *self.starts.get(index)?;
        let above = lines.get(..start)?.iter().rev();
        Some(start - above.take_while(|line| line.trim_start().starts_with('#')).count())
    }

    fn item<'t>(&self, index: usize, lines: &'t [&'t str]) -> Option<Item<'t>> {
        let (lead, start) = (self.lead_of(index, lines)?, *self.starts.get(index)?);
        let end = self.lead_of(index + 1, lines).unwrap_or(lines.len());
        let block = lines.get(start..end)?;
        let is_filler = |line: &&&str| line.trim().is_empty() || line.trim_start().starts_with('#');
        let body = block.len() - block.iter().rev().take_while(is_filler).count();
        Some(Item { above: lines.get(lead..start)?, body: block.get(..body)?, below: block.get(body..)? })
    }
}

impl Item<'_> {
    fn all(&self) -> Vec<String> {
        self.with_body(self.body.iter().map(|line| (*line).to_owned()).collect())
    }

    fn with_body(&self, body: Vec<String>) -> Vec<String> {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        [owned(self.above), body, owned(self.below)].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_rule_file;
    use reknit_mend::{LearnedRule, RuleState};

    const FILE: &str = "\
# Reviewed by the payments team.
rules:
    # Names of currencies.
    - id: first
      state: accepted   # since May
      capability: bank/convert
      error: {code: NO_RATE}
      change: {from: upper(parameters.from)}

    # Orders.
    - {id: second, state: proposed, capability: shop/order, error: {code: NO_SIZE}, change: {size: lower(parameters.size)}}
# the end
";

    #[test]
    fn comments_and_rules_that_do_not_change_stay_as_people_wrote_them() {
        let mut book = read_rule_file(FILE).expect("the file is right");
        assert_eq!(edit(FILE, &book), FILE);
        book.rules[1].state = RuleState::Retired;
        let edited = edit(FILE, &book);
        assert_eq!(read_rule_file(&edited).as_ref(), Ok(&book));
        let (kept, _) = FILE.split_once("    - {id: second").expect("a second rule");
        assert!(edited.starts_with(kept) && edited.ends_with("\n# the end\n"), "{edited}");
        assert!(edited.contains("    # Orders.\n    - id: second\n      state: retired\n"), "{edited}");
    }

    #[test]
    fn a_new_rule_is_added_at_the_end_and_a_removed_one_leaves_the_others() {
        let mut book = read_rule_file(FILE).expect("the file is right");
        book.rules.push(LearnedRule { id: "third".to_owned(), ..book.rules[0].clone() });
        let added = edit(FILE, &book);
        assert!(added.starts_with(FILE.trim_end_matches("# the end\n")) && added.contains("- id: third\n"), "{added}");
        assert_eq!(read_rule_file(&added).as_ref(), Ok(&book));
        book.rules.remove(0);
        let removed = edit(&added, &book);
        assert!(removed.starts_with("# Reviewed by the payments team.\nrules:\n    # Orders.\n"), "{removed}");
        assert_eq!(read_rule_file(&removed).as_ref(), Ok(&book));
    }

    #[test]
    fn rules_in_another_form_are_written_anew() {
        let book = read_rule_file(FILE).expect("the file is right");
        let json =
            r#"{"rules": [{"id": "first", "capability": "bank/convert", "error": {"code": "X"}, "remove": ["a"]}]}"#;
        assert_eq!(edit(json, &book), write(&book));
        assert_eq!(edit("", &book), write(&book));
        assert_eq!(edit("# ours\n", &book), format!("# ours\n{}", write(&book).trim_start_matches(HEAD)));
    }
}
