//! Imports every document below the given files and folders, and prints what was found.
//!
//! `cargo run --release -p reknit-openapi --example import -- [--schemas] [--findings] PATH...`: with `--schemas` every schema of
//! parameters is compiled, with `--findings` every finding is printed.
#![expect(clippy::print_stdout, reason = "it is a program for people")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reknit_openapi::{ApiDocument, ApiDocumentError, FindingKind};
use reknit_salvage::Schema;

#[derive(Default)]
struct Totals {
    documents: usize,
    not_read: usize,
    others: usize,
    operations: usize,
    dropped: usize,
    schemas: usize,
    bad_schemas: usize,
    bytes: usize,
    time: Duration,
    slowest: (Duration, usize, String),
    kinds: BTreeMap<(FindingKind, String), (usize, String)>,
}

fn main() {
    let (options, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let has = |option: &str| options.iter().any(|word| word == option);
    let mut totals = Totals::default();
    for path in paths {
        for file in files(Path::new(&path)) {
            import(&file, has("--schemas"), has("--findings"), &mut totals);
        }
    }
    println!(
        "{} documents with {} operations, {} left out; {} documents not read, {} files of another kind",
        totals.documents, totals.operations, totals.dropped, totals.not_read, totals.others
    );
    println!("{} bytes in {:?}; the slowest: {:?}", totals.bytes, totals.time, totals.slowest);
    println!("{} schemas of parameters compiled, {} failed", totals.schemas, totals.bad_schemas);
    for ((kind, message), (count, place)) in totals.kinds {
        println!("{count:7} {kind:?}: {message}   [{place}]");
    }
}

fn import(file: &Path, compile: bool, print: bool, totals: &mut Totals) {
    let Ok(text) = std::fs::read_to_string(file) else {
        totals.others += 1;
        return;
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut load = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let start = Instant::now();
    let document = ApiDocument::parse_with_files(&text, "", &mut load);
    let time = start.elapsed();
    let document = match document {
        Ok(document) => document,
        Err(ApiDocumentError::Version(_)) => return totals.others += 1,
        Err(ApiDocumentError::Text(error)) => {
            println!("{}: {error}", file.display());
            return totals.not_read += 1;
        }
    };
    totals.documents += 1;
    totals.bytes += text.len();
    totals.time += time;
    totals.operations += document.operations.len();
    if time > totals.slowest.0 {
        totals.slowest = (time, document.operations.len(), file.display().to_string());
    }
    for finding in &document.findings {
        totals.dropped += usize::from(finding.kind == FindingKind::OperationDropped);
        let kind = (finding.kind, without_names(&finding.message));
        let place = || format!("{} {}: {}", file.display(), finding.pointer, finding.message);
        totals.kinds.entry(kind).or_insert_with(|| (0, place())).0 += 1;
        if print {
            println!("{}", place());
        }
    }
    for operation in document.operations.iter().filter(|_| compile) {
        totals.schemas += 1;
        if let Err(error) = Schema::compile(&operation.input_schema()) {
            totals.bad_schemas += 1;
            println!("{} {}: {error}", file.display(), operation.pointer);
        }
    }
}

/// A message without the names in it, to count its kind.
fn without_names(message: &str) -> String {
    let pieces = message.split('`').enumerate().map(|(index, piece)| if index % 2 == 1 { "…" } else { piece });
    pieces.collect::<Vec<_>>().join("`")
}

fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut found: Vec<PathBuf> = entries.flatten().flat_map(|entry| files(&entry.path())).collect();
    found.retain(|file| file.extension().is_some_and(|name| name == "json" || name == "yaml" || name == "yml"));
    found.sort();
    found
}
