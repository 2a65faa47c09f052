//! The agents in `examples/agents` have recorded tests, and faults at every step of them are mended, reported or open.

use std::path::PathBuf;

use reknit_recorded_tests::{ChaosVerdict, Expectations, ModelMatch, TestFile, run_chaos};

use crate::examples::{examples, read, silent_cases};

const AGENTS: [&str; 2] = ["clerk", "refunds"];

fn folder() -> PathBuf {
    examples().join("agents/tests")
}

#[test]
fn the_recorded_tests_of_the_agents_pass() {
    for name in AGENTS {
        let path = folder().join(format!("{name}.yaml"));
        if std::env::var_os("REKNIT_RECORD_EXAMPLES").is_some() {
            record(&path);
        }
        let file = read(&path);
        let run = file.run(&folder()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(file.mismatches(&run), [], "{name}");
    }
}

/// Writes the digests of the prompts and what the run does into a test whose answers a person wrote.
fn record(path: &std::path::Path) {
    let mut file: TestFile = read(path);
    let run = file.run_with_any_prompt(&folder()).expect("it runs");
    assert_eq!((run.unexpected.as_slice(), run.unused.as_slice()), (&[][..], &[][..]));
    for (recording, digest) in file.models.iter_mut().zip(run.digests) {
        (recording.digest, recording.matching) = (digest, ModelMatch::Digest);
    }
    file.expect = Expectations::proposed(&run.facts);
    std::fs::write(path, file.write()).expect("the test can be written");
}

#[test]
fn no_fault_makes_an_agent_wrong_and_silent() {
    for name in AGENTS {
        let file = read(&folder().join(format!("{name}.yaml")));
        let report = run_chaos(&file, &folder(), 1).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(silent_cases(&report), Vec::<String>::new(), "{name}");
        assert!(report.count(ChaosVerdict::Mended) > report.outcomes.len() / 2, "{name}:\n{}", report.table());
    }
}
