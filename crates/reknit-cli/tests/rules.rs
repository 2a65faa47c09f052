//! The workspace keeps to `ARCHITECTURE.md`, whose tables are read here: a page that is checked cannot rot.
#![cfg(test)]

#[path = "workspace/fields.rs"]
mod fields;
#[path = "workspace/graph.rs"]
mod graph;
#[path = "workspace/manifest.rs"]
mod manifest;
#[path = "workspace/metadata.rs"]
mod metadata;
#[path = "workspace/modules.rs"]
mod modules;
#[path = "workspace/source.rs"]
mod source;
#[path = "workspace/table.rs"]
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use graph::{Member, Metadata};
use metadata::{cargo_metadata, root};
use table::code_words;

/// What a crate that never does I/O must not be built from.
const DOES_IO: [&str; 10] =
    ["async-std", "axum", "hyper", "mio", "redis", "reqwest", "rusqlite", "smol", "tokio", "ureq"];

/// What is wrong with who depends on whom, by the tables of `ARCHITECTURE.md`.
fn complaints(architecture: &str, members: &[Member]) -> Vec<String> {
    let mut complaints = Vec::new();
    let rows = table::rows(architecture, "crate");
    let names: Vec<String> = rows.iter().flat_map(|row| code_words(&row[0])).collect();
    let crates = || members.iter().filter(|member| member.group == "crates");
    for name in names.iter().filter(|name| crates().all(|member| member.name != **name)) {
        complaints.push(format!("`{name}` is in the table of crates but not in crates/"));
    }
    for member in crates() {
        let name = &member.name;
        let Some(row) = rows.iter().find(|row| code_words(&row[0]).contains(name)) else {
            complaints.push(format!("`{name}` is not in the table of crates"));
            continue;
        };
        let allowed: BTreeSet<String> = code_words(&row[2]).into_iter().collect();
        complaints
            .extend(member.members.difference(&allowed).map(|other| format!("`{name}` must not build on `{other}`")));
        complaints
            .extend(allowed.difference(&member.members).map(|other| format!("`{name}` does not build on `{other}`")));
        if never_does_io(row) {
            let found = DOES_IO.iter().filter(|library| member.closure.contains(**library));
            complaints.extend(found.map(|library| format!("`{name}` never does I/O, but is built from `{library}`")));
        }
    }
    for member in members.iter().filter(|member| member.group == "examples") {
        let others = member.members.iter().filter(|other| *other != "reknit");
        complaints.extend(others.map(|other| format!("example `{}` must use `reknit`, not `{other}`", member.name)));
    }
    complaints.extend(unexplained_libraries(architecture, members));
    complaints
}

fn never_does_io(row: &[String]) -> bool {
    row[3].split(',').any(|word| word.trim() == "I/O")
}

/// A new library needs a reason: a row in the table of libraries.
fn unexplained_libraries(architecture: &str, members: &[Member]) -> Vec<String> {
    let named: BTreeSet<String> =
        table::rows(architecture, "library").iter().flat_map(|row| code_words(&row[0])).collect();
    let used: BTreeSet<String> = members.iter().flat_map(|member| member.libraries.clone()).collect();
    let unexplained = used.difference(&named).map(|library| format!("`{library}` is not in the table of libraries"));
    let unused =
        named.difference(&used).map(|library| format!("no crate uses `{library}`, which is in the table of libraries"));
    unexplained.chain(unused).collect()
}

fn architecture() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md can be read")
}

fn members() -> Vec<Member> {
    let members = cargo_metadata::<Metadata>().members();
    assert!(members.len() >= 3, "the list of members is too short to be true");
    members
}

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn dependencies_are_those_of_the_architecture() {
    assert_none(&complaints(&architecture(), &members()));
}

