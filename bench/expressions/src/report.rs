//! Prints the results.

use std::process::ExitCode;

use crate::Result;

/// A measured value and its upper limit.
pub struct Row {
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
    pub bar: Option<f64>,
}

/// Prints the rows. Succeeds if every value is within its limit.
pub fn print(rows: Result<Vec<Row>>) -> ExitCode {
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => {
            eprintln!("bench: {error}");
            return ExitCode::FAILURE;
        }
    };
    for row in &rows {
        let bar = row.bar.map_or_else(String::new, |bar| {
            format!("bar {bar:>7.2}  {}", if row.value <= bar { "holds" } else { "MISSED" })
        });
        println!("{:<64} {:>9.2} {:<3} {bar}", row.name, row.value, row.unit);
    }
    let holds = rows.iter().all(|row| row.bar.is_none_or(|bar| row.value <= bar));
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
