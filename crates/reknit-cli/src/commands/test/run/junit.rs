//! The results of tests in the XML format of `JUnit`, which CI systems read.

use std::fmt::Write as _;

use reknit_protocol::markup_text;

use super::TestResult;

pub(super) fn junit_report(results: &[TestResult]) -> String {
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
