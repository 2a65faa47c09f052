//! Compares reading and fitting with other libraries, and checks the limits. `bench/README.md` says how to run it.

mod broken_texts;
mod cases;
mod columns;
mod contest;
mod documents;
#[path = "../../runtime/src/line_process.rs"]
mod line_process;
mod measurements;
mod peer;
mod quality;
mod random;
mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use cases::CaseFile;
use peer::Peers;
use quality::Quality;
use table::Table;

// The allocator of the `reknit` command. `peers/serde_default` uses it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The error is only printed.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match measure() {
        Ok((quality, table)) => {
            print!("{quality}{table}");
            if quality.passes() && table.passes() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<(Quality, Table)> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let private = arguments.next().ok_or("usage: salvage-bench PRIVATE_FOLDER [FILES...]")?;
    let mut files: Vec<CaseFile> = arguments.map(|path| cases::load(&path)).collect::<Result<_>>()?;
    // The default cases for a kind without a file.
    for (default, is_given) in [
        ("broken.jsonl", files.iter().any(|file| matches!(file, CaseFile::Texts(_)))),
        ("calls.jsonl", files.iter().any(|file| matches!(file, CaseFile::Calls(_)))),
    ] {
        if !is_given {
            files.push(cases::load(&cases_folder().join(default))?);
        }
    }

    fs::create_dir_all(private.join("inputs"))?;
    let peers = Peers::new(private);
    let quality = quality::measure(&peers, &cases_folder().join("damage.jsonl"))?;
    eprint!("{quality}");
    let mut table = Table::default();
    measurements::valid(&peers, &mut table)?;
    for file in &files {
        match file {
            CaseFile::Texts(texts) => measurements::broken(&peers, texts, &mut table)?,
            CaseFile::Calls(calls) => measurements::fitting(&peers, calls, &mut table)?,
        }
    }
    measurements::streaming(&mut table)?;
    measurements::growth(&mut table);
    Ok((quality, table))
}

fn cases_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases")
}
