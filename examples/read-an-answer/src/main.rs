//! Reads a model's answer against a schema, looks at what was mended, and refuses an answer that was cut.
//!
//! Run it with `cargo run -p read-an-answer`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;

use reknit::protocol::Value;
use reknit::salvage::{Completeness, Schema, read_as};

/// What an order looks like.
const SCHEMA: &str = include_str!("../order.schema.json");

/// What a model wrote when it was asked for one.
const ANSWER: &str = include_str!("../answer.txt");

/// The same, but the model ran out of tokens.
const CUT: &str = r#"{"symbol": "TSLA", "shares": 1000, "notes": ["sell to"#;

fn main() -> Result<(), Box<dyn Error>> {
    let schema = Schema::compile(&Value::parse(SCHEMA)?)?;
    for answer in [ANSWER, CUT] {
        let reading = read_as(answer, &schema)?;
        println!("{}", reading.value);
        for fix in &reading.fixes {
            println!("  {}: {}", fix.path, fix.kind.words());
        }
        match reading.completeness {
            Completeness::Whole => println!("  nothing is missing: go ahead"),
            Completeness::Truncated | Completeness::Elided => println!("  something is missing: ask again"),
        }
    }
    Ok(())
}
