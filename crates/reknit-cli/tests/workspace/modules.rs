//! The modules of a crate, and which of them imports which of its neighbours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::source;

/// For each module, the modules beside it that it imports.
pub(crate) type Imports = BTreeMap<String, BTreeSet<String>>;

/// A module, by its path from the root of its crate.
type ModulePath = Vec<String>;

/// The imports of a crate between modules of one parent, by the path of the parent. A module stands for all that is in it.
pub(crate) fn imports(sources: &Path) -> BTreeMap<String, Imports> {
    let mut modules: BTreeMap<ModulePath, String> = BTreeMap::new();
    for file in source::files(sources) {
        let below = file.strip_prefix(sources).expect("the file is below the sources").with_extension("");
        let mut path: ModulePath = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        path.pop_if(|last| ["lib", "main", "mod"].contains(&last.as_str()));
        modules.insert(path, code(&fs::read_to_string(&file).expect("sources are UTF-8")));
    }
    imports_of(&modules)
}

fn imports_of(modules: &BTreeMap<ModulePath, String>) -> BTreeMap<String, Imports> {
    let exported: BTreeMap<ModulePath, ModulePath> =
        modules.iter().flat_map(|(module, code)| exports(module, code, modules)).collect();
    let mut imports: BTreeMap<String, Imports> = BTreeMap::new();
    for (module, code) in modules {
        for mut target in named(module, code, modules) {
            // A name that a module re-exports stands for what it re-exports.
            while let Some((at, origin)) = (1..=target.len()).rev().find_map(|at| {
                let origin = exported.get(&target[..at]).filter(|_| !modules.contains_key(&target[..at]))?;
                Some((at, origin.clone()))
            }) {
                target = origin.into_iter().chain(target.split_off(at)).collect();
            }
            while !modules.contains_key(&target) && target.pop().is_some() {}
            let common = module.iter().zip(&target).take_while(|(own, other)| own == other).count();
            if let (Some(own), Some(other)) = (module.get(common), target.get(common)) {
                let of_parent = imports.entry(module[..common].join("::")).or_default();
                of_parent.entry(own.clone()).or_default().insert(other.clone());
            }
        }
    }
    imports
}

/// The code of a file, without its tests and comments.
fn code(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    lines.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The names that a module re-exports, each with what it stands for.
fn exports(module: &[String], code: &str, modules: &BTreeMap<ModulePath, String>) -> Vec<(ModulePath, ModulePath)> {
    let statements = code.split(';').filter_map(|statement| {
        let (before, path) = statement.rsplit_once("use ")?;
        before.trim_end().rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with("pub")).then_some(path)
    });
    let paths = statements.flat_map(paths).filter_map(|path| absolute(module, path, modules));
    paths.filter_map(|path| Some(([module, &[path.last()?.clone()]].concat(), path))).collect()
}

/// The paths in the same crate that a piece of code names: after `crate`, `super` and `self`, and from its own modules in `use`.
fn named(module: &[String], code: &str, modules: &BTreeMap<ModulePath, String>) -> Vec<ModulePath> {
    let mut found = Vec::new();
    for prefix in ["crate::", "super::", "self::", "use "] {
        for (at, _) in code.match_indices(prefix) {
            let is_own_word = !code[..at].ends_with(|letter: char| letter.is_alphanumeric() || "_:".contains(letter));
            let rest = if prefix == "use " { &code[at + prefix.len()..] } else { &code[at..] };
            let end = rest.find(|letter: char| letter == ';' || !letter.is_alphanumeric() && !"_:".contains(letter));
            let path = match end {
                Some(end) if rest[end..].starts_with('{') => rest.split_once(';').map_or(rest, |(path, _)| path),
                Some(end) => &rest[..end],
                None => rest,
            };
            if is_own_word {
                found.extend(paths(path).into_iter().filter_map(|path| absolute(module, path, modules)));
            }
        }
    }
    found
}

/// The paths in `a::{b, c::d}`: `a::b` and `a::c::d`.
fn paths(path: &str) -> Vec<ModulePath> {
    let Some((prefix, group)) = path.split_once('{') else {
        let path: ModulePath = words(path.split(" as ").next().unwrap_or_default()).map(str::to_owned).collect();
        return if path.is_empty() { Vec::new() } else { vec![path] };
    };
    let prefix: ModulePath = words(prefix).map(str::to_owned).collect();
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.extend(paths(&group[start..at]).into_iter().map(|path| [prefix.clone(), path].concat()));
                start = at + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

/// A path that a module names, from the root of the crate. `None` if it belongs to another crate.
fn absolute(module: &[String], mut path: ModulePath, modules: &BTreeMap<ModulePath, String>) -> Option<ModulePath> {
    let first = path.first()?.clone();
    match first.as_str() {
        "crate" => Some(path.split_off(1)),
        "self" => Some([module, &path[1..]].concat()),
        "super" => {
            let up = path.iter().take_while(|part| *part == "super").count();
            Some([module.get(..module.len().checked_sub(up)?)?, &path[up..]].concat())
        }
        _ => modules.contains_key(&[module, &[first]].concat()).then(|| [module, &path].concat()),
    }
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
fn a_cycle_of_imports_is_found_at_every_depth_through_groups_and_re_exports() {
    let cycles = |modules: &[(&str, &str)]| {
        let path = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let modules = modules.iter().map(|(name, code)| (path(name), (*code).to_owned())).collect();
        let found = imports_of(&modules).into_iter().filter_map(|(parent, imports)| Some((parent, cycle(&imports)?)));
        found.map(|(parent, cycle)| format!("{parent}: {}", cycle.join(" "))).collect::<Vec<_>>()
    };
    let root = ("", "pub use b::{Thing, other};");
    assert_eq!(cycles(&[root, ("a", "use crate::{b::x, Thing};"), ("b", "use other_crate::a;")]), [""; 0]);
    assert_eq!(cycles(&[root, ("a", "use crate::Thing;"), ("b", "let y = crate::a::z();")]), [": a b"]);
    let nested = [root, ("a", "use self::c::X;"), ("a::c", "use super::d::{e::Y, Z};"), ("a::d", "use super::X;")];
    assert_eq!(cycles(&nested), [""; 0]);
    let nested = [root, ("a", "pub(super) use c::X;"), ("a::c", "use super::d::{e::Y, Z};"), ("a::d", "use super::X;")];
    assert_eq!(cycles(&nested), ["a: c d"]);
}

#[test]
fn only_public_types_outside_of_tests_are_listed() {
    let text =
        "pub struct A;\nstruct B;\npub(crate) enum C {}\npub enum D<T> {}\n#[cfg(test)]\nmod tests { pub struct E; }\n";
    assert_eq!(public_types(text), ["A", "D"]);
}
