//! The measurements and their limits.

use std::hint::black_box;
use std::time::Instant;

use reknit_protocol::Value;
use reknit_salvage::{ReadOptions, Reader, Schema, fit, read, read_as};
use rustix::time::{ClockId, clock_gettime};

use crate::Result;
use crate::broken_texts;
use crate::cases::{Calls, Texts};
use crate::contest::{InProcess, contest, timed};
use crate::documents::documents;
use crate::peer::Peers;
use crate::table::{Limit, Row, Side, Table};

/// Valid JSON: compares `Value::parse` and `read` with `serde_json`, with its defaults and with `preserve_order`.
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
                    Some(Limit::AtMost(1.5)),
                ));
            }
        }
    }
    Ok(())
}

/// Broken texts: compares `read`, which returns a value and a list of fixes, with two repair libraries.
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
    for (name, theirs, limit) in [
        ("json_repair", theirs, Some(Limit::AtLeast(20.0))),
        ("jsonrepair", text_only, Some(Limit::AtLeast(3.0))),
        ("jsonrepair + JSON.parse", with_parse, None),
    ] {
        table.add(Row::speed(what.clone(), Side::new("read", bytes, ours), Side::new(name, bytes, theirs), limit));
    }
    let answers = texts.iter().filter(|text| read(text, &ReadOptions::default()).is_ok()).count();
    table.note(format!(
        "{what}: {} texts, {bytes} bytes; read returns a value for {answers}, json_repair for {}, jsonrepair for {}",
        texts.len(),
        python.answers,
        node_value.answers,
    ));
    table.peer(&python.version);
    table.peer(&node.version);
    Ok(())
}

/// Calls with mistakes: compares `fit` with `json_repair` with a schema, each with and without preparing the schema.
pub fn fitting(peers: &Peers, file: &Calls, table: &mut Table) -> Result<()> {
    let (calls, schemas) = (&file.list, &file.schemas);
    let source = |index: usize| schemas[index].source();
    let bytes = total(calls.iter().map(|call| call.text.as_str()));
    let input = peers.input("calls", calls.iter().map(|call| (call.text.as_str(), Some(source(call.schema)))))?;
    let mut as_called = peers.json_repair("schema", &input)?;
    let mut prepared = peers.json_repair("prepared", &input)?;
    // `fit` consumes the value; the copies are made before the measurement.
    let values = || calls.iter().map(|call| (call.value.clone(), call.schema)).collect::<Vec<_>>();
    let mut fitting = InProcess(|| seconds_for(values(), |(value, schema)| fit(value, &schemas[schema]).is_ok()));
    let mut compiling = InProcess(|| {
        seconds_for(values(), |(value, index)| {
            Schema::compile(source(index)).is_ok_and(|schema| fit(value, &schema).is_ok())
        })
    });
    let mut compiling_only =
        InProcess(|| seconds_for(calls.iter().collect(), |call| Schema::compile(source(call.schema)).is_ok()));
    let mut reading =
        InProcess(|| seconds_for(calls.iter().collect(), |call| read_as(&call.text, &schemas[call.schema]).is_ok()));
    let [fitting, compiling, compiling_only, reading, as_called_time, prepared_time] =
        contest([&mut fitting, &mut compiling, &mut compiling_only, &mut reading, &mut as_called, &mut prepared])?;
    let what = format!("fitting: {}", file.name);
    table.add(Row::time(
        format!("compiling: {}", file.name),
        Side::new("compile", bytes, compiling_only),
        Side::new("our fit", bytes, fitting),
        Some(Limit::AtMost(3.0)),
    ));
    let (plain, wrapped) = (("json_repair", as_called_time), ("json_repair, prepared", prepared_time));
    for (name, ours, (peer, theirs), limit) in [
        ("fit", fitting, plain, Some(Limit::AtLeast(20.0))),
        ("compile + fit", compiling, plain, None),
        ("read_as", reading, plain, None),
        ("read_as", reading, wrapped, None),
    ] {
        table.add(Row::speed(what.clone(), Side::new(name, bytes, ours), Side::new(peer, bytes, theirs), limit));
    }
    let answers = values().into_iter().filter(|(value, index)| fit(value.clone(), &schemas[*index]).is_ok()).count();
    table.note(format!(
        "{what}: {} calls, {} schemas; fit returns a value for {answers}, json_repair for {}",
        calls.len(),
        schemas.len(),
        as_called.answers,
    ));
    table.peer(&as_called.version);
    Ok(())
}

