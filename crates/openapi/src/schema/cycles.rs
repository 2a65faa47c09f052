//! Definitions that refer to themselves for the same value.
//!
//! A tree whose children are trees is a cycle that every value ends. A schema that is "all of itself" is not: a validator
//! would never return. Unions on such a cycle are removed first, as in a parent that lists its children, each of which is all of
//! its parent. Then the references that still close a cycle are removed. Both only make a schema accept more.

use std::collections::{HashMap, HashSet};

use reknit_protocol::Value;

use super::definitions::{Definition, definition_name};
use crate::finding::Findings;

/// Removes what makes definitions refer to themselves for the same value, and reports it.
pub(super) fn cut(definitions: &mut HashMap<String, Definition>, findings: &Findings<'_>) {
    let graph = Graph::new(definitions);
    if graph.closing_edges().is_empty() {
        return;
    }
    for group in graph.cyclic_groups() {
        for name in &group {
            let Some(definition) = definitions.get_mut(name) else { continue };
            if remove_unions(&mut definition.schema, &group) {
                let message =
                    "an alternative refers back to the schema for the same value; the alternatives are left out";
                findings.note_at(definition.place.clone(), message);
            }
        }
    }
    for (name, target) in Graph::new(definitions).closing_edges() {
        if let Some(definition) = definitions.get_mut(&name) {
            remove_reference(&mut definition.schema, &target);
            let message =
                format!("the schema refers to itself for the same value; the reference to `{target}` is left out");
            findings.note_at(definition.place.clone(), message);
        }
    }
}

/// Which definitions apply to the same value as which others.
struct Graph {
    /// Sorted, so that the result does not depend on chance.
    names: Vec<String>,
    targets: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    New,
    Open,
    Done,
}

impl Graph {
    fn new(definitions: &HashMap<String, Definition>) -> Self {
        let mut names: Vec<String> = definitions.keys().cloned().collect();
        names.sort();
        let index: HashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let targets = names.iter().map(|name| {
            let mut found = Vec::new();
            if let Some(definition) = definitions.get(name) {
                in_place(&definition.schema, &mut found);
            }
            found.iter().filter_map(|name| index.get(name).copied()).collect()
        });
        let targets = targets.collect();
        Self { names, targets }
    }

    fn name(&self, node: usize) -> String {
        self.names.get(node).cloned().unwrap_or_default()
    }

    /// The edges that lead back to a definition that is being visited.
    fn closing_edges(&self) -> Vec<(String, String)> {
        let mut closing = Vec::new();
        walk(&self.targets, 0..self.names.len(), |from, to| closing.push((self.name(from), self.name(to))));
        closing
    }

    /// The groups of definitions that all lead to each other: Kosaraju's algorithm.
    fn cyclic_groups(&self) -> Vec<HashSet<String>> {
        let finished: Vec<usize> = walk(&self.targets, 0..self.names.len(), |_, _| {}).into_iter().flatten().collect();
        let mut sources = vec![Vec::new(); self.names.len()];
        for (node, targets) in self.targets.iter().enumerate() {
            for target in targets {
                if let Some(list) = sources.get_mut(*target) {
                    list.push(node);
                }
            }
        }
        let groups = walk(&sources, finished.into_iter().rev(), |_, _| {});
        groups.into_iter().map(|group| group.into_iter().map(|node| self.name(node)).collect()).collect()
    }
}

/// Visits everything that can be reached from each start. Returns, for each start that was new, the nodes in the order in which
/// they were finished.
fn walk(
    targets: &[Vec<usize>],
    starts: impl Iterator<Item = usize>,
    mut on_closing: impl FnMut(usize, usize),
) -> Vec<Vec<usize>> {
    let mut visits = vec![Visit::New; targets.len()];
    let mut set = |node: usize, visit: Option<Visit>| {
        let Some(slot) = visits.get_mut(node) else { return Visit::Done };
        let before = *slot;
        *slot = visit.unwrap_or(before);
        before
    };
    let mut groups = Vec::new();
    for start in starts {
        if set(start, None) != Visit::New {
            continue;
        }
        set(start, Some(Visit::Open));
        let (mut stack, mut finished) = (vec![(start, 0)], Vec::new());
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            let target = targets.get(node).and_then(|targets| targets.get(*next)).copied();
            *next += 1;
            match target.map(|target| (target, set(target, None))) {
                None => {
                    set(node, Some(Visit::Done));
                    finished.push(node);
                    stack.pop();
                }
                Some((target, Visit::New)) => {
                    set(target, Some(Visit::Open));
                    stack.push((target, 0));
                }
                Some((target, Visit::Open)) => on_closing(node, target),
                Some((_, Visit::Done)) => {}
            }
        }
        groups.push(finished);
    }
    groups
}

/// Keywords whose schemas apply to the same value, but not always.
const UNIONS: [&str; 7] = ["anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/// The definitions that apply to the same value as the schema.
fn in_place<'a>(schema: &'a Value, targets: &mut Vec<&'a str>) {
    let Value::Object(object) = schema else { return };
    for (keyword, member) in object {
        match (keyword, member) {
            ("$ref", _) => targets.extend(definition_name(keyword, member)),
            ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => items.iter().for_each(|item| in_place(item, targets)),
            ("not" | "if" | "then" | "else", _) => in_place(member, targets),
            ("dependentSchemas", Value::Object(map)) => map.values().for_each(|item| in_place(item, targets)),
            _ => {}
        }
    }
}

/// Removes the unions that lead to a group. Returns whether there was one.
fn remove_unions(schema: &mut Value, group: &HashSet<String>) -> bool {
    let Value::Object(object) = schema else { return false };
    let mut found = Vec::new();
    for keyword in UNIONS {
        let mut targets = Vec::new();
        if let Some(member) = object.get(keyword) {
            match member {
                Value::Array(items) => items.iter().for_each(|item| in_place(item, &mut targets)),
                Value::Object(map) if keyword == "dependentSchemas" => {
                    map.values().for_each(|item| in_place(item, &mut targets));
                }
                _ => in_place(member, &mut targets),
            }
        }
        if targets.into_iter().any(|target| group.contains(target)) {
            // Without its condition, or without one of its branches, the rest would mean something else.
            let is_condition = matches!(keyword, "if" | "then" | "else");
            found.extend(if is_condition { ["if", "then", "else"].as_slice() } else { &[] });
            found.push(keyword);
        }
    }
    for keyword in &found {
        object.remove(keyword);
    }
    let mut changed = !found.is_empty();
    if let Some(Value::Array(items)) = object.get_mut("allOf") {
        for item in items {
            changed |= remove_unions(item, group);
        }
    }
    changed
}

/// Removes the references to a definition.
fn remove_reference(schema: &mut Value, target: &str) {
    let Value::Object(object) = schema else { return };
    if object.get("$ref").and_then(|reference| definition_name("$ref", reference)) == Some(target) {
        object.remove("$ref");
    }
    if let Some(Value::Array(items)) = object.get_mut("allOf") {
        for item in items {
            remove_reference(item, target);
        }
    }
}
