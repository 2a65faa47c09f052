//! The top-level modules of a crate, and which of them imports which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::source;

/// For each top-level module of a crate, the top-level modules that it imports.
pub(crate) type Imports = BTreeMap<String, BTreeSet<String>>;

/// Reads the imports of a crate from its sources.
pub(crate) fn imports(sources: &Path) -> Imports {
    let exported: BTreeMap<String, String> = ["lib.rs", "main.rs"]
        .iter()
        .filter_map(|root| fs::read_to_string(sources.join(root)).ok())
        .flat_map(|root| exports(&root))
        .collect();
    let mut imports = Imports::new();
    for file in source::files(sources) {
        let below = file.strip_prefix(sources).expect("the file is below the sources");
        let Some(module) = below.components().next().and_then(|part| Path::new(part.as_os_str()).file_stem()) else {
            continue;
        };
        let module = module.to_string_lossy().into_owned();
        if module != "lib" && module != "main" {
            let text = fs::read_to_string(&file).expect("sources are UTF-8");
            imports.entry(module).or_default().extend(used(&code(&text), &exported));
        }
    }
    let known: BTreeSet<String> = imports.keys().cloned().collect();
    for (module, used) in &mut imports {
        used.retain(|other| known.contains(other) && other != module);
    }
    imports
}

/// The code of a file, without its tests and comments.
fn code(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    lines.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The names that the root of a crate re-exports, with the module that each comes from.
fn exports(root: &str) -> Vec<(String, String)> {
    let code = code(root);
    let statements = code.split(';').filter_map(|statement| statement.split_once("use ").map(|(_, path)| path.trim()));
    statements
        .filter_map(|path| path.split_once("::"))
        .flat_map(|(module, names)| {
            let module = module.trim_start_matches("crate::").to_owned();
            words(names).map(move |name| (name.to_owned(), module.clone())).collect::<Vec<_>>()
        })
        .collect()
}

/// The modules that a piece of code names after `crate::`.
fn used(code: &str, exported: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for (at, prefix) in code.match_indices("crate::") {
        let is_own_crate = !code[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let rest = &code[at + prefix.len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(group) => first_names(group.split_once("};").map_or(group, |(group, _)| group)),
            None => words(rest).take(1).collect(),
        };
        for name in names.into_iter().filter(|_| is_own_crate) {
            modules.insert(exported.get(name).map_or(name, String::as_str).to_owned());
        }
    }
    modules
}

/// The first name of each path in a group such as `a::{b, c}, d`.
fn first_names(group: &str) -> Vec<&str> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.extend(words(&group[start..at]).next());
                start = at + 1;
            }
            _ => {}
        }
    }
    names.extend(words(&group[start..]).next());
    names
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

/// A cycle of imports, if there is one: each module imports the next, and the last imports the first.
pub(crate) fn cycle(imports: &Imports) -> Option<Vec<String>> {
    imports.keys().find_map(|start| {
        let mut path = vec![start.clone()];
        let mut visited = BTreeSet::new();
        leads_back(imports, start, &mut path, &mut visited).then_some(path)
    })
}

fn leads_back(imports: &Imports, start: &str, path: &mut Vec<String>, visited: &mut BTreeSet<String>) -> bool {
    let current = path.last().expect("a path begins somewhere").clone();
    for next in imports.get(&current).into_iter().flatten() {
        if next == start {
            return true;
        }
        if visited.insert(next.clone()) {
            path.push(next.clone());
            if leads_back(imports, start, path, visited) {
                return true;
            }
            path.pop();
        }
    }
    false
}

/// The public types that a file defines.
pub(crate) fn public_types(text: &str) -> Vec<String> {
    let code = code(text);
    let definition = |line: &str| {
        let rest = line.strip_prefix("pub ")?;
        let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|keyword| rest.strip_prefix(keyword))?;
        words(rest).next().map(str::to_owned)
    };
    code.lines().filter_map(definition).collect()
}

#[test]
fn a_cycle_of_imports_is_found_through_groups_and_re_exports() {
    let exported = exports("mod a;\nmod b;\npub use b::{Thing, other};\npub use c::Single;\n").into_iter().collect();
    assert_eq!(used("use crate::{a::x, Thing};\nlet y = crate::c::z();", &exported).len(), 3);
    assert_eq!(used("use reknit_crate::a;\nuse other_crate::b;", &exported), BTreeSet::new());
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut imports =
        Imports::from([("a".to_owned(), set(&["b"])), ("b".to_owned(), set(&["c"])), ("c".to_owned(), set(&[]))]);
    assert_eq!(cycle(&imports), None);
    imports.insert("c".to_owned(), set(&["a"]));
    assert_eq!(cycle(&imports).map(|cycle| cycle.join(" ")).as_deref(), Some("a b c"));
}

#[test]
fn only_public_types_outside_of_tests_are_listed() {
    let text =
        "pub struct A;\nstruct B;\npub(crate) enum C {}\npub enum D<T> {}\n#[cfg(test)]\nmod tests { pub struct E; }\n";
    assert_eq!(public_types(text), ["A", "D"]);
}
