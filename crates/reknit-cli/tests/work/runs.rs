//! `reknit runs list` and `reknit runs show`.

use reknit_engine::MACHINE_VERSION;
use reknit_journal::{Append, Durability, Holder, Journal, LeaseTerm, NewEvent, NewRun, RunFilter};

use crate::exit_status::{PRICE_AND_ORDER, ran, shop, shopping};
use crate::world::{World, assert_contains, assert_ended, assert_refused, plan, text};

#[test]
fn an_empty_list_of_runs_comes_with_a_hint() {
    let world = World::new();
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @"
    exit status 0 --- stderr
    the journal has no runs

    hint: start one with `reknit demo`
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--json"]), @"exit status 0");
    assert_refused(&world.reknit(&["runs", "show", "last"]), "the journal has no runs", "start one with `reknit demo`");
    assert_refused(
        &world.reknit(&["runs", "show", "0123"]),
        "there is no run `0123`",
        "list your runs with `reknit runs list`",
    );
    assert_refused(
        &world.reknit(&["runs", "resume", "0123"]),
        "there is no run `0123`",
        "list your runs with `reknit runs list`",
    );
    assert_refused(
        &world.reknit(&["runs", "cancel", "0123"]),
        "there is no run `0123`",
        "list your runs with `reknit runs list`",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_listed_newest_first() {
    let shop = shop().await;
    let failing = plan(&[("find", "{}")]).replace("shopping", "a search that\\nfails");
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&PRICE_AND_ORDER)).file("find.json", &failing);
    world.reknit(&["run", "--answer", "template", "plan.json"]);
    world.reknit(&["run", "--answer", "template", "find.json"]);
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @r"
    exit status 0 --- stdout
    RUN                                      STARTED  STATUS    REQUEST
    RUN  AGE  failed    a search that\nfails
    RUN  AGE  complete  shopping
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--json"]), @r#"
    exit status 0 --- stdout
    {"run":"RUN","status":"failed","request":"a search that\nfails","created_ms":0,"updated_ms":0,"events":2}
    {"run":"RUN","status":"complete","request":"shopping","created_ms":0,"updated_ms":0,"events":3}
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--limit", "1"]), @r"
    exit status 0 --- stdout
    RUN                                      STARTED  STATUS  REQUEST
    RUN  AGE  failed  a search that\nfails
    --- stderr

    note: 1 of 2 runs; `--all` lists all of them
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--limit", "1", "--json"]), @r#"
    exit status 0 --- stdout
    {"run":"RUN","status":"failed","request":"a search that\nfails","created_ms":0,"updated_ms":0,"events":2}
    --- stderr

    note: 1 of 2 runs; `--all` lists all of them
    "#);
    assert!(!world.reknit(&["runs", "list", "--all"]).contains("note"), "all runs are listed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_listed_by_status_time_tool_and_text() {
    let shop = shop().await;
    let failing = plan(&[("find", "{}")]).replace("shopping", "A search");
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&PRICE_AND_ORDER)).file("find.json", &failing);
    world.reknit(&["run", "--answer", "template", "plan.json"]);
    world.reknit(&["run", "--answer", "template", "find.json"]);
    for (arguments, expected) in [
        (&["--status", "failed"][..], &["A search"][..]),
        (&["--status", "failed,complete"], &["A search", "shopping"]),
        (&["--status", "waiting"], &[]),
        (&["--search", "a SEARCH"], &["A search"]),
        (&["--tool", "shop/price"], &["shopping"]),
        (&["--tool", "shop"], &["A search", "shopping"]),
        (&["--tool", "sho"], &[]),
        (&["--since", "1h", "--tool", "shop", "--status", "complete"], &["shopping"]),
    ] {
        let list = world.reknit(&[&["runs", "list", "--json"], arguments].concat());
        let requests: Vec<&str> =
            list.lines().filter_map(|line| line.split_once("\"request\":\"")?.1.split('"').next()).collect();
        assert_eq!(requests, expected, "{arguments:?}");
    }
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--status", "waiting"]), @"
    exit status 0 --- stderr
    no run matches

    hint: list all of them with `reknit runs list --all`
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--tool", "shop", "--limit", "1"]), @"
    exit status 0 --- stdout
    RUN                                      STARTED  STATUS  REQUEST
    RUN  AGE  failed  A search
    --- stderr

    note: 1 of the matching runs; `--all` lists all of them
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--status", "broken"]), @"
    exit status 2 --- stderr
    error: invalid value 'broken' for '--status <STATUS>'
      [possible values: running, waiting, stopped, parked, complete, partial, failed, impossible, cancelled, budget_exhausted, success, failure, closed]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--since", "soon"]), @"
    exit status 2 --- stderr
    error: invalid value 'soon' for '--since <TIME>': write a time with its unit, like `30d` or `12h`

    For more information, try '--help'.
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shown_run_has_the_origin_of_each_value() {
    let (_shop, world) = ran(&PRICE_AND_ORDER).await;
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0 --- stdout
    run      RUN
    request  shopping
    status   complete
    spent    2 tool calls, 0 model calls, 3 events

    ✓ price  price  done
    ✓ order  order  done

    price (price of shop)
      parameter  of = "tea"   (from the plan)
      attempt 1  accepted <- {"of":"tea"}  (N ms)
      result     {"success":true,"data":{"price":12.50}}

    order (order of shop)
      parameter  at = 12.50   (from price at $.data.price)
      attempt 1  accepted <- {"at":12.50}  (N ms)
      result     {"success":true,"data":{"order":"o-1"}}

    Everything was done.

    Done:
    - price (price): {"price":12.50}
    - order (order): {"order":"o-1"}
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last", "--step", "order"]), @r#"
    exit status 0 --- stdout
    run      RUN
    request  shopping
    status   complete
    spent    2 tool calls, 0 model calls, 3 events

    ✓ price  price  done
    ✓ order  order  done

    order (order of shop)
      parameter  at = 12.50   (from price at $.data.price)
      attempt 1  accepted <- {"at":12.50}  (N ms)
      result     {"success":true,"data":{"order":"o-1"}}
    "#);
    assert_refused(
        &world.reknit(&["runs", "show", "last", "--step", "ordr"]),
        "run `RUN` has no step `ordr`",
        "it has: price, order",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_events_of_a_run_are_listed() {
    let (_shop, world) = ran(&PRICE_AND_ORDER).await;
    let shown = world.output(&["runs", "show", "last", "--events"]);
    let lines: Vec<String> = text(&shown.stdout)
        .lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            let (number, time, kind) = (words.next(), words.next(), words.next());
            assert!(
                time.is_some_and(|time| time.ends_with('Z') && time.len() == "2001-02-03T04:05:06.789Z".len()),
                "{line}"
            );
            format!("{} {}", number.expect("a number"), kind.expect("a kind"))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    0 started
    1 tool_answered
    2 tool_answered
    ");
    let bodies = world.output(&["runs", "show", "last", "--events", "--json"]);
    for line in text(&bodies.stdout).lines() {
        reknit_protocol::Value::parse(line).expect("every event is a line of JSON");
    }
    assert_eq!(text(&bodies.stdout).lines().count(), lines.len());
}

#[test]
fn show_with_a_step_excludes_other_forms() {
    insta::assert_snapshot!(World::new().reknit(&["runs", "show", "last", "--step", "a", "--json"]), @"
    exit status 2 --- stderr
    error: the argument '--step <STEP>' cannot be used with '--json'

    Usage: reknit runs show --step <STEP> <RUN>

    For more information, try '--help'.
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unique_prefix_of_an_id_names_a_run() {
    let (_shop, world) = shopping(&[("price", "{}")]).await;
    let id = || {
        let output = world.output(&["run", "--answer", "template", "--json", "plan.json"]);
        let answer = reknit_protocol::Value::parse(&text(&output.stdout)).expect("it is JSON");
        answer.get("run").and_then(|run| run.as_str()).expect("an id").to_owned()
    };
    let (first, second) = (id(), id());
    let same = first.bytes().zip(second.bytes()).take_while(|(one, other)| one == other).count();
    let shown = world.reknit(&["runs", "show", &second[..=same]]);
    assert_eq!(shown.lines().nth(1), Some("run      RUN"), "{shown}");
    // Ids start with the time, so two runs of the same test have a common prefix.
    assert_refused(
        &world.reknit(&["runs", "show", &first[..4]]).replace(&first[..4], "BEGINNING"),
        "several runs can be meant by `BEGINNING`",
        "give more characters of one of: RUN, RUN",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_run_does_not_change() {
    let (shop, world) = ran(&PRICE_AND_ORDER).await;
    let events = text(&world.output(&["runs", "show", "last", "--events"]).stdout);
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":12.50}
    - order (order): {"order":"o-1"}
    --- stderr

    complete: 2 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_refused(
        &world.reknit(&["runs", "cancel", "last"]),
        "run `RUN` has ended (complete)",
        "see its result with `reknit runs show RUN`",
    );
    assert_eq!(shop.call_count(), 2);
    assert_eq!(text(&world.output(&["runs", "show", "last", "--events"]).stdout), events);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_shows_the_metadata_that_it_was_started_with() {
    let (_shop, world) = shopping(&PRICE_AND_ORDER).await;
    let meta = ["--meta", "user=ann", "--meta", "tenant=acme"];
    let run = [&["run", "--answer", "template", "plan.json"][..], &meta].concat();
    assert!(world.reknit(&run).starts_with("exit status 0"));
    assert_contains(&world.reknit(&["runs", "show", "last"]), "\nmeta     tenant=acme, user=ann\n");
    assert_contains(&world.reknit(&["runs", "show", "last", "--json"]), r#""meta":{"tenant":"acme","user":"ann"}"#);
    assert_contains(
        &world.reknit(&["runs", "show", "last", "--events", "--json"]),
        r#""metadata":{"tenant":"acme","user":"ann"}"#,
    );
}

#[test]
fn invalid_metadata_is_bad_usage() {
    let world = World::new().file("plan.json", &plan(&PRICE_AND_ORDER));
    for (meta, expected) in [
        (&["tenant"][..], "error: the metadata `tenant` has no `=`"),
        (&["a b=c"], "error: the metadata key `a b` has other characters than letters, digits, `_`, `-` and `.`"),
        (&["user=ann", "user=bob"], "error: the metadata key `user` is given twice"),
    ] {
        let meta = meta.iter().flat_map(|text| ["--meta", text]);
        let arguments: Vec<&str> = ["run", "plan.json"].into_iter().chain(meta).collect();
        let shown = world.reknit(&arguments);
        assert!(shown.starts_with("exit status 2") && shown.contains(expected), "{shown}");
        assert!(shown.contains("hint: write `--meta tenant=acme --meta user=ann`"), "{shown}");
    }
}

/// The journal of this world.
fn journal_file(world: &World) -> rusqlite::Connection {
    rusqlite::Connection::open(world.path().join("data/reknit/journal.db")).expect("the journal can be opened")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_run_shows_the_answer_that_was_delivered_although_its_events_changed() {
    let (_shop, world) = shopping(&PRICE_AND_ORDER).await;
    let delivered = world.reknit(&["run", "--answer", "template", "plan.json"]);
    let commands: [&[&str]; 5] = [
        &["runs", "show", "last"],
        &["runs", "show", "last", "--json"],
        &["runs", "show", "last", "--step", "price"],
        &["runs", "resume", "last"],
        &["runs", "list"],
    ];
    let before = commands.map(|command| world.reknit(command));
    // As if a later build decided differently for the same events, or could not read them.
    let changed = journal_file(&world).execute(r#"UPDATE events SET body = '{"another": "format"}'"#, []);
    assert!(changed.expect("the events can be changed") > 2);
    assert_eq!(commands.map(|command| world.reknit(command)), before);
    assert!(delivered.starts_with("exit status 0 "), "{delivered}");
    let text = delivered.split("--- stderr").next().unwrap_or_default();
    assert!(before[3].starts_with(text), "{delivered}\n{}", before[3]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_in_a_journal_of_somebody_else_does_nothing_to_the_terminal() {
    let (_shop, world) = shopping(&[("price", "{}")]).await;
    for number in 0..2 {
        world.reknit(&["run", "--answer", "template", "plan.json"]);
        let id = format!("x\u{1b}[2J\n{number}");
        journal_file(&world).execute("UPDATE runs SET run = ?1 WHERE run LIKE '0%'", [id]).expect("it is changed");
    }
    for arguments in [&["runs", "list"][..], &["runs", "show", "x"]] {
        let shown = world.reknit(arguments);
        assert!(shown.contains(r"x\u{1b}[2J") && !shown.contains('\u{1b}'), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_exported_with_its_events_and_its_answer() {
    let (_shop, world) = ran(&PRICE_AND_ORDER).await;
    let output = world.output(&["runs", "export", "last"]);
    let lines: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect();
    let kinds: Vec<&str> =
        lines.iter().filter_map(|line| line.as_object()?.keys().next().map(String::as_str)).collect();
    assert_eq!(kinds, ["run", "event", "event", "event", "claims", "ending"]);
    assert_eq!(lines[0]["run"]["status"], "complete");
    assert_eq!(lines[2]["event"]["seq"], 1);
    assert_eq!(lines[5]["ending"]["run"]["answer"]["status"], "complete");
}

/// A version of the state machine whose events are not replayed.
const OLDER: u32 = 7;

/// A journal with a run that has ended and one that waits for approval, whose events say that an older state machine wrote
/// them, and the ids of both. The ended run has no stored answer.
async fn world_with_older_machine() -> (World, String, String) {
    let shop = shop().await;
    let paying = plan(&[("pay", r#"{"amount": 12.50}"#)]);
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&PRICE_AND_ORDER)).file("pay.json", &paying);
    world.reknit(&["run", "--answer", "template", "plan.json"]);
    world.reknit(&["run", "--answer", "template", "pay.json"]);
    let path = world.path().join("data/reknit/journal.db");
    let source = Journal::open(&path, Durability::Off).expect("the journal can be opened");
    let older = Journal::open(&path.with_extension("older"), Durability::Off).expect("a new journal");
    let (mut ended, mut waiting) = (String::new(), String::new());
    for run in source.runs(&RunFilter::newest(9)).await.expect("the runs can be read") {
        let mut due = source.due_effects(&run.run).await.expect("they can be read");
        let mut events = source.events(&run.run, 0).await.expect("they can be read").into_iter().map(|event| {
            let version = |version: u32| format!(r#""machine_version":{version}"#);
            let body = event.body.replace(&version(MACHINE_VERSION), &version(OLDER));
            let due = due.extract_if(.., |(seq, _)| *seq == event.seq).map(|(_, due)| due);
            NewEvent::new(event.at_ms, event.kind, body).with_due(due)
        });
        let first = events.next().expect("a run has events");
        let new = NewRun::new(run.run.clone(), run.title, "request", first);
        let term = LeaseTerm { now_ms: 0, ttl_ms: 1_000 };
        let lease = older.create(new, &Holder::this_process(), term).await.expect("the run is new");
        let append = events.fold(Append::at(1), Append::event);
        if let Some(status) = run.status {
            older.append(&lease, append.ending(status, run.updated_ms)).await.expect("the run ends");
            ended = run.run.to_string();
        } else {
            older.append(&lease, append).await.expect("the events are appended");
            older.release(&lease).await.expect("the lease is released");
            waiting = run.run.to_string();
        }
    }
    drop((source, older));
    std::fs::rename(path.with_extension("older"), path).expect("the journal is replaced");
    (world, ended, waiting)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_run_without_a_stored_answer_that_cannot_be_replayed_says_so() {
    let (world, ended, _) = world_with_older_machine().await;
    let shown = world.reknit(&["runs", "show", &ended]);
    assert!(shown.contains("status   complete"), "{shown}");
    assert!(shown.contains("problem  the run was started by version 7 of the state machine"), "{shown}");
    assert!(shown.contains("reply    order/call/1:"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_run_that_this_build_cannot_continue_is_parked_listed_shown_exported_and_closed() {
    let (world, _, waiting) = world_with_older_machine().await;
    assert_ended(&world.reknit(&["runs", "resume", &waiting]), 1, "is parked: this build cannot continue it");
    assert!(world.reknit(&["runs", "list"]).contains("parked"));
    assert_contains(&world.reknit(&["runs", "show", &waiting]), "status   parked");
    assert_ended(&world.reknit(&["runs", "export", &waiting]), 0, r#""parked""#);
    assert_contains(&world.reknit(&["runs", "approve", &waiting]), "is parked");
    let closed = world.reknit(&["runs", "close", &waiting, "--reason", "ordered by phone"]);
    assert!(closed.starts_with("exit status 0"), "{closed}");
    assert_contains(&world.reknit(&["runs", "show", &waiting]), "status   closed (ordered by phone)");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parked_run_is_cancelled_without_a_call_and_is_not_resumed() {
    let (world, _, waiting) = world_with_older_machine().await;
    world.reknit(&["runs", "resume", &waiting]);
    let cancelled = world.reknit(&["runs", "cancel", &waiting]);
    assert!(cancelled.starts_with("exit status 0") && cancelled.contains("which was parked"), "{cancelled}");
    assert_contains(&world.reknit(&["runs", "show", &waiting]), "status   cancelled");
    let resumed = world.reknit(&["runs", "resume", &waiting]);
    assert!(!resumed.starts_with("exit status 0"), "{resumed}");
    assert!(world.reknit(&["runs", "list"]).contains("cancelled"));
}
