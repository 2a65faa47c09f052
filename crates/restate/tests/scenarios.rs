//! The recorded tests of this project on both engines: the same file leads to the same events, whichever engine drives the run.
//!
//! Needs a Restate server: `bench/restate/run --only files` starts one, and names it in `RESTATE_ADMIN` and `RESTATE_INGRESS`.
#![cfg(test)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reknit_engine::Event;
use reknit_journal::{DueEffect, StoredEvent};
use reknit_protocol::RunId;
use reknit_recorded_tests::{Mismatch, PlayedRun, TestFile, TestRun};
use reknit_restate::{FileBlobs, RestateClient, Worker};
use reknit_runtime::{BoxFuture, EffectRunner, RemoteEngine, RemoteError, RemoteEvent};
use serde_json::Value;

/// The server knows the runs of a test under another name: all tests call theirs the same.
#[derive(Debug)]
struct Renamed {
    client: RestateClient,
    prefix: String,
}

impl Renamed {
    fn name(&self, run: &RunId) -> RunId {
        RunId::new(format!("{}-{run}", self.prefix))
    }
}

impl RemoteEngine for Renamed {
    fn begin<'a>(&'a self, run: &'a RunId, first: &'a str) -> BoxFuture<'a, Result<Vec<RemoteEvent>, RemoteError>> {
        Box::pin(async move { self.client.begin(&self.name(run), first).await })
    }

    fn events<'a>(&'a self, run: &'a RunId, from: u64) -> BoxFuture<'a, Result<Vec<RemoteEvent>, RemoteError>> {
        Box::pin(async move { self.client.events(&self.name(run), from).await })
    }

    fn send<'a>(&'a self, run: &'a RunId, id: &'a str, event: &'a Event) -> BoxFuture<'a, Result<u64, RemoteError>> {
        Box::pin(async move { self.client.send(&self.name(run), id, event).await })
    }
}

struct Server {
    admin: RestateClient,
    ingress: RestateClient,
    blobs: tempfile::TempDir,
}

impl Server {
    /// A worker in this process with the tools of a test, and the engine for its runs.
    async fn engine(&self, prefix: &str, runner: EffectRunner) -> Arc<dyn RemoteEngine> {
        let blobs = Arc::new(FileBlobs::open(self.blobs.path()).unwrap());
        let worker = Worker::new(runner, blobs, &[]).unwrap();
        let listener = Worker::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(worker.serve(listener, std::future::pending()));
        self.admin.register(&address).await.unwrap();
        Arc::new(Renamed { client: self.ingress.clone(), prefix: prefix.to_owned() })
    }
}

/// What must be equal: events without their times, and with what contains a time left out.
fn record(event: &StoredEvent) -> Option<String> {
    let body: Value = serde_json::from_str(&event.body).unwrap();
    // The embedded engine gives a run back while it waits for a person, and writes this when it takes it over again.
    if body["kind"] == "resumed" {
        return None;
    }
    Some(without_times(body).to_string())
}

fn without_times(value: Value) -> Value {
    let is_kept = |key: &str| !key.ends_with("_ms") && !["hash", "engine"].contains(&key);
    match value {
        Value::Object(fields) => {
            fields.into_iter().filter(|(key, _)| is_kept(key)).map(|(key, value)| (key, without_times(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_times).collect(),
        other => other,
    }
}

type Records = BTreeMap<String, Vec<String>>;

fn records(runs: &[PlayedRun]) -> Records {
    let lines = |run: &PlayedRun| {
        // The digest of a wait or a question contains the time at which it ends; that of a call does not.
        let digest = |due: &DueEffect| if due.effect.contains("/call/") { due.digest.clone() } else { String::new() };
        let due = run.due.iter().map(|due| format!("due: {} {}", due.effect, digest(due)));
        run.events.iter().filter_map(record).chain(due).collect()
    };
    runs.iter().map(|run| (run.run.to_string(), lines(run))).collect()
}

/// The order in which calls that run at the same time end is not decided by an engine.
fn in_any_order(mut records: Records) -> Records {
    for lines in records.values_mut() {
        lines.sort();
    }
    records
}

/// The lines that the others do not have, or less often.
fn only_in(some: &Records, others: &Records) -> Vec<String> {
    let mut others: Vec<&String> = others.values().flatten().collect();
    let mut only = Vec::new();
    for line in some.values().flatten() {
        match others.iter().position(|other| *other == line) {
            Some(at) => drop(others.swap_remove(at)),
            None => only.push(line.clone()),
        }
    }
    only
}

/// What a recorded test does not find, apart from calls at the same time that were made in another order.
fn problems(test: &TestFile, run: &TestRun) -> Vec<Mismatch> {
    let mut mismatches = test.mismatches(run);
    mismatches.retain(|mismatch| !mismatch.is_only_order);
    mismatches
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["examples/plans/tests", "examples/agents/tests", "crates/recorded-tests/tests/recorded"];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    files
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Restate server: bench/restate/run --only files"]
async fn the_same_test_file_leads_to_the_same_events_on_both_engines() {
    let address = |name: &str| RestateClient::new(&std::env::var(name).unwrap()).unwrap();
    let blobs = tempfile::tempdir().unwrap();
    let server = Server { admin: address("RESTATE_ADMIN"), ingress: address("RESTATE_INGRESS"), blobs };
    let (mut equal, mut differ) = (0, Vec::new());
    let files = files();
    for path in &files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let test = TestFile::read(&std::fs::read_to_string(path).unwrap()).unwrap();
        let folder = path.parent().unwrap();
        let (here, embedded) = test.play_on(folder, async |_| None).await.unwrap();
        let connect = async |runner| Some(server.engine(name, runner).await);
        let (there, remote) = test.play_on(folder, connect).await.unwrap();
        let [one, other] = [records(&embedded), records(&remote)];
        let count: usize = one.values().map(Vec::len).sum();
        let status = |run: &TestRun| run.facts.status.clone();
        let problems = problems(&test, &there);
        let is_equal = one == other || in_any_order(one.clone()) == in_any_order(other.clone());
        if is_equal && status(&here) == status(&there) && problems == self::problems(&test, &here) {
            equal += 1;
            let order = if one == other { "" } else { ", parallel calls in another order" };
            println!("files: {name}: {} with {count} events: equal{order}", status(&there));
        } else {
            println!("files: {name}: {} and {}: {problems:?}", status(&here), status(&there));
            for (engine, some, others) in [("embedded", &one, &other), ("restate", &other, &one)] {
                for line in only_in(some, others) {
                    println!("  only {engine}: {line}");
                }
            }
            differ.push(name.to_owned());
        }
    }
    println!("files: {equal} of {} recorded tests have equal records on both engines", files.len());
    assert_eq!(differ, Vec::<String>::new());
}
