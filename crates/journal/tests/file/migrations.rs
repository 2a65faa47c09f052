//! A journal of an older build is copied, then upgraded in place. `golden/v4.db` was written by the build with
//! format 4, `golden/v5.db` by one with format 5.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reknit_journal::{Append, Holder, Journal, Migration, RunFilter};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::child_process::ChildProcess;
use crate::support::{TERM, event, new_path, open};

const VERSION_4: &[u8] = include_bytes!("../golden/v4.db");
const VERSION_5: &[u8] = include_bytes!("../golden/v5.db");

fn old_journal() -> (TempDir, PathBuf) {
    let (directory, path) = new_path();
    fs::write(&path, VERSION_4).unwrap();
    (directory, path)
}

fn version(path: &Path) -> u32 {
    Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// The definitions of all tables and indices, by name and without their layout.
fn schema(path: &Path) -> Vec<(String, Vec<String>)> {
    let connection = Connection::open(path).unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name";
    let names: Vec<String> =
        connection.prepare(names).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let columns = |name: &String| {
        let mut statement =
            connection.prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?1)").unwrap();
        let column = |row: &rusqlite::Row<'_>| {
            Ok(format!(
                "{} {} {} {}",
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, u32>(2)?,
                row.get::<_, u32>(3)?
            ))
        };
        statement.query_map([name], column).unwrap().map(Result::unwrap).collect()
    };
    names.iter().map(|name| (name.clone(), columns(name))).collect()
}

/// The run, status and events of every run.
async fn contents(journal: &Journal) -> Vec<(String, Option<String>, Vec<String>)> {
    let mut contents = Vec::new();
    for run in journal.runs(&RunFilter::newest(u32::MAX)).await.unwrap() {
        let events = journal.events(&run.run, 0).await.unwrap();
        contents.push((run.run.to_string(), run.status, events.into_iter().map(|event| event.body).collect()));
    }
    contents
}

#[tokio::test]
async fn a_journal_of_format_4_is_upgraded_and_its_runs_go_on() {
    let (directory, path) = old_journal();
    let journal = open(&path);
    let backup = directory.path().join("journal.db.v4-backup");
    assert_eq!(journal.migration(), Some(&Migration { from: 4, to: 6, backup: backup.clone() }));
    let runs = contents(&journal).await;
    assert_eq!(
        runs.iter().map(|run| run.1.as_deref()).collect::<Vec<_>>(),
        [None, Some("partial"), Some("complete"), Some("partial")]
    );

    let waiting = runs[0].0.as_str().into();
    let lease = journal.acquire(&waiting, &Holder::this_process(), TERM).await.unwrap();
    let len = runs[0].2.len() as u64;
    let append = Append::at(len).event(event(len)).ending("complete", 0).result("{}".to_owned());
    journal.append(&lease, append).await.unwrap();
    assert_eq!(journal.ending(&waiting).await.unwrap().as_deref(), Some("{}"));
    assert_eq!(journal.ending(&runs[1].0.as_str().into()).await.unwrap(), None, "an older build stored no result");

    assert_eq!((version(&path), version(&backup)), (6, 4));
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(open(&path).migration(), None, "it is upgraded once");
}

#[tokio::test]
async fn a_journal_of_format_5_is_upgraded_and_its_runs_have_no_owner() {
    let ((directory, path), (_new_directory, new)) = (new_path(), new_path());
    fs::write(&path, VERSION_5).unwrap();
    let journal = open(&path);
    let backup = directory.path().join("journal.db.v5-backup");
    assert_eq!(journal.migration(), Some(&Migration { from: 5, to: 6, backup }));
    let runs = journal.runs(&RunFilter::newest(9)).await.unwrap();
    assert_eq!(
        runs.iter().map(|run| (run.status.as_deref(), run.owner.as_deref())).collect::<Vec<_>>(),
        [(Some("partial"), None)]
    );
    assert!(journal.ending(&runs[0].run).await.unwrap().is_some());
    drop((journal, open(&new)));
    assert_eq!(schema(&path), schema(&new));
}

#[test]
fn an_upgraded_journal_has_the_tables_of_a_new_one() {
    let ((_old_directory, old), (_new_directory, new)) = (old_journal(), new_path());
    drop((open(&old), open(&new)));
    assert_eq!(schema(&old), schema(&new));
}

#[tokio::test]
async fn the_backup_is_a_journal_with_the_same_contents() {
    let (directory, path) = old_journal();
    let upgraded = contents(&open(&path)).await;
    let restored = directory.path().join("restored.db");
    fs::rename(directory.path().join("journal.db.v4-backup"), &restored).unwrap();
    assert_eq!(contents(&open(&restored)).await, upgraded);
}

#[test]
fn an_earlier_backup_is_kept() {
    let (directory, path) = old_journal();
    let earlier = directory.path().join("journal.db.v4-backup");
    fs::write(&earlier, "precious").unwrap();
    let backup = open(&path).migration().unwrap().backup.clone();
    assert_eq!(backup, directory.path().join("journal.db.v4-backup-2"));
    assert_eq!(fs::read_to_string(&earlier).unwrap(), "precious");
}

#[test]
fn processes_that_open_it_together_upgrade_it_once() {
    let (directory, path) = old_journal();
    let children: Vec<ChildProcess> = (0..4).map(|_| ChildProcess::start("open", &path)).collect();
    for child in children {
        assert_eq!(child.finish(), ["opened"]);
    }
    let names = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let backups: Vec<String> = names.filter(|name| name.contains("backup")).collect();
    assert_eq!((version(&path), backups), (6, vec!["journal.db.v4-backup".to_owned()]));
}

#[tokio::test]
async fn a_process_that_is_killed_while_it_upgrades_leaves_a_usable_file() {
    let (_directory, path) = old_journal();
    let expected = contents(&open(&path)).await;
    for delay in 0..12 {
        let (directory, path) = old_journal();
        // A copy that another process had not finished when it was killed.
        fs::write(directory.path().join("journal.db.v4-backup.part"), "SQLite for").unwrap();
        let mut child = ChildProcess::start("open", &path);
        std::thread::sleep(Duration::from_millis(delay));
        child.kill();
        let journal = open(&path);
        assert_eq!(contents(&journal).await, expected, "killed after {delay} ms");
        assert!(!directory.path().join("journal.db.v4-backup.part").exists() || version(&path) == 6);
    }
}
