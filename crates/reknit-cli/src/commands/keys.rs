//! `reknit keys`: lists, settles and forgets business keys.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use reknit_journal::{Journal, StoredKey};
use reknit_protocol::{Object, Value};

use crate::output::{Failure, one_line, print_data, print_message};
use crate::setup::{FileArguments, find_all_by_id, find_by_id, open_journal, require_unchanged};

pub(super) const DETAILS: &str = "\
A capability may name the parameters that identify a deed (`[[keys]]` in the configuration). A call whose deed another call has
done is not sent: it returns the receipt of that call. While the outcome of the other call is unknown, the key is pending, and
an equal call waits. A pending key becomes free when its window is over, when its call turns out to have had no effect, or when
you say so: `keys forget` frees a key, so that the deed may be done again; `keys settle` says that the deed is done.

Examples:
  reknit keys list
  reknit keys settle 3f9a20c1d4 --result '{\"refund\": 12}'
  reknit keys forget 3f9a20c1d4";

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// List the business keys whose windows are not over, the newest first
    List {
        /// Print JSON, one key per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Say that the deed of a pending key is done: equal calls return the receipt
    Settle {
        /// The key, or its first characters
        #[arg(value_name = "KEY")]
        key: String,
        /// The receipt: the result of the call, as JSON
        #[arg(long, value_name = "JSON")]
        result: String,
        /// Print the key as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Free keys: their deeds may be done again
    Forget(KeyArguments),
}

#[derive(Debug, Args)]
pub(crate) struct KeyArguments {
    /// The keys, or their first characters
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,
    /// Print the keys as JSON, one per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: FileArguments,
}

/// How many characters of a key a table shows: enough to tell keys apart.
const SHOWN_CHARACTERS: usize = 10;

pub(crate) async fn run(command: KeysCommand) -> Result<ExitCode, Failure> {
    match command {
        KeysCommand::List { json, journal } => {
            let keys = current_keys(&open_journal(&journal)?).await?;
            print_keys(&keys, json)?;
            if keys.is_empty() && !json {
                print_message("the journal has no business keys: `[[keys]]` in the configuration defines them\n");
            }
        }
        KeysCommand::Settle { key, result, json, journal } => {
            let receipt = Value::parse(&result).map_err(|error| {
                let message = format!("the result is not valid JSON: {error}");
                Failure::usage(message, "write it like `--result '{\"id\": 7}'`")
            })?;
            let journal = open_journal(&journal)?;
            let key = find_by_id(&current_keys(&journal).await?, id, &key, "key")?.clone();
            if key.receipt.is_some() {
                let message = format!("key `{}` has a receipt already", short(&key));
                return Err(Failure::usage(message, "look at it with `reknit keys list --json`"));
            }
            let (receipt, now_ms) = (receipt.to_string(), Timestamp::now().as_millisecond());
            let is_there = journal.settle_key(&key, &receipt, now_ms).await.map_err(Failure::journal)?;
            require_unchanged(is_there, "key", short(&key))?;
            print_keys([&StoredKey { receipt: Some(receipt), since_ms: now_ms, ..key }], json)?;
        }
        KeysCommand::Forget(arguments) => {
            let journal = open_journal(&arguments.journal)?;
            let keys = current_keys(&journal).await?;
            let chosen = find_all_by_id(&keys, id, &arguments.keys, "key")?;
            for key in &chosen {
                let is_there = journal.forget_key(key).await.map_err(Failure::journal)?;
                require_unchanged(is_there, "key", short(key))?;
            }
            print_keys(chosen.iter().copied(), arguments.json)?;
            if !arguments.json {
                print_message(&format!("forgot {}\n", if chosen.len() == 1 { "this key" } else { "these keys" }));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The keys whose windows are not over.
async fn current_keys(journal: &Journal) -> Result<Vec<StoredKey>, Failure> {
    let now_ms = Timestamp::now().as_millisecond();
    let keys = journal.business_keys().await.map_err(Failure::journal)?;
    Ok(keys.into_iter().filter(|key| key.until_ms() > now_ms).collect())
}

fn id(key: &StoredKey) -> String {
    key.claim.key.clone()
}

fn print_keys<'a>(keys: impl IntoIterator<Item = &'a StoredKey>, json: bool) -> Result<(), Failure> {
    for key in keys {
        let line = if json { Value::Object(object(key)).to_string() } else { line(key) };
        print_data(&(line + "\n"))?;
    }
    Ok(())
}

fn short(key: &StoredKey) -> &str {
    key.claim.key.get(..SHOWN_CHARACTERS).unwrap_or(&key.claim.key)
}

fn state(key: &StoredKey) -> &'static str {
    if key.receipt.is_some() { "done" } else { "pending" }
}

fn line(key: &StoredKey) -> String {
    let claim = &key.claim;
    let text = format!(
        "{} {}  run {}, step {}, since {} until {}",
        claim.capability,
        claim.values,
        key.run,
        claim.step,
        time(key.since_ms),
        time(key.until_ms())
    );
    format!("{}  {:<7}  {}", short(key), state(key), one_line(&text, usize::MAX))
}

/// A time as people read it, in UTC.
fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms)
        .map_or_else(|_| "the end of time".to_owned(), |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn object(key: &StoredKey) -> Object {
    let claim = &key.claim;
    let parsed = |text: &str| Value::parse(text).unwrap_or_else(|_| text.into());
    let mut object = Object::from([
        ("key", claim.key.as_str().into()),
        ("state", state(key).into()),
        ("capability", claim.capability.as_str().into()),
        ("values", parsed(&claim.values)),
        ("run", key.run.as_str().into()),
        ("step", claim.step.as_str().into()),
        ("since_ms", key.since_ms.into()),
        ("until_ms", key.until_ms().into()),
    ]);
    object.extend(key.receipt.as_deref().map(|receipt| ("receipt".to_owned(), parsed(receipt))));
    object
}
