//! Links between the pages: files and headings exist.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::page::{Page, root};

/// The links of a page that lead nowhere. `pages` are those with headings.
pub(crate) fn broken(page: &Page, pages: &[Page]) -> Vec<String> {
    let folder = Path::new(&page.name).parent().unwrap_or(Path::new(""));
    let broken = |link: &&str| {
        let (file, heading) = link.split_once('#').unwrap_or((link, ""));
        let path = if file.is_empty() { PathBuf::from(&page.name) } else { normal(&folder.join(file)) };
        if !root().join(&path).exists() {
            return true;
        }
        let target = pages.iter().find(|page| Path::new(&page.name) == path);
        !heading.is_empty() && target.is_none_or(|page| !anchors(&page.text).contains(&heading.to_owned()))
    };
    let is_inside = |link: &&str| !link.contains("://") && !link.starts_with("mailto:");
    let links = links(&page.text);
    links.iter().map(String::as_str).filter(is_inside).filter(broken).map(str::to_owned).collect()
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts
}

/// The targets of the links in the text, without those in code.
fn links(text: &str) -> Vec<String> {
    let prose = without_code(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.map(str::to_owned).collect()
}

fn without_code(text: &str) -> String {
    let mut prose = String::new();
    let mut fence = 0;
    for line in text.lines() {
        let ticks = line.trim_start().len() - line.trim_start().trim_start_matches('`').len();
        match fence {
            0 if ticks >= 3 => fence = ticks,
            0 => {
                // The text between single ticks is code; a link may have it as its text.
                prose.extend(line.split('`').enumerate().map(|(part, text)| if part % 2 == 0 { text } else { "" }));
                prose.push('\n');
            }
            open if ticks == open => fence = 0,
            _ => {}
        }
    }
    prose
}

/// The anchors of the headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        if in_code || !line.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
        let anchor: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let count = seen.entry(anchor.clone()).or_default();
        anchors.push(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

#[test]
fn links_and_anchors_are_found() {
    let text = "# Keys of `a step`\n[a](b.md#c) `[no](x)` [`code`](d.md)\n```md\n[no](y)\n# no\n```\n## A\n## A\n";
    assert_eq!(links(text), ["b.md#c", "d.md"]);
    assert_eq!(anchors(text), ["keys-of-a-step", "a", "a-1"]);
}
