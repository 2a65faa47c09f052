//! Letters without their diacritics.

/// Letters, each followed by those that are the same with a diacritic, in lower case.
const LETTERS: [&str; 19] = [
    "aàáâãäåāăą",
    "cçćĉċč",
    "dďđ",
    "eèéêëēĕėęě",
    "gĝğġģ",
    "hĥħ",
    "iìíîïĩīĭį",
    "jĵ",
    "kķ",
    "lĺļľł",
    "nñńņň",
    "oòóôõöøōŏő",
    "rŕŗř",
    "sśŝşšș",
    "tţťŧț",
    "uùúûüũūŭůűų",
    "wŵ",
    "yýÿŷ",
    "zźżž",
];

/// The text without diacritics, if it has any. For texts in lower case.
pub(super) fn without_diacritics(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let is_combining = |c: &char| matches!(c, '\u{300}'..='\u{36f}');
    let plain: String = text.chars().filter(|c| !is_combining(c)).map(base_letter).collect();
    (plain != text).then_some(plain)
}

fn base_letter(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    LETTERS.iter().find(|group| group.contains(c)).and_then(|group| group.chars().next()).unwrap_or(c)
}
