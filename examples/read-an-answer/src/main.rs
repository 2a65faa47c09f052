//! Reads a model's answer against a schema, prints the repairs, and detects an answer that was cut off.
//!
//! Run it with `cargo run -p read-an-answer`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;

use reknit::protocol::Value;
use reknit::salvage::{Completeness, Schema, read_as};

/// The schema of an order.
const SCHEMA: &str = include_str!("../order.schema.json");

/// The answer of a model that was asked for an order.
const ANSWER: &str = include_str!("../answer.txt");

/// An answer that stops because the model ran out of tokens.
const CUT_OFF: &str = r#"{"symbol": "TSLA", "shares": 1000, "notes": ["sell to"#;

fn main() -> Result<(), Box<dyn Error>> {
    let schema = Schema::compile(&Value::parse(SCHEMA)?)?;
    for answer in [ANSWER, CUT_OFF] {
        let reading = read_as(answer, &schema)?;
        println!("{}", reading.value);
        for fix in &reading.fixes {
            println!("  {}: {}", fix.path, fix.kind.description());
        }
        match reading.completeness {
            Completeness::Complete => println!("  the answer is complete: use it"),
            Completeness::Truncated | Completeness::Elided => println!("  the answer is incomplete: ask again"),
        }
    }
    Ok(())
}
