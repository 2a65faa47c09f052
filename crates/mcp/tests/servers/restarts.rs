//! A server that is down when it is first needed keeps the tools that it had before.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reknit_mcp::{McpConnection, McpOptions, McpProgram, McpSource};
use reknit_protocol::{Delivery, TransportKind};
use reknit_tools::{Discovery, ListingStore, ToolSource, discover_all};

use crate::faults::{self, INITIALIZED};
use crate::scripted_service::{Script, start};
use crate::support::{call, endpoint, list, scripted};

/// The program of `scripted`, which ends at once as long as there is a file.
fn down_while(file: &Path) -> McpOptions {
    let options = scripted("modern");
    let McpConnection::Stdio(program) = options.connection else { panic!("it is a program") };
    let script = r#"test ! -e "$0" || { echo "the database is down" >&2; exit 4; }; exec "$@""#;
    let words = [script.to_owned(), file.display().to_string(), program.program.display().to_string()];
    let arguments = std::iter::once("-c".to_owned()).chain(words).chain(program.arguments).collect();
    let program =
        McpProgram { program: "sh".into(), arguments, environment: program.environment, ..McpProgram::default() };
    McpOptions::new("scripted", McpConnection::Stdio(program))
}

/// What a new process would find out.
async fn found(options: &McpOptions, store: &ListingStore) -> Discovery {
    discover_all(&[Arc::new(McpSource::new(options.clone()))], &[], store).await
}

fn tools_of(found: &Discovery) -> Vec<String> {
    let entries = found.catalogue.tools.iter().flat_map(|tool| &tool.capabilities);
    entries.map(|entry| entry.capability.name.to_string()).collect()
}

#[tokio::test]
async fn a_program_that_is_down_after_a_restart_keeps_its_tools_and_is_started_by_a_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let (down, store) = (folder.path().join("down"), ListingStore::in_folder(folder.path().join("catalogue")));
    let options = down_while(&down);
    let before = found(&options, &store).await;
    assert_eq!(before.stale, []);
    assert!(tools_of(&before).contains(&"echo".to_owned()), "{:?}", before.problems);

    std::fs::write(&down, "").expect("it is written");
    let stale = found(&options, &store).await;
    assert_eq!(stale.stale.iter().map(ToString::to_string).collect::<Vec<_>>(), ["scripted"]);
    assert_eq!(stale.catalogue.tools, before.catalogue.tools);
    let problem = stale.problems[0].to_string();
    assert!(
        problem.contains("the database is down") && problem.ends_with("last known capabilities are used"),
        "{problem}"
    );
    let echo = call("echo", r#"{"a":1}"#);
    let failure = stale.tools.call(&echo).await.expect_err("it is down");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::Refused, Delivery::NotSent), "{failure}");

    std::fs::remove_file(&down).expect("it is removed");
    let mut reply = stale.tools.call(&echo).await;
    while let Err(failure) = &reply {
        assert_eq!(failure.delivery, Delivery::NotSent, "{failure}");
        tokio::time::sleep(Duration::from_millis(100)).await;
        reply = stale.tools.call(&echo).await;
    }
    assert_eq!(reply.expect("it is up").status, 200);
}

#[tokio::test]
async fn a_service_that_is_down_after_a_restart_keeps_its_tools() {
    let store = ListingStore::in_memory();
    let (url, _) = start(Script::Json).await;
    let options = endpoint(&url);
    let source: Arc<dyn ToolSource> = Arc::new(McpSource::new(options.clone()));
    let listing = source.list().await.expect("it is up");
    let saved = listing.saved.expect("it can be saved");
    assert_eq!(source.restore(&saved).expect("it is ours").capabilities.len(), 1);
    found(&options, &store).await;
    let gone = endpoint("http://127.0.0.1:9/mcp");
    let elsewhere = McpSource::new(gone.clone());
    let problem = elsewhere.restore(&saved).expect_err("it is another address");
    assert_eq!(problem, "it is the listing of another program or address");
    assert_eq!(tools_of(&found(&gone, &store).await), Vec::<String>::new());
}

#[tokio::test]
async fn a_list_has_no_secrets_that_escapes_have_hidden() {
    let tools = r#"[{"name":"echo","description":"Knows hunter2\u002dsecret.","inputSchema":{"type":"object"}}]"#;
    let mut options = faults::program(tools, ":");
    let McpConnection::Stdio(program) = &mut options.connection else { panic!("it is a program") };
    program.secrets = vec![("A_SECRET".to_owned(), "hunter2-secret".into())];
    let instructions =
        INITIALIZED.replace("\"capabilities\"", r#""instructions":"Say hunter2\u002dsecret.","capabilities""#);
    program.environment.push(("INITIALIZED".to_owned(), instructions));
    let listing = list(&McpSource::new(options)).await;
    assert_eq!(listing.description, "Say [redacted].");
    assert_eq!(listing.capabilities[0].entry.capability.description, "Knows [redacted].");
    let saved = listing.saved.expect("it can be saved");
    assert!(!saved.contains("hunter2") && saved.contains("Knows [redacted]"), "{saved}");
}

#[tokio::test]
async fn a_saved_list_has_no_secrets_and_is_read_with_the_options_of_now() {
    let mut options = scripted("modern");
    let McpConnection::Stdio(program) = &mut options.connection else { panic!("it is a program") };
    program.secrets = vec![("A_SECRET".to_owned(), "start_child".into())];
    let saved = McpSource::new(options.clone()).list().await.expect("it is up").saved.expect("it can be saved");
    assert!(!saved.contains("start_child") && saved.contains("[redacted]"), "{saved}");
    options.filter.only = vec!["ec*".to_owned()];
    options.trusted = true;
    let restored = McpSource::new(options).restore(&saved).expect("it is ours");
    let entries: Vec<String> = restored
        .capabilities
        .iter()
        .map(|listed| format!("{} {}", listed.entry.capability.name, listed.entry.capability.effect))
        .collect();
    assert_eq!(entries, ["echo read"]);
}
