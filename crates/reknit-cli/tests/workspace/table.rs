//! Tables in Markdown.

/// The rows of the table whose first heading is `heading`, without the heading, each row as its cells.
pub(crate) fn rows(markdown: &str, heading: &str) -> Vec<Vec<String>> {
    let start = format!("| {heading} |");
    markdown
        .lines()
        .skip_while(|line| !line.starts_with(&start))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// The words of a cell that are written as code: `` `a`, b and `c` `` has a and c.
pub(crate) fn code_words(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn a_table_is_found_by_its_heading_and_ends_with_its_last_row() {
    let markdown = "| other | x |\n|---|---|\n| no | no |\n\n| crate | on |\n|---|---|\n| `a` | `b`, c |\n| `d` | |\n\nText.\n| e | f |\n";
    assert_eq!(rows(markdown, "crate"), [["`a`", "`b`, c"], ["`d`", ""]]);
    assert_eq!(rows(markdown, "absent"), Vec::<Vec<String>>::new());
    assert_eq!(code_words("`a`, b and `c`"), ["a", "c"]);
}
