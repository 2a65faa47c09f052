//! What was mended, for people.

use std::fmt::Write;

use reknit_protocol::Path;
use reknit_salvage::{Completeness, Fix, Reading};

use crate::show::{last_of_line, one_line, width};

/// How much of a path is shown. Its end says more than its beginning.
const PATH: usize = 40;

/// How much of what stood there, and of what stands there now, is shown.
const QUOTE: usize = 32;

/// How many places of expressions are listed.
const PLACES: usize = 10;

/// The list of fixes: where, what was done, from what to what.
pub(crate) fn fixes(fixes: &[Fix]) -> String {
    if fixes.is_empty() {
        return "nothing to fix\n".to_owned();
    }
    let paths: Vec<String> = fixes.iter().map(|fix| path(&fix.path)).collect();
    let path_column = paths.iter().map(|path| width(path)).max().unwrap_or_default();
    let words_column = fixes.iter().map(|fix| width(fix.kind.words())).max().unwrap_or_default();

    let mut list = match fixes.iter().map(|fix| u64::from(fix.times)).sum::<u64>() {
        1 => "fixed 1 place:\n".to_owned(),
        places => format!("fixed {places} places:\n"),
    };
    for (path, fix) in paths.iter().zip(fixes) {
        let path_pad = path_column.saturating_sub(width(path));
        let words = fix.kind.words();
        let words_pad = words_column.saturating_sub(width(words));
        let line = format!("  {path}{:path_pad$}   {words}{:words_pad$}   {}", "", "", change(fix));
        list.push_str(line.trim_end());
        list.push('\n');
    }
    list
}

fn path(path: &Path) -> String {
    last_of_line(&path.to_string(), PATH)
}

/// `before -> after`, or the one of them that says it all.
fn change(fix: &Fix) -> String {
    if fix.times > 1 {
        return format!("{} more times", fix.times);
    }
    match (one_line(&fix.before, QUOTE), one_line(&fix.after, QUOTE)) {
        (before, after) if before.is_empty() => after,
        (before, after) if after.is_empty() || before == after => before,
        (before, after) => format!("{before} -> {after}"),
    }
}

/// What must be known before the value is used, whether or not anybody asked.
pub(crate) fn caveats(reading: &Reading) -> String {
    let mut caveats = String::new();
    match reading.completeness {
        Completeness::Whole => {}
        Completeness::Truncated => caveats.push_str("warning: the text was cut; what came after its end is missing\n"),
        Completeness::Elided => caveats.push_str("warning: the text was cut; `...` stands where more was meant\n"),
    }
    if !reading.expressions.is_empty() {
        let mut places: Vec<String> = reading.expressions.iter().take(PLACES).map(path).collect();
        if reading.expressions.len() > PLACES {
            places.push(format!("and {} more", reading.expressions.len() - PLACES));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(caveats, "note: an expression stands in place of a number at {}", places.join(", "));
    }
    caveats
}

#[cfg(test)]
mod tests {
    use reknit_protocol::Value;
    use reknit_salvage::FixKind;

    use super::*;

    fn fix(path: Path, kind: FixKind, before: &str, after: &str) -> Fix {
        Fix { path, kind, before: before.to_owned(), after: after.to_owned(), penalty: kind.penalty(), times: 1 }
    }

    #[test]
    fn fixes_stand_in_columns() {
        let item = Path::root().key("items").index(0);
        let list = [
            fix(Path::root(), FixKind::Fence, "```json\n{…}\n```", "{…}"),
            fix(item.key("price"), FixKind::MissingComma, "", ","),
            fix(item.key("가격"), FixKind::Literal, "True", "true"),
            fix(item.key("a key that is very long indeed and longer"), FixKind::Comment, "// why\tnot", ""),
            fix(item.clone(), FixKind::WhiteSpace, "\u{a0}", " "),
            Fix { times: 37, ..fix(Path::root(), FixKind::ExtraComma, "", "") },
        ];
        insta::assert_snapshot!(fixes(&list), @r#"
        fixed 42 places:
          $                                           took the JSON from a fenced block     ```json\n{…}\n``` -> {…}
          $.items[0].price                            put in a missing comma                ,
          $.items[0].가격                             read a literal of another language    True -> true
          …ey that is very long indeed and longer"]   dropped a comment                     // why\tnot
          $.items[0]                                  read unusual white space as a space   \u{a0} -> " "
          $                                           dropped an extra comma                37 more times
        "#);
    }

    #[test]
    fn one_place_is_one_place_and_none_is_nothing() {
        insta::assert_snapshot!(fixes(&[fix(Path::root(), FixKind::ExtraComma, ",", "")]), @"
        fixed 1 place:
          $   dropped an extra comma   ,
        ");
        assert_eq!(fixes(&[]), "nothing to fix\n");
    }

    #[test]
    fn caveats_are_said_only_where_there_are_any() {
        let reading = |completeness, expressions: Vec<Path>| Reading {
            value: Value::Null,
            fixes: Vec::new(),
            completeness,
            expressions,
        };
        assert_eq!(caveats(&reading(Completeness::Whole, Vec::new())), "");
        let prices = || (0..12).map(|index| Path::root().index(index).key("price")).collect();
        insta::assert_snapshot!(caveats(&reading(Completeness::Truncated, prices())), @"
        warning: the text was cut; what came after its end is missing
        note: an expression stands in place of a number at $[0].price, $[1].price, $[2].price, $[3].price, $[4].price, $[5].price, $[6].price, $[7].price, $[8].price, $[9].price, and 2 more
        ");
        insta::assert_snapshot!(caveats(&reading(Completeness::Elided, vec![Path::root()])), @"
        warning: the text was cut; `...` stands where more was meant
        note: an expression stands in place of a number at $
        ");
    }
}
