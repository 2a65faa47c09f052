//! The groups of measurements, and the bar of each.

use std::hint::black_box;
use std::time::Instant;

use reknit_protocol::Value;
use reknit_salvage::{ReadOptions, Schema, fit, read, read_as};
use rustix::time::{ClockId, clock_gettime};

use crate::Result;
use crate::broken;
use crate::cases::{Calls, Texts};
use crate::contest::{Here, contest, timed};
use crate::documents::documents;
use crate::peer::Peers;
use crate::table::{Bar, Row, Side, Table};

/// Valid JSON: `Value::parse` and `read` beside `serde_json`, as it comes and with the key order kept, as we keep it.
pub fn valid(peers: &Peers, table: &mut Table) -> Result<()> {
    for document in documents() {
        let texts = &document.texts;
        let bytes = total(texts.iter().map(String::as_str));
        let input = peers.input("valid", texts.iter().map(|text| (text.as_str(), None)))?;
        let mut default = Peers::serde_default(&input)?;
        let [parse, reading, ordered, default] = contest([
            &mut timed(|| each(texts, Value::parse)),
            &mut timed(|| each(texts, |text| read(text, &ReadOptions::default()))),
            &mut timed(|| each(texts, |text| serde_json::from_str::<serde_json::Value>(text))),
            &mut default,
        ])?;
        for (name, ours) in [("Value::parse", parse), ("read", reading)] {
            for (peer, theirs) in [("serde_json", default), ("serde_json, preserve_order", ordered)] {
                table.add(Row::time(
                    format!("valid: {}", document.name),
                    Side::new(name, bytes, ours),
                    Side::new(peer, bytes, theirs),
                    Some(Bar::AtMost(1.5)),
                ));
            }
        }
    }
    Ok(())
}

/// Broken texts: `read`, which gives a value and the list of fixes, beside both repairers.
pub fn broken(peers: &Peers, file: &Texts, table: &mut Table) -> Result<()> {
    let texts = &file.texts;
    let bytes = total(texts.iter().map(String::as_str));
    let input = peers.input("broken", texts.iter().map(|text| (text.as_str(), None)))?;
    let mut python = peers.json_repair("repair", &input)?;
    let mut node = peers.jsonrepair("repair", &input)?;
    let mut node_value = peers.jsonrepair("value", &input)?;
    let mut ours = timed(|| each(texts, |text| read(text, &ReadOptions::default())));
    let [ours, theirs, text_only, with_parse] = contest([&mut ours, &mut python, &mut node, &mut node_value])?;
    let what = format!("broken: {}", file.name);
    for (name, theirs, bar) in [
        ("json_repair", theirs, Some(Bar::AtLeast(20.0))),
        ("jsonrepair", text_only, Some(Bar::AtLeast(3.0))),
        ("jsonrepair + JSON.parse", with_parse, None),
    ] {
        table.add(Row::speed(what.clone(), Side::new("read", bytes, ours), Side::new(name, bytes, theirs), bar));
    }
    let answers = texts.iter().filter(|text| read(text, &ReadOptions::default()).is_ok()).count();
    table.note(format!(
        "{what}: {} texts, {bytes} bytes; a value from read for {answers}, json_repair {}, jsonrepair {}",
        texts.len(),
        python.answers,
        node_value.answers,
    ));
    table.peer(&python.version);
    table.peer(&node.version);
    Ok(())
}

