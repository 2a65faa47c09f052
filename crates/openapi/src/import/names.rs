//! Names of capabilities and of their parameters.

use std::collections::{HashMap, HashSet};

use super::path_items::Site;
use crate::finding::Findings;

/// The longest name that all model providers accept.
const MAX_NAME: usize = 64;

#[derive(Default)]
pub(super) struct OperationNames {
    used: HashSet<String>,
    /// The last number that was tried for a name.
    counts: HashMap<String, usize>,
}

impl OperationNames {
    /// One name for each operation. Ids come first, so that a name made from a path never takes the name of an id.
    pub(super) fn choose(sites: &[Site<'_>], findings: &Findings<'_>) -> Vec<String> {
        let mut names = Self::default();
        let mut ids: HashSet<&str> = HashSet::new();
        let mut chosen: Vec<Option<String>> = Vec::with_capacity(sites.len());
        for site in sites {
            let id = site.node.text("operationId").filter(|id| !safe(id).is_empty());
            if site.node.value.get("operationId").is_some() && id.is_none() {
                let message = "the `operationId` cannot be a name; the method and the path are used";
                findings.problem(&site.node, message);
            }
            let name = id.map(|id| names.unique(&safe(id)));
            if let (Some(id), Some(name)) = (id, &name)
                && !ids.insert(id)
            {
                let message = format!("the operation id `{id}` exists twice; this operation is called `{name}`");
                findings.problem(&site.node, message);
            }
            chosen.push(name);
        }
        let from_path = |site: &Site<'_>| safe(&format!("{}_{}", site.method, site.path));
        let name = |(name, site): (Option<String>, &Site<'_>)| name.unwrap_or_else(|| names.unique(&from_path(site)));
        chosen.into_iter().zip(sites).map(name).collect()
    }

    fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        while !self.used.insert(candidate.clone()) {
            let count = self.counts.entry(name.to_owned()).or_insert(1);
            *count += 1;
            let suffix = format!("_{count}");
            let kept: String = name.chars().take(MAX_NAME.saturating_sub(suffix.len())).collect();
            candidate = kept + &suffix;
        }
        candidate
    }
}

/// Letters, digits, `-` and single `_`.
fn safe(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    name.chars().take(MAX_NAME).collect::<String>().trim_end_matches('_').to_owned()
}

/// The names of parameters, given their names in the request and where they go. A name that exists once is kept. All others get
/// a suffix that says where the parameter goes.
pub(super) fn parameter_names(wire_names: &[(String, &str)]) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (name, _) in wire_names {
        *counts.entry(name).or_default() += 1;
    }
    let is_single = |name: &str| counts.get(name) == Some(&1);
    let mut used: HashSet<String> =
        wire_names.iter().filter(|(name, _)| is_single(name)).map(|(name, _)| name.clone()).collect();
    let mut chosen = Vec::with_capacity(wire_names.len());
    for (name, location) in wire_names {
        if is_single(name) {
            chosen.push(name.clone());
            continue;
        }
        let base = format!("{name}_{location}");
        let mut candidate = base.clone();
        let mut count = 1;
        while !used.insert(candidate.clone()) {
            count += 1;
            candidate = format!("{base}_{count}");
        }
        chosen.push(candidate);
    }
    chosen
}
