//! Pipes: closed outputs and interactive use.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

fn start(arguments: &[&str], stdout: Stdio) -> Child {
    Command::new(env!("CARGO_BIN_EXE_reknit"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// The exit status and standard error of the ended process.
fn end(mut child: Child) -> (Option<i32>, String) {
    drop(child.stdin.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[test]
fn a_line_is_answered_before_the_next_one_arrives() {
    let mut child = start(&["repair", "--jsonl"], Stdio::piped());
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 0..3 {
        writeln!(child.stdin.as_mut().unwrap(), r#"{{"id": {id}, "value": {id}}}"#).unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), format!(r#"{{"id":{id},"value":{id},"fixes":[]}}"#));
    }
    assert_eq!(end(child), (Some(0), String::new()));
}

#[test]
fn a_closed_output_is_not_an_error() {
    for arguments in [&["repair"][..], &["repair", "--jsonl"], &["completions", "bash"]] {
        let mut child = start(arguments, Stdio::piped());
        drop(child.stdout.take());
        let input = r#"{"value": 1}"#.to_owned() + "\n";
        // The process may have closed its input already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        assert_eq!(end(child), (Some(0), String::new()), "case: {arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_an_error() {
    for arguments in [&["repair"][..], &["repair", "--jsonl"], &["completions", "bash"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = start(arguments, full.into());
        let _ = child.stdin.take().unwrap().write_all(b"{\"value\": 1}\n");
        let expected = "error: cannot write the output\n  caused by: No space left on device (os error 28)\n";
        assert_eq!(end(child), (Some(2), expected.to_owned()), "case: {arguments:?}");
    }
}