/// A text in chunks: compares a `Reader`, which is asked for the partial value after each chunk, with `read` of the whole text.
pub fn streaming(table: &mut Table) -> Result<()> {
    for document in documents() {
        let texts = &document.texts;
        let bytes = total(texts.iter().map(String::as_str));
        let [chunks, whole] = contest([
            &mut timed(|| each(texts, stream)),
            &mut timed(|| each(texts, |text| read(text, &ReadOptions::default()))),
        ])?;
        table.add(Row::time(
            format!("streaming: {}", document.name),
            Side::new("Reader, chunks of 16 bytes", bytes, chunks),
            Side::new("our read", bytes, whole),
            None,
        ));
    }
    let [small, large] = [100_000, 10_000_000].map(|size| broken_texts::texts(size).swap_remove(0).1);
    let limit = Some(Limit::AtMost(1.3));
    table.add(growth_row("streaming", "Reader", [&small, &large], stream, limit));
    Ok(())
}

/// Reads a text in chunks of 16 bytes, about as much as a model writes at a time.
fn stream(text: &str) -> bool {
    let mut reader = Reader::default();
    for chunk in text.as_bytes().chunks(16) {
        reader.push(black_box(chunk));
        black_box(reader.partial());
    }
    reader.finish().is_ok()
}

/// Growth: a hundred times the text must take a hundred times the time.
pub fn growth(table: &mut Table) {
    for ((name, small), (_, large)) in broken_texts::texts(100_000).into_iter().zip(broken_texts::texts(10_000_000)) {
        let ours = |text: &str| read(text, &ReadOptions::default());
        table.add(growth_row(name, "read", [&small, &large], ours, Some(Limit::AtMost(1.3))));
        if name == "valid" {
            // For comparison: the effect of the machine's caches and memory.
            let theirs = |text: &str| serde_json::from_str::<serde_json::Value>(text);
            table.add(growth_row(name, "serde_json", [&small, &large], theirs, None));
        }
        if let Err(error) = read(&large, &ReadOptions::default()) {
            table.note(format!("growth: {name}: {error}"));
        }
    }
}

fn growth_row<T>(
    what: &str,
    parser: &str,
    [small, large]: [&str; 2],
    work: impl Fn(&str) -> T,
    limit: Option<Limit>,
) -> Row {
    let [mut small_best, mut large_best] = [f64::INFINITY; 2];
    // Many rounds, because other processes disturb most of the long ones.
    for _ in 0..20 {
        for _ in 0..12 {
            small_best = small_best.min(thread_time(|| work(black_box(small))));
        }
        large_best = large_best.min(thread_time(|| work(black_box(large))));
    }
    Row::time(
        format!("growth: {what}"),
        Side::new(&format!("{parser}, 10 MB"), large.len(), large_best),
        Side::new(&format!("{parser}, 100 kB"), small.len(), small_best),
        limit,
    )
}

/// The processor time of this thread. On a busy machine, the elapsed time of a round of 10 MB would always be too long.
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

/// Processes each text. Dropping the results is part of the measurement.
fn each<T>(texts: &[String], work: impl Fn(&str) -> T) {
    for text in texts {
        black_box(work(black_box(text)));
    }
}

/// Processes each item, and returns the seconds.
fn seconds_for<T>(items: Vec<T>, work: impl Fn(T) -> bool) -> f64 {
    let start = Instant::now();
    for item in items {
        black_box(work(black_box(item)));
    }
    start.elapsed().as_secs_f64()
}
