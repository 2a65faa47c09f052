//! Versions, lints and `rust-version` live in the root manifest only.

/// What a member's manifest must say, line by line.
const INHERITED: [&str; 5] = [
    "version.workspace = true",
    "edition.workspace = true",
    "rust-version.workspace = true",
    "license.workspace = true",
    "[lints]\nworkspace = true",
];

/// Libraries are published; examples and benchmarks are not.
const PUBLISHED: [&str; 2] = ["publish.workspace = true", "publish = false"];

/// What is wrong with the manifest of a member.
pub(crate) fn complaints(manifest: &str) -> Vec<String> {
    let has_line = |line: &str| format!("\n{manifest}\n").contains(&format!("\n{line}\n"));
    let unsaid = (!PUBLISHED.into_iter().any(has_line)).then(|| format!("it lacks `{}`", PUBLISHED.join("` or `")));
    let missing = INHERITED
        .into_iter()
        .filter(|line| !has_line(line))
        .map(|line| format!("it lacks `{}`", line.replace('\n', " ")));
    let own_lints = manifest
        .lines()
        .filter(|line| line.starts_with("[lints."))
        .map(|line| format!("it has lints of its own: `{line}`"));
    missing.chain(unsaid).chain(own_lints).chain(own_dependencies(manifest)).collect()
}

/// Dependencies that do not come from the root manifest.
fn own_dependencies(manifest: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut section = "";
    for line in manifest.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
            // `[dependencies.serde]` would hide its lines from the check below.
            if section.contains("dependencies.") {
                complaints.push(format!("write the dependency on one line: `{line}`"));
            }
        } else if section.ends_with("dependencies") && !line.replace(' ', "").contains("workspace=true") {
            complaints.push(format!("take the dependency from the workspace: `{line}`"));
        }
    }
    complaints
}

#[test]
fn a_manifest_that_goes_its_own_way_is_told_how() {
    let manifest = r#"[package]
name = "own-way"
version = "0.2.0"
edition.workspace = true
rust-version = "1.80"
license.workspace = true

[dependencies]
serde.workspace = true
clap = { workspace = true, features = ["wrap_help"] }
regex = "1"

[target.'cfg(unix)'.dependencies]
libc = { version = "0.2" }

[dev-dependencies.insta]
version = "1"

[lints.rust]
unsafe_code = "allow"
"#;
    insta::assert_snapshot!(complaints(manifest).join("\n"), @r#"
    it lacks `version.workspace = true`
    it lacks `rust-version.workspace = true`
    it lacks `[lints] workspace = true`
    it lacks `publish.workspace = true` or `publish = false`
    it has lints of its own: `[lints.rust]`
    take the dependency from the workspace: `regex = "1"`
    take the dependency from the workspace: `libc = { version = "0.2" }`
    write the dependency on one line: `[dev-dependencies.insta]`
    "#);
}
