use std::fs::{self, File};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;

const RULES: &str = "\
# ours
rules:
  # names are codes
  - id: codes
    state: accepted
    capability: bank/convert
    error: {code: NO_RATE}
    change: {from: upper(parameters.from)}
";

fn store() -> (TempDir, Arc<RuleStore>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rules.yaml");
    fs::write(&path, RULES).expect("it is written");
    let store = Arc::new(RuleStore::open(&path, 2).expect("the rules are right"));
    (folder, store)
}

fn used(store: &RuleStore) -> Vec<String> {
    store.policy(&Arc::default()).rules.iter().map(|rule| rule.id.clone()).collect()
}

/// The rule `codes` is rejected in a run; returns the number of the change.
fn reject(store: &Arc<RuleStore>, run: &str) -> u64 {
    let rule = store.load().expect("readable").get("codes").expect("it is there").for_runs();
    let rejected = RejectedRule::new(rule, run, "no rate");
    store.add(|waiting| waiting.add_rejections(vec![rejected]))
}

#[tokio::test]
async fn a_rejected_rule_is_not_used_from_that_moment_on_and_nobody_waits_for_the_file() {
    let (folder, store) = store();
    assert_eq!(used(&store), ["codes"]);
    let lock = File::create(folder.path().join("rules.yaml.lock")).expect("it is created");
    lock.lock().expect("nobody holds it");
    let start = Instant::now();
    let change = reject(&store, "r1");
    assert!(used(&store).is_empty(), "no run starts with it");
    // A wait for the lock would take five seconds.
    assert!(start.elapsed() < Duration::from_secs(4), "who notes a rejection does not wait for another process");
    assert_eq!(fs::read_to_string(store.path()).expect("readable"), RULES, "the other process holds the file");
    drop(lock);
    store.wait_until_written(change).await;
    let text = fs::read_to_string(store.path()).expect("readable");
    assert!(text.starts_with("# ours\nrules:\n  # names are codes\n") && text.contains("state: retired"), "{text}");
    assert!(used(&store).is_empty());
}

#[tokio::test]
async fn a_rule_that_a_person_accepts_again_is_used_at_once() {
    let (_folder, store) = store();
    store.wait_until_written(reject(&store, "r1")).await;
    let other_process = RuleStore::open(store.path(), 0).expect("readable");
    let seen = other_process.load().expect("readable").get("codes").expect("it is there").clone();
    assert!(other_process.accept(&seen).expect("writable"));
    assert_eq!(used(&store), ["codes"], "by a process that saw it rejected");
    store.wait_until_written(reject(&store, "r1")).await;
    assert_eq!(used(&store), ["codes"], "the same rejection does not count twice");
    store.wait_until_written(reject(&store, "r2")).await;
    assert!(used(&store).is_empty(), "another run rejects it");
}

#[tokio::test]
async fn a_rule_that_cannot_be_retired_in_the_file_is_not_used_and_is_retired_with_the_next_change() {
    let (folder, store) = store();
    // A folder cannot be opened as the lock.
    fs::create_dir(folder.path().join("rules.yaml.lock")).expect("it is created");
    store.wait_until_written(reject(&store, "r1")).await;
    assert!(used(&store).is_empty());
    assert_eq!(fs::read_to_string(store.path()).expect("readable"), RULES);
    fs::remove_dir(folder.path().join("rules.yaml.lock")).expect("it is removed");
    store.wait_until_written(reject(&store, "r2")).await;
    let text = fs::read_to_string(store.path()).expect("readable");
    assert!(text.contains("state: retired") && text.contains("rejected in run r1"), "{text}");
}

#[test]
fn what_somebody_saves_meanwhile_is_not_overwritten() {
    let (_folder, store) = store();
    let mut tries = 0;
    let seen = store.load().expect("readable").get("codes").expect("it is there").clone();
    let saved = RULES.replace("# ours", "# ours, since Monday");
    let changed = store.change(|book| {
        tries += 1;
        if tries == 1 {
            fs::write(store.path(), &saved).expect("an editor saves it");
        }
        book.retire(&seen, "rejected by a person")
    });
    assert!(changed.expect("writable") && tries == 2);
    let text = fs::read_to_string(store.path()).expect("readable");
    assert!(text.starts_with("# ours, since Monday\n") && text.contains("state: retired"), "{text}");
}

#[test]
fn nobody_accepts_what_they_have_not_seen() {
    let (_folder, store) = store();
    let seen = store.load().expect("readable").get("codes").expect("it is there").clone();
    fs::write(store.path(), RULES.replace("upper", "lower").replace("accepted", "proposed")).expect("it is written");
    assert!(!store.accept(&seen).expect("readable"));
    assert!(used(&store).is_empty(), "another rule has this id by now");
}

#[tokio::test]
async fn nobody_accepts_a_rule_that_a_tool_has_rejected_since_they_looked() {
    let (_folder, store) = store();
    let seen = store.load().expect("readable").get("codes").expect("it is there").clone();
    store.wait_until_written(reject(&store, "r1")).await;
    assert!(!store.accept(&seen).expect("readable"));
    assert!(used(&store).is_empty());
    let seen = store.load().expect("readable").get("codes").expect("it is there").clone();
    assert!(store.accept(&seen).expect("writable"), "who has seen the rejection may accept it");
}

#[tokio::test]
async fn a_rejection_stays_known_if_somebody_removes_the_evidence_and_another_rule_changes() {
    let (_folder, store) = store();
    store.wait_until_written(reject(&store, "r1")).await;
    fs::write(store.path(), RULES).expect("a person accepts it by hand");
    let new = LearnedRule { id: "new".to_owned(), ..store.load().expect("readable").rules[0].clone() };
    store.change(|book| book.put(new.clone())).expect("writable");
    store.wait_until_written(reject(&store, "r1")).await;
    assert!(used(&store).contains(&"codes".to_owned()), "the same rejection does not count twice");
}

#[test]
fn what_runs_note_is_beside_the_file_of_people() {
    let (folder, store) = store();
    let note = |book: &mut RuleBook| {
        for rule in &mut book.rules {
            rule.evidence.helps = vec!["r1/convert".to_owned()];
        }
        let proposal = LearnedRule { id: "new".to_owned(), state: RuleState::Proposed, ..book.rules[0].clone() };
        book.put(proposal);
    };
    store.files.change(|rule| rule.state != RuleState::Proposed, note).expect("writable");
    assert_eq!(fs::read_to_string(store.path()).expect("readable"), RULES);
    let notes = fs::read_to_string(folder.path().join("rules.yaml.learned")).expect("there are notes");
    assert!(notes.contains("r1/convert") && notes.contains("id: new"), "{notes}");
    let book = store.load().expect("readable");
    assert_eq!(book.get("codes").map(|rule| rule.evidence.helps.len()), Some(1), "both are read");
    let seen = book.get("new").expect("a proposal").clone();
    assert!(store.accept(&seen).expect("writable"));
    let text = fs::read_to_string(store.path()).expect("readable");
    assert!(text.starts_with(RULES) && text.contains("id: new"), "{text}");
}