/// Damaged calls: `fit` beside `json_repair` with a schema, each with and without the work that a schema needs once.
pub fn fitting(peers: &Peers, file: &Calls, table: &mut Table) -> Result<()> {
    let (calls, schemas) = (&file.list, &file.schemas);
    let source = |place: usize| schemas[place].source();
    let bytes = total(calls.iter().map(|call| call.text.as_str()));
    let input = peers.input("calls", calls.iter().map(|call| (call.text.as_str(), Some(source(call.schema)))))?;
    let mut as_called = peers.json_repair("schema", &input)?;
    let mut prepared = peers.json_repair("prepared", &input)?;
    // Fitting uses up the value; its copy is made before the clock runs.
    let values = || calls.iter().map(|call| (call.value.clone(), call.schema)).collect::<Vec<_>>();
    let mut fitting = Here(|| clocked(values(), |(value, schema)| fit(value, &schemas[schema]).is_ok()));
    let mut compiling = Here(|| {
        clocked(values(), |(value, place)| {
            Schema::compile(source(place)).is_ok_and(|schema| fit(value, &schema).is_ok())
        })
    });
    let mut reading =
        Here(|| clocked(calls.iter().collect(), |call| read_as(&call.text, &schemas[call.schema]).is_ok()));
    let [fitting, compiling, reading, as_called_time, prepared_time] =
        contest([&mut fitting, &mut compiling, &mut reading, &mut as_called, &mut prepared])?;
    let what = format!("fitting: {}", file.name);
    let (plain, wrapped) = (("json_repair", as_called_time), ("json_repair, prepared", prepared_time));
    for (name, ours, (peer, theirs), bar) in [
        ("fit", fitting, plain, Some(Bar::AtLeast(20.0))),
        ("compile + fit", compiling, plain, None),
        ("read_as", reading, plain, None),
        ("read_as", reading, wrapped, None),
    ] {
        table.add(Row::speed(what.clone(), Side::new(name, bytes, ours), Side::new(peer, bytes, theirs), bar));
    }
    let answers = values().into_iter().filter(|(value, place)| fit(value.clone(), &schemas[*place]).is_ok()).count();
    table.note(format!(
        "{what}: {} calls, {} schemas; a value that fits from fit for {answers}, json_repair {}",
        calls.len(),
        schemas.len(),
        as_called.answers,
    ));
    table.peer(&as_called.version);
    Ok(())
}

/// A hundred times the text must take a hundred times the time.
pub fn growth(table: &mut Table) {
    for ((name, small), (_, large)) in broken::texts(100_000).into_iter().zip(broken::texts(10_000_000)) {
        let ours = |text: &str| read(text, &ReadOptions::default());
        table.add(grown(name, "read", [&small, &large], ours, Some(Bar::AtMost(1.3))));
        if name == "valid" {
            // What the caches and the memory of the machine do to anyone.
            let theirs = |text: &str| serde_json::from_str::<serde_json::Value>(text);
            table.add(grown(name, "serde_json", [&small, &large], theirs, None));
        }
        if let Err(error) = read(&large, &ReadOptions::default()) {
            table.note(format!("growth: {name}: {error}"));
        }
    }
}

fn grown<T>(what: &str, who: &str, [small, large]: [&str; 2], work: impl Fn(&str) -> T, bar: Option<Bar>) -> Row {
    let [mut small_best, mut large_best] = [f64::INFINITY; 2];
    // Many rounds, for a long one is seldom undisturbed on a busy machine.
    for _ in 0..20 {
        for _ in 0..12 {
            small_best = small_best.min(thread_time(|| work(black_box(small))));
        }
        large_best = large_best.min(thread_time(|| work(black_box(large))));
    }
    Row::time(
        format!("growth: {what}"),
        Side::new(&format!("{who}, 10 MB"), large.len(), large_best),
        Side::new(&format!("{who}, 100 kB"), small.len(), small_best),
        bar,
    )
}

/// Seconds of this thread, not of the clock: on a busy machine, no round of 10 MB would ever be undisturbed.
fn thread_time<T>(work: impl FnOnce() -> T) -> f64 {
    let now = || clock_gettime(ClockId::ThreadCPUTime);
    let start = now();
    drop(black_box(work()));
    let end = now();
    (end.tv_sec - start.tv_sec) as f64 + (end.tv_nsec - start.tv_nsec) as f64 / 1e9
}

fn total<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(str::len).sum()
}

/// Does something to each text. What comes out is dropped at once, and that counts.
fn each<T>(texts: &[String], work: impl Fn(&str) -> T) {
    for text in texts {
        black_box(work(black_box(text)));
    }
}

/// The seconds that the work on all items takes.
fn clocked<T>(items: Vec<T>, work: impl Fn(T) -> bool) -> f64 {
    let start = Instant::now();
    for item in items {
        black_box(work(black_box(item)));
    }
    start.elapsed().as_secs_f64()
}
