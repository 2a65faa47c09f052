//! Measures reading and fitting beside what others offer, and checks the bars. `bench/README.md` says how to run it.

mod broken;
mod cases;
mod contest;
mod documents;
mod group;
mod peer;
mod random;
mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use cases::CaseFile;
use peer::Peers;
use table::Table;

// What the command ships with. `peers/serde_default` has it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What went wrong, in words: there is nobody who could do anything about it but a reader.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match measure() {
        Ok(table) => {
            print!("{table}");
            if table.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<Table> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let private = arguments.next().ok_or("usage: salvage-bench PRIVATE_FOLDER [FILES...]")?;
    let mut files: Vec<CaseFile> = arguments.map(|path| cases::load(&path)).collect::<Result<_>>()?;
    // A kind that no file was named for is measured with the cases of our own.
    for (own, is_there) in [
        ("broken.jsonl", files.iter().any(|file| matches!(file, CaseFile::Texts(_)))),
        ("calls.jsonl", files.iter().any(|file| matches!(file, CaseFile::Calls(_)))),
    ] {
        if !is_there {
            files.push(cases::load(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases").join(own))?);
        }
    }

    fs::create_dir_all(private.join("inputs"))?;
    let peers = Peers::new(private);
    let mut table = Table::default();
    group::valid(&peers, &mut table)?;
    for file in &files {
        match file {
            CaseFile::Texts(texts) => group::broken(&peers, texts, &mut table)?,
            CaseFile::Calls(calls) => group::fitting(&peers, calls, &mut table)?,
        }
    }
    group::growth(&mut table);
    Ok(table)
}
