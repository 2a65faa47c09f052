//! Lists the repairs of a reading, for people.

use std::fmt::Write;

use reknit_protocol::Path;
use reknit_salvage::{Completeness, Fix, Reading};

use crate::output::{one_line, one_line_end, padded, width};

/// The width to which a path is cut. Its start is cut, because its end says more.
const PATH_COLUMNS: usize = 40;

const QUOTE_COLUMNS: usize = 32;

const MAX_PATHS: usize = 10;

/// The list of fixes: path, kind, and the text before and after.
pub(crate) fn fixes(fixes: &[Fix]) -> String {
    if fixes.is_empty() {
        return "nothing to fix\n".to_owned();
    }
    let paths: Vec<String> = fixes.iter().map(|fix| path(&fix.path)).collect();
    let path_column = paths.iter().map(|path| width(path)).max().unwrap_or_default();
    let kind_column = fixes.iter().map(|fix| width(fix.kind.description())).max().unwrap_or_default();

    let mut list = match fixes.iter().map(|fix| u64::from(fix.times)).sum::<u64>() {
        1 => "fixed 1 place:\n".to_owned(),
        places => format!("fixed {places} places:\n"),
    };
    for (path, fix) in paths.iter().zip(fixes) {
        let kind = padded(fix.kind.description(), kind_column);
        let line = format!("  {}   {kind}   {}", padded(path, path_column), change(fix));
        list.push_str(line.trim_end());
        list.push('\n');
    }
    list
}

fn path(path: &Path) -> String {
    one_line_end(&path.to_string(), PATH_COLUMNS)
}

/// `before -> after`, or only one of them if the other is empty.
fn change(fix: &Fix) -> String {
    if fix.times > 1 {
        return format!("{} more times", fix.times);
    }
    match (one_line(&fix.before, QUOTE_COLUMNS), one_line(&fix.after, QUOTE_COLUMNS)) {
        (before, after) if before.is_empty() => after,
        (before, after) if after.is_empty() || before == after => before,
        (before, after) => format!("{before} -> {after}"),
    }
}

/// Warnings about the value, which are printed even without `--explain`.
pub(crate) fn warnings(reading: &Reading) -> String {
    let mut warnings = String::new();
    match reading.completeness {
        Completeness::Complete => {}
        Completeness::Truncated => warnings.push_str("warning: the text is truncated; the value is incomplete\n"),
        Completeness::Elided => {
            warnings.push_str("warning: the text leaves out content with `...`; the value is incomplete\n");
        }
    }
    if !reading.expressions.is_empty() {
        let mut paths: Vec<String> = reading.expressions.iter().take(MAX_PATHS).map(path).collect();
        if reading.expressions.len() > MAX_PATHS {
            paths.push(format!("and {} more", reading.expressions.len() - MAX_PATHS));
        }
        let _ =
            writeln!(warnings, "note: the value contains an expression instead of a number at {}", paths.join(", "));
    }
    warnings
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
    fn fixes_are_aligned_in_columns() {
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
          $                                           took the JSON from a fenced block           ```json\n{…}\n``` -> {…}
          $.items[0].price                            added a missing comma                       ,
          $.items[0].가격                             converted a literal of another language     True -> true
          …ey that is very long indeed and longer"]   dropped a comment                           // why\tnot
          $.items[0]                                  replaced unusual white space with a space   \u{a0} -> " "
          $                                           dropped an extra comma                      37 more times
        "#);
    }

    #[test]
    fn the_heading_counts_the_fixes() {
        insta::assert_snapshot!(fixes(&[fix(Path::root(), FixKind::ExtraComma, ",", "")]), @"
        fixed 1 place:
          $   dropped an extra comma   ,
        ");
        assert_eq!(fixes(&[]), "nothing to fix\n");
    }

    #[test]
    fn warnings_are_printed_only_for_incomplete_values_and_expressions() {
        let reading = |completeness, expressions: Vec<Path>| Reading {
            value: Value::Null,
            fixes: Vec::new(),
            completeness,
            expressions,
        };
        assert_eq!(warnings(&reading(Completeness::Complete, Vec::new())), "");
        let prices = || (0..12).map(|index| Path::root().index(index).key("price")).collect();
        insta::assert_snapshot!(warnings(&reading(Completeness::Truncated, prices())), @"
        warning: the text is truncated; the value is incomplete
        note: the value contains an expression instead of a number at $[0].price, $[1].price, $[2].price, $[3].price, $[4].price, $[5].price, $[6].price, $[7].price, $[8].price, $[9].price, and 2 more
        ");
        insta::assert_snapshot!(warnings(&reading(Completeness::Elided, vec![Path::root()])), @"
        warning: the text leaves out content with `...`; the value is incomplete
        note: the value contains an expression instead of a number at $
        ");
    }
}
