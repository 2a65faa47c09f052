//! `reknit test`: runs recorded tests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, ValueHint};
use reknit_protocol::{Value, error_chain, markup_text};
use reknit_recorded_tests::{Mismatch, TestFile, in_parallel, updated_text};

use crate::output::{
    DiffLines, Failure, Input, Questions, count, escape_controls, line_diff, print_data, print_message,
};

#[derive(Debug, Args)]
pub(crate) struct RunTestsArguments {
    /// Test files, and folders with test files [default: tests]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// Show how the expectations of failed tests would have to change, and write them after a confirmation
    #[arg(long, conflicts_with_all = ["json", "junit"])]
    update: bool,
    /// Write without a confirmation
    #[arg(long, requires = "update")]
    yes: bool,
    /// Also write the results to a file in the format of `JUnit`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The folder whose tests run if none is named.
const DEFAULT_FOLDER: &str = "tests";

const MAX_BYTES: usize = 64 << 20;

/// What became of a test.
#[derive(Debug)]
pub(crate) struct TestResult {
    pub(crate) path: PathBuf,
    pub(crate) took: Duration,
    /// Why it is no test, one line for each problem.
    pub(crate) problems: Vec<String>,
    pub(crate) mismatches: Vec<Mismatch>,
}

impl TestResult {
    pub(crate) fn has_passed(&self) -> bool {
        self.problems.is_empty() && self.mismatches.is_empty()
    }
}

pub(crate) fn run(arguments: &RunTestsArguments) -> Result<ExitCode, Failure> {
    let paths = test_paths(&arguments.paths)?;
    if arguments.update {
        return update(&paths, arguments.yes);
    }
    let results = in_parallel(&paths, |path| run_one(path));
    if let Some(path) = &arguments.junit {
        std::fs::write(path, junit_report(&results)).map_err(Failure::cannot_write(path))?;
    }
    if arguments.json {
        print_data(&format!("{}\n", results_json(&results)))?;
    } else {
        print_data(&escape_controls(&results_text(&results)))?;
    }
    Ok(exit_code(&results))
}

fn exit_code(results: &[TestResult]) -> ExitCode {
    if results.iter().any(|result| !result.problems.is_empty()) {
        ExitCode::from(2)
    } else if results.iter().all(TestResult::has_passed) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The files that are named, and the test files in the folders that are named, in the order of their names.
fn test_paths(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let default = [PathBuf::from(DEFAULT_FOLDER)];
    let named = if named.is_empty() { &default[..] } else { named };
    let hint = "make a test of a run: `reknit test record last -o tests/first.yaml`";
    let mut paths = Vec::new();
    for path in named {
        if path.is_dir() {
            let mut found = Vec::new();
            add_tests(path, &mut found)?;
            found.sort();
            paths.extend(found);
        } else if path.is_file() {
            paths.push(path.clone());
        } else {
            return Err(Failure::usage(format!("there is no file or folder `{}`", path.display()), hint));
        }
    }
    if paths.is_empty() {
        let folders: Vec<String> = named.iter().map(|path| format!("`{}`", path.display())).collect();
        return Err(Failure::usage(format!("there are no tests in {}", folders.join(", ")), hint));
    }
    Ok(paths)
}

/// Adds the YAML files in a folder, and in those inside of it, that expect something. Others may be plans.
fn add_tests(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let cannot_read = |source| Failure::Input { input: Input::File(folder.to_owned()), source };
    for entry in std::fs::read_dir(folder).map_err(cannot_read)? {
        let path = entry.map_err(cannot_read)?.path();
        if path.is_dir() {
            add_tests(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "yaml" || end == "yml") {
            let text = Input::File(path.clone()).read_regular_up_to(MAX_BYTES)?;
            let is_test = ["expect:", "\"expect\":", "'expect':"];
            if text.lines().any(|line| is_test.iter().any(|key| line.starts_with(key))) {
                found.push(path);
            }
        }
    }
    Ok(())
}

fn run_one(path: &Path) -> TestResult {
    let started = Instant::now();
    let result =
        |problems, mismatches| TestResult { path: path.to_owned(), took: started.elapsed(), problems, mismatches };
    let (_, file) = match read_test(path) {
        Ok(read) => read,
        Err(problems) => return result(problems, Vec::new()),
    };
    match file.run(folder_of(path)) {
        Ok(run) => result(Vec::new(), file.mismatches(&run)),
        Err(error) => result(error.0, Vec::new()),
    }
}

/// The text and the test in a file, or what is wrong with it.
pub(crate) fn read_test(path: &Path) -> Result<(String, TestFile), Vec<String>> {
    let text = Input::File(path.to_owned()).read_regular_up_to(MAX_BYTES);
    let text = text.map_err(|failure| vec![error_chain(&failure)])?;
    match TestFile::read(&text) {
        Ok(file) => Ok((text, file)),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
    }
}

/// The folder to which the paths in a test are relative.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn results_text(results: &[TestResult]) -> String {
    let mut text = String::new();
    for result in results {
        let (path, ms) = (result.path.display(), result.took.as_millis());
        let _ = if result.has_passed() {
            writeln!(text, "ok    {path} ({ms} ms)")
        } else if result.problems.is_empty() {
            writeln!(text, "FAIL  {path} ({ms} ms)")
        } else {
            writeln!(text, "FAIL  {path}: it cannot be run as a test")
        };
        for problem in &result.problems {
            let _ = writeln!(text, "  {}", problem.replace('\n', "\n  "));
        }
        for mismatch in &result.mismatches {
            let _ = writeln!(text, "  {mismatch}");
        }
    }
    let passed = results.iter().filter(|result| result.has_passed()).count();
    let (tests, failed) = (count(results.len(), "test"), results.len() - passed);
    let _ = writeln!(text, "{tests}: {passed} passed, {failed} failed");
    text
}

fn results_json(results: &[TestResult]) -> Value {
    let passed = results.iter().filter(|result| result.has_passed()).count();
    let tests = results.iter().map(|result| {
        let mismatches = result.mismatches.iter().map(|mismatch| {
            let texts = [("what", &mismatch.what), ("expected", &mismatch.expected), ("actual", &mismatch.actual)];
            Value::from(texts.map(|(key, text)| (key, Value::from(text.as_str()))))
        });
        let problems = result.problems.iter().map(|problem| Value::from(problem.as_str()));
        Value::from([
            ("file", Value::from(result.path.display().to_string())),
            ("passed", result.has_passed().into()),
            ("took_ms", u64::try_from(result.took.as_millis()).unwrap_or(u64::MAX).into()),
            ("mismatches", mismatches.collect()),
            ("problems", problems.collect()),
        ])
    });
    let (passed, failed) = (Value::from(passed), (results.len() - passed).into());
    Value::from([("passed", passed), ("failed", failed), ("tests", tests.collect())])
}

/// Shows how each failed test would have to change, and writes it if a person agrees.
fn update(paths: &[PathBuf], yes: bool) -> Result<ExitCode, Failure> {
    let questions = Questions::new(yes);
    let mut is_current = true;
    for path in paths {
        let name = path.display();
        let broken = |problems: Vec<String>| Failure::Plan { problems, hint: Some(format!("mend `{name}`")) };
        let (text, file) = read_test(path).map_err(broken)?;
        let run = file.run(folder_of(path)).map_err(|error| broken(error.0))?;
        if file.mismatches(&run).is_empty() {
            continue;
        }
        let run = file.run_with_any_prompt(folder_of(path)).map_err(|error| broken(error.0))?;
        let new = match updated_text(&text, &file, &run) {
            Ok(new) => new,
            Err(error) => {
                print_message(&format!("{name}: {error}\n"));
                for mismatch in file.mismatches(&run) {
                    print_message(&escape_controls(&format!("  {mismatch}\n")));
                }
                is_current = false;
                continue;
            }
        };
        print_data(&escape_controls(&format!("{name}\n{}", line_diff(&text, &new, DiffLines::Changed))))?;
        if questions.confirm(&format!("Write `{name}`?"), "add `--yes` to write without a confirmation")? {
            std::fs::write(path, new).map_err(Failure::cannot_write(path))?;
            print_message(&format!("wrote {name}\n"));
        } else {
            is_current = false;
        }
    }
    Ok(if is_current { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn junit_report(results: &[TestResult]) -> String {
    let failures = results.iter().filter(|result| result.problems.is_empty() && !result.mismatches.is_empty()).count();
    let errors = results.iter().filter(|result| !result.problems.is_empty()).count();
    let seconds: f64 = results.iter().map(|result| result.took.as_secs_f64()).sum();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites>\n  <testsuite name=\"reknit\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\">",
        results.len()
    );
    for result in results {
        let name = markup_text(&result.path.display().to_string());
        let _ = write!(
            text,
            "    <testcase classname=\"reknit\" name=\"{name}\" time=\"{:.3}\"",
            result.took.as_secs_f64()
        );
        let (element, lines): (&str, Vec<String>) = if result.problems.is_empty() {
            ("failure", result.mismatches.iter().map(ToString::to_string).collect())
        } else {
            ("error", result.problems.clone())
        };
        match lines.first() {
            None => text.push_str("/>\n"),
            Some(first) => {
                let message = markup_text(first.lines().next().unwrap_or_default());
                let body = markup_text(&lines.join("\n"));
                let _ = writeln!(text, ">\n      <{element} message=\"{message}\">{body}</{element}>\n    </testcase>");
            }
        }
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn passed_failed_and_broken_tests_are_told_apart() {
        let result = |path: &str, problems: &[&str]| TestResult {
            path: path.into(),
            took: Duration::from_millis(12),
            problems: problems.iter().map(|problem| (*problem).to_owned()).collect(),
            mismatches: Vec::new(),
        };
        insta::assert_snapshot!(junit_report(&[result("a.yaml", &[]), result("b<.yaml", &["line 1: `x` & \u{1}"])]), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
          <testsuite name="reknit" tests="2" failures="0" errors="1" time="0.024">
            <testcase classname="reknit" name="a.yaml" time="0.012"/>
            <testcase classname="reknit" name="b&lt;.yaml" time="0.012">
              <error message="line 1: `x` &amp; �">line 1: `x` &amp; �</error>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }
}
