//! The codes of errors: those that the program has, and the pages about them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::page::root;
use crate::run;

/// The code for a text that is no plan. The other codes of plans are those of [`reknit_plan::ProblemCode`].
const NOT_A_PLAN: &str = "not_a_plan";

/// Every code of the program.
pub(crate) fn codes() -> BTreeSet<String> {
    let of_plans = reknit_plan::ProblemCode::ALL.iter().map(|code| code.as_str().to_owned());
    let of_models = reknit_model_api::ErrorClass::ALL.iter().map(|class| class.as_str().to_owned());
    let mut codes: BTreeSet<String> = of_plans.chain(of_models).collect();
    codes.extend(reknit_runtime::RefusalCode::ALL.iter().map(|code| code.as_str().to_owned()));
    codes.insert(NOT_A_PLAN.to_owned());
    codes.extend(of_readings(&run("reknit repair --help")));
    codes.extend(of_server());
    codes
}

/// The codes that have a page.
pub(crate) fn codes_with_page() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("docs/reference/errors")).expect("the folder can be read");
    let stem = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("the folder can be read").path();
        path.file_stem().and_then(|stem| stem.to_str()).expect("the name is UTF-8").to_owned()
    };
    entries.map(stem).collect()
}

/// The codes that the help of `reknit repair` lists.
fn of_readings(help: &str) -> Vec<String> {
    let list = help.split_once("\"error\": {\"code\"").map_or("", |(_, list)| list);
    let rows = list.lines().skip(1).take_while(|line| line.starts_with("    "));
    rows.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// The codes in the source of the server and of the gateway.
fn of_server() -> Vec<String> {
    let mut codes = Vec::new();
    for text in sources(&root().join("crates/server/src")) {
        codes.extend(literals_after(&text, "ApiError::new("));
        codes.extend(literals_after(&text, "Self::new(StatusCode::"));
        codes.extend(literals_after(&text, "code: \""));
    }
    let gateway = root().join("crates/gateway/src/error_response.rs");
    let gateway = fs::read_to_string(gateway).expect("the file can be read");
    codes.extend(literals_after(&gateway, "code: \""));
    let table = gateway.split_once("fn from_failure").and_then(|(_, rest)| rest.split_once("Self { status"));
    let table = table.expect("the gateway has a table of codes").0;
    codes.extend(table.split('"').skip(1).step_by(2).map(str::to_owned));
    codes
}

/// The text of each Rust file in a folder and the folders in it.
fn sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            texts.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.push(fs::read_to_string(&path).expect("the file can be read"));
        }
    }
    texts
}

/// The first string after each mark; the mark may end with its opening quote.
fn literals_after(text: &str, mark: &str) -> Vec<String> {
    let quotes = usize::from(!mark.ends_with('"'));
    text.split(mark).skip(1).filter_map(|rest| rest.split('"').nth(quotes)).map(str::to_owned).collect()
}

#[test]
fn codes_are_found_in_the_source() {
    let text = "ApiError::new(StatusCode::CONFLICT, \"conflict\", \"no\"); E { code: \"busy\", x }";
    assert_eq!(literals_after(text, "ApiError::new("), ["conflict"]);
    assert_eq!(literals_after(text, "code: \""), ["busy"]);
    let help = "or {\"error\": {\"code\", \"message\"}}, next:\n    empty   no JSON\n    misfit  no\n\nend";
    assert_eq!(of_readings(help), ["empty", "misfit"]);
}
