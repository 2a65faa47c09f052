//! Checks that every dependency has an accepted licence.
#![cfg(test)]

#[path = "workspace/licence.rs"]
mod licence;
#[path = "workspace/metadata.rs"]
mod metadata;

use licence::{Expression, ParseError};
use serde::Deserialize;

/// The accepted licences: permissive ones that only require to keep their notice.
///
/// Licences that apply to other files too (GPL, AGPL, SSPL) are never accepted. MPL-2.0 applies only to its own files and
/// can be added with the first dependency that needs it.
const ACCEPTED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // For data: the root certificates of TLS.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Zlib",
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
}

/// The problems of the licences of these packages, one line each.
fn complaints(packages: &[Package]) -> Vec<String> {
    let complain = |package: &Package| {
        let problem = match package.license.as_deref().map(|licence| (licence, Expression::parse(licence))) {
            None => "it names no licence".to_owned(),
            Some((_, Ok(expression))) if expression.is_satisfied_by(&ACCEPTED) => return None,
            Some((licence, Ok(_))) => format!("we do not accept `{licence}`"),
            Some((licence, Err(ParseError { problem }))) => format!("cannot read the licence `{licence}`: {problem}"),
        };
        Some(format!("{} {}: {problem}", package.name, package.version))
    };
    packages.iter().filter_map(complain).collect()
}

#[test]
fn every_dependency_has_a_licence_we_accept() {
    let metadata: Metadata = metadata::cargo_metadata();
    assert!(metadata.packages.len() > 10, "the list of packages is too short to be true");
    let complaints = complaints(&metadata.packages);
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn a_rejected_missing_or_invalid_licence_is_reported_with_its_package() {
    let package = |name: &str, license: Option<&str>| Package {
        name: name.to_owned(),
        version: "1.2.3".to_owned(),
        license: license.map(str::to_owned),
    };
    let packages = [
        package("good", Some("MIT OR Apache-2.0")),
        package("copyleft", Some("AGPL-3.0-only")),
        package("half", Some("MIT AND GPL-2.0-only")),
        package("silent", None),
        package("garbled", Some("MIT OR")),
    ];
    insta::assert_snapshot!(complaints(&packages).join("\n"), @"
    copyleft 1.2.3: we do not accept `AGPL-3.0-only`
    half 1.2.3: we do not accept `MIT AND GPL-2.0-only`
    silent 1.2.3: it names no licence
    garbled 1.2.3: cannot read the licence `MIT OR`: it ends early
    ");
}

#[test]
fn a_licence_expression_follows_its_operators() {
    for (text, expected) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("MIT AND GPL-3.0-only", false),
        ("MIT AND Zlib", true),
        // AND binds closer than OR.
        ("MIT OR Zlib AND GPL-3.0-only", true),
        ("GPL-3.0-only AND MIT OR Zlib", true),
        ("GPL-3.0-only AND (MIT OR Zlib)", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("((MIT))", true),
        // An exception only adds permissions.
        ("Apache-2.0 WITH LLVM-exception", true),
        ("GPL-2.0-only WITH Classpath-exception-2.0", false),
        // The separator of old manifests.
        ("MIT/Apache-2.0", true),
        ("GPL-3.0-only / MIT", true),
        // Close is not equal.
        ("MIT-1", false),
        ("mit", false),
        ("MIT+", false),
    ] {
        let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.problem));
        assert_eq!(expression.is_satisfied_by(&ACCEPTED), expected, "case: {text}");
    }
}

#[test]
fn a_text_that_is_not_an_expression_is_an_error() {
    let wrong = [
        "",
        "OR",
        "MIT OR",
        "AND MIT",
        "MIT Zlib",
        "(MIT",
        "MIT)",
        "()",
        "MIT WITH",
        "MIT WITH (X)",
        "MIT or Zlib",
        "MIT//Zlib",
    ];
    for text in wrong {
        assert!(Expression::parse(text).is_err(), "case: {text}");
    }
}
