//! Who depends on whom.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;

/// The part of `cargo metadata` that the rules read.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
    features: Vec<String>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// `None` for a normal dependency, else `dev` or `build`.
    kind: Option<String>,
}

impl Dependency {
    fn is_normal(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}

/// One package of the workspace, named by its folder.
#[derive(Debug, Default)]
pub(crate) struct Member {
    /// `protocol`.
    pub(crate) name: String,
    /// `crates`, `examples` or `bench`.
    pub(crate) group: String,
    /// Where its `Cargo.toml` is.
    pub(crate) manifest: PathBuf,
    /// The members it builds on; what only its tests use does not count.
    pub(crate) members: BTreeSet<String>,
    /// The packages from elsewhere that it names, also for its tests.
    pub(crate) libraries: BTreeSet<String>,
    /// Every package that it is built from.
    pub(crate) closure: BTreeSet<String>,
}

impl Metadata {
    /// The packages of the workspace.
    pub(crate) fn members(&self) -> Vec<Member> {
        let packages: BTreeMap<&str, &Package> = self.packages.iter().map(|each| (each.id.as_str(), each)).collect();
        let nodes: BTreeMap<&str, &Node> = self.resolve.nodes.iter().map(|each| (each.id.as_str(), each)).collect();
        self.workspace_members.iter().map(|id| self.member(id, &packages, &nodes)).collect()
    }

    fn member(&self, id: &str, packages: &BTreeMap<&str, &Package>, nodes: &BTreeMap<&str, &Node>) -> Member {
        let manifest = packages[id].manifest_path.clone();
        let (group, name) = folder(&manifest);
        let mut member = Member { name, group, manifest, ..Member::default() };
        for dependency in &nodes[id].deps {
            let package = packages[dependency.pkg.as_str()];
            if !self.workspace_members.contains(&package.id) {
                member.libraries.insert(package.name.clone());
            } else if dependency.is_normal() {
                member.members.insert(folder(&package.manifest_path).1);
            }
        }
        let mut open = vec![id];
        let mut seen = BTreeSet::new();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                member.closure.insert(packages[next].name.clone());
                open.extend(nodes[next].deps.iter().filter(|each| each.is_normal()).map(|each| each.pkg.as_str()));
            }
        }
        member
    }

    /// The features that are on for any version of a package.
    pub(crate) fn features(&self, package: &str) -> BTreeSet<String> {
        let ids: BTreeSet<&str> =
            self.packages.iter().filter(|each| each.name == package).map(|each| each.id.as_str()).collect();
        self.resolve
            .nodes
            .iter()
            .filter(|node| ids.contains(node.id.as_str()))
            .flat_map(|node| node.features.clone())
            .collect()
    }
}

/// The names of a manifest's folder and of the one above it: `("crates", "protocol")`.
fn folder(manifest: &std::path::Path) -> (String, String) {
    let mut names = manifest.iter().rev().skip(1).map(|name| name.to_string_lossy().into_owned());
    let name = names.next().unwrap_or_default();
    (names.next().unwrap_or_default(), name)
}
