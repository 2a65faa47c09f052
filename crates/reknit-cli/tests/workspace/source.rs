//! Source code that must not touch the world.

use std::path::{Path, PathBuf};

/// The parts of the standard library that act, or that depend on more than their arguments.
const ACTING: [&str; 10] = [
    "std::env",
    "std::fs",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::thread::sleep",
];

/// Which of them a source file uses outside its tests and comments.
pub(crate) fn acts(source: &str) -> Vec<&'static str> {
    let code: Vec<&str> = source
        .lines()
        .take_while(|line| line.trim() != "#[cfg(test)]")
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join("\n");
    ACTING.into_iter().filter(|name| code.contains(name)).collect()
}

/// The source files below a folder, without those that hold only tests.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of the sources can be read") {
        let path = entry.expect("its entries can be read").path();
        let only_tests = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !only_tests {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !only_tests {
            files.push(path);
        }
    }
    files
}

#[test]
fn only_code_that_runs_outside_tests_counts() {
    let source = "use std::fs;\n// std::net in a comment\n/// std::env in words\nfn f() { std::process::exit(1) }\n";
    let tests = "#[cfg(test)]\nmod tests {\n    use std::time::Instant;\n}\n";
    assert_eq!(acts(&format!("{source}{tests}")), ["std::fs", "std::process"]);
    assert_eq!(acts("use std::fmt;\n"), Vec::<&str>::new());
}