#[test]
fn a_dependency_against_the_architecture_is_named() {
    let architecture = "\
| crate | what | builds on | never |
|---|---|---|---|
| `low` | words | serde | I/O |
| `middle` | thinks | `low` | I/O, a model |
| `gone` | is no more | | |

| library | job |
|---|---|
| `serde`, `unused` | all |
";
    let member = |group: &str, name: &str, members: &[&str], libraries: &[&str], closure: &[&str]| {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Member {
            name: name.to_owned(),
            group: group.to_owned(),
            members: set(members),
            libraries: set(libraries),
            closure: set(closure),
            ..Member::default()
        }
    };
    let members = [
        member("crates", "low", &["middle"], &["serde"], &["serde"]),
        member("crates", "middle", &[], &["helper"], &["helper", "tokio"]),
        member("crates", "unknown", &[], &[], &[]),
        member("examples", "hello", &["reknit", "low"], &[], &[]),
    ];
    insta::assert_snapshot!(complaints(architecture, &members).join("\n"), @"
    `gone` is in the table of crates but not in crates/
    `low` must not build on `middle`
    `middle` does not build on `low`
    `middle` never does I/O, but is built from `tokio`
    `unknown` is not in the table of crates
    example `hello` must use `reknit`, not `low`
    `helper` is not in the table of libraries
    no crate uses `unused`, which is in the table of libraries
    ");
}

#[test]
fn crates_that_never_do_io_use_no_acting_part_of_the_standard_library() {
    let architecture = architecture();
    let rows = table::rows(&architecture, "crate");
    let pure: Vec<String> = rows.iter().filter(|row| never_does_io(row)).flat_map(|row| code_words(&row[0])).collect();
    assert!(pure.contains(&"salvage".to_owned()), "the table of crates no longer says that salvage never does I/O");
    let mut complaints = Vec::new();
    for name in pure {
        for file in source::files(&root().join("crates").join(&name).join("src")) {
            let text = fs::read_to_string(&file).expect("sources are UTF-8");
            complaints.extend(source::acts(&text).iter().map(|what| format!("{} uses {what}", file.display())));
        }
    }
    assert_none(&complaints);
}

/// The crates of the table, in its order.
fn crates() -> Vec<String> {
    table::rows(&architecture(), "crate").iter().flat_map(|row| code_words(&row[0])).collect()
}

#[test]
fn no_two_modules_import_each_other_at_any_depth() {
    let mut cycles = Vec::new();
    for name in crates() {
        for (parent, imports) in modules::imports(&root().join("crates").join(&name).join("src")) {
            if let Some(cycle) = modules::cycle(&imports) {
                let place = [name.as_str(), &parent].join(" ");
                cycles.push(format!("{}: {}", place.trim(), cycle.join(" -> ")));
            }
        }
    }
    assert_none(&cycles);
}

/// The most fields that a struct of the state machines may have. One with more is several things at once.
const MAX_FIELDS: usize = 20;

#[test]
fn no_struct_of_the_engine_has_more_than_twenty_fields() {
    let mut complaints = Vec::new();
    let mut seen = 0;
    for file in source::files(&root().join("crates/engine/src")) {
        let structs = fields::structs(&fs::read_to_string(&file).expect("sources are UTF-8"));
        seen += structs.len();
        let large = structs.into_iter().filter(|(_, fields)| *fields > MAX_FIELDS);
        complaints.extend(large.map(|(name, fields)| format!("`{name}` has {fields} fields: {}", file.display())));
    }
    assert!(seen > 100, "only {seen} structs are found in the engine");
    assert_none(&complaints);
}

#[test]
fn a_public_type_name_has_one_meaning_in_the_whole_workspace() {
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in crates() {
        for file in source::files(&root().join("crates").join(&name).join("src")) {
            let text = fs::read_to_string(&file).expect("sources are UTF-8");
            for type_name in modules::public_types(&text) {
                let path = file.strip_prefix(root()).expect("the file is in the workspace");
                defined.entry(type_name).or_default().push(path.display().to_string());
            }
        }
    }
    let twice = defined.iter().filter(|(_, places)| places.len() > 1);
    assert_none(&twice.map(|(name, places)| format!("`{name}`: {}", places.join(", "))).collect::<Vec<_>>());
}

#[test]
fn numbers_are_not_kept_by_serde_json() {
    // With `arbitrary_precision` a number in a tagged or flattened type is read as a map, in every crate of the build.
    let features = cargo_metadata::<Metadata>().features("serde_json");
    assert!(features.contains("preserve_order"), "the features of serde_json are not found: {features:?}");
    assert!(!features.contains("arbitrary_precision"), "a crate turns on serde_json's `arbitrary_precision`");
}

#[test]
fn members_take_versions_and_lints_from_the_root() {
    let mut complaints = Vec::new();
    for member in members() {
        let text = fs::read_to_string(&member.manifest).expect("manifests can be read");
        // Benchmarks print, and stop where there is nothing to be measured.
        let text = if member.group == "bench" { text + "\n[lints]\nworkspace = true\n" } else { text };
        complaints.extend(manifest::complaints(&text).into_iter().map(|what| format!("{}: {what}", member.name)));
    }
    assert_none(&complaints);
}

#[test]
fn unsafe_code_is_forbidden() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the root manifest can be read");
    let lints = manifest.split_once("\n[workspace.lints.rust]\n").expect("the root has lints").1;
    let lints = lints.split("\n[").next().unwrap_or_default();
    assert!(lints.lines().any(|line| line == r#"unsafe_code = "forbid""#), "found only:\n{lints}");
}
