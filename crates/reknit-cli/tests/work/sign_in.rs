//! Signing in at an MCP server with OAuth, with the command and a browser.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use reknit_fakes::ScriptedTool;
use reknit_protocol::SideEffect;

use crate::sign_in_server::{SignInServer, get, location};
use crate::world::{World, text};

const NEEDS_SIGN_IN: &str = "needs sign-in: `reknit tools sign-in docs`";

fn entry(server: &SignInServer, keys: &str) -> String {
    format!("[[mcp]]\nname = \"docs\"\nurl = \"{}\"\nauth = \"oauth\"\n{keys}\n", server.url())
}

/// Starts `tools sign-in`. Returns the process and the page that it names.
async fn start_sign_in(
    world: &World,
    variables: &[(&str, &str)],
) -> (Child, BufReader<std::process::ChildStdout>, String) {
    let mut command = world.command(&["tools", "sign-in", "docs", "--config", "reknit.toml"]);
    let mut child = command.envs(variables.iter().copied()).stdout(Stdio::piped()).spawn().expect("the command runs");
    let output = child.stdout.take().expect("it is piped");
    tokio::task::spawn_blocking(move || {
        let mut output = BufReader::new(output);
        let mut page = String::new();
        output.read_line(&mut page).expect("a page is named");
        (child, output, page.trim().to_owned())
    })
    .await
    .expect("it is read")
}

/// Signs in as a person with a browser. Returns what the browser shows at the end, and what the command prints.
async fn sign_in(world: &World, variables: &[(&str, &str)]) -> (String, String) {
    let (child, mut rest, page) = start_sign_in(world, variables).await;
    let shown = get(&location(&get(&page).await)).await;
    let output = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        // Nothing follows if the sign-in fails.
        let _ = rest.read_line(&mut line);
        (line, child.wait_with_output().expect("it ends"))
    });
    let (line, output) = output.await.expect("it is read");
    let code = output.status.code().expect("it was not killed");
    (shown, format!("exit status {code}\n{line}{}", text(&output.stderr)))
}

fn files_in(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).map(|entries| entries.map(|entry| entry.expect("an entry").path()).collect());
    entries.unwrap_or_default()
}

fn tools(world: &World, arguments: &[&str]) -> String {
    let arguments = [&["tools"], arguments, &["--config", "reknit.toml"]].concat();
    world.reknit(&arguments)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_signs_in_once_and_the_tools_of_the_server_can_be_called() {
    let server = SignInServer::start().await;
    let shop = ScriptedTool::new("shop").capability("price", SideEffect::Read).start().await.expect("it starts");
    let world = World::new().configured(&[&shop], &entry(&server, ""));
    let before = tools(&world, &["list"]);
    assert!(before.contains("shop/price") && before.contains(NEEDS_SIGN_IN), "{before}");
    assert!(!before.contains("docs/whoami"), "{before}");

    let (shown, printed) = sign_in(&world, &[]).await;
    assert!(shown.contains("You are signed in."), "{shown}");
    let signed_in = format!("exit status 0\nsigned in to `docs` at {}\n", server.url());
    assert!(printed.starts_with(&signed_in), "{printed}");
    assert!(printed.contains("its tokens are stored in ") && printed.contains("token-key"), "{printed}");
    let files = files_in(world.path().join("state/reknit/mcp"));
    assert_eq!(files.len(), 1, "the tokens: {files:?}");
    assert!(world.path().join("data/reknit/token-key").exists(), "the key is in another folder");
    for file in files {
        let content = fs::read_to_string(&file).expect("it is text");
        assert!(!content.contains("access-1") && !content.contains("client-1"), "{content}");
    }
    let exchange = server.rules().exchanges[0].clone();
    assert!(exchange.contains("code_verifier=") && exchange.contains("resource="), "{exchange}");

    assert!(tools(&world, &["list"]).contains("docs/whoami"));
    let called = tools(&world, &["call", "docs/whoami"]);
    assert!(called.contains(r#"{"token":"[redacted]"}"#), "a token that the server returns is not shown: {called}");
    assert_eq!(server.rules().tokens.last().map(String::as_str), Some("access-1"));

    let out = tools(&world, &["sign-out", "docs"]);
    assert!(out.contains("signed out of `docs`: removed ") && out.contains("the server was not told"), "{out}");
    let after = tools(&world, &["list"]);
    assert!(after.contains(NEEDS_SIGN_IN) && !after.contains("docs/whoami"), "{after}");
    assert!(tools(&world, &["sign-out", "docs"]).contains("nobody was signed in to `docs`"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_token_is_renewed_and_a_sign_in_that_cannot_be_renewed_is_needed_again() {
    let server = SignInServer::start().await;
    let world = World::new().file("reknit.toml", &entry(&server, ""));
    sign_in(&world, &[]).await;
    *server.rules() = crate::sign_in_server::Rules {
        accepted: "access-2".to_owned(),
        next: "access-2".to_owned(),
        refresh: "refresh-of-access-1".to_owned(),
        ..Default::default()
    };
    let listed = tools(&world, &["list"]);
    assert!(listed.contains("docs/whoami"), "{listed}");
    let renewal = server.rules().exchanges[0].clone();
    assert!(renewal.contains("grant_type=refresh_token"), "{renewal}");

    server.rules().refuses_calls = true;
    let called = tools(&world, &["call", "docs/whoami"]);
    assert!(called.starts_with("exit status 1"), "{called}");
    assert!(called.contains(&format!("401 unauthorized: {NEEDS_SIGN_IN}")), "{called}");

    *server.rules() = crate::sign_in_server::Rules { refresh: "another".to_owned(), ..Default::default() };
    let listed = tools(&world, &["list"]);
    assert!(listed.contains(NEEDS_SIGN_IN) && !listed.contains("docs/whoami"), "{listed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_in_ends_only_with_its_own_redirect_and_may_be_refused() {
    let server = SignInServer::start().await;
    let world = World::new().file("reknit.toml", &entry(&server, ""));
    server.rules().refuses_sign_in = true;
    let (mut child, _rest, page) = start_sign_in(&world, &[]).await;
    let back = location(&get(&page).await);
    let forged = format!("{}?code=stolen&state=forged", back.split('?').next().expect("an address"));
    assert!(get(&forged).await.starts_with("HTTP/1.1 404"), "another state is not for us");
    assert!(child.try_wait().expect("its state is known").is_none(), "it still waits");
    assert!(get(&back).await.contains("the sign-in was refused: access_denied"));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(error.contains("cannot sign in to `docs`: the sign-in was refused: access_denied"), "{error}");
    assert_eq!(files_in(world.path().join("state/reknit/mcp")), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registered_client_and_a_key_for_the_tokens_come_from_the_environment() {
    let server = SignInServer::start().await;
    let keys = "client-id-env = \"DOCS_ID\"\nclient-secret-env = \"DOCS_SECRET\"\nscopes = [\"read\"]\ntoken-key-env = \"TOKEN_KEY\"";
    let world = World::new().file("reknit.toml", &entry(&server, keys));
    let unset = tools(&world, &["list"]);
    assert!(unset.contains("variable `DOCS_ID`, which is not set"), "{unset}");
    let variables = [("DOCS_ID", "my-client"), ("DOCS_SECRET", "client-secret-1"), ("TOKEN_KEY", "a long key")];
    let (child, _rest, page) = start_sign_in(&world, &variables).await;
    assert!(page.contains("client_id=my-client") && page.contains("scope=read"), "{page}");
    get(&location(&get(&page).await)).await;
    let output = child.wait_with_output().expect("it ends");
    assert!(text(&output.stderr).contains("encrypted with the key of `token-key-env`"), "{}", text(&output.stderr));
    assert!(!world.path().join("data/reknit/token-key").exists(), "no key file is needed");
    let list = ["tools", "list", "--config", "reknit.toml"];
    assert!(world.reknit_with(&variables, &list).contains("docs/whoami"));
    let others = [("DOCS_ID", "my-client"), ("DOCS_SECRET", "client-secret-1"), ("TOKEN_KEY", "another")];
    let unreadable = world.reknit_with(&others, &list);
    assert!(
        unreadable.contains("written with another key; sign in again: `reknit tools sign-in docs`"),
        "{unreadable}"
    );
    assert!(!unreadable.contains("client-secret-1"), "{unreadable}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_found_file_does_not_use_a_sign_in_until_it_is_trusted() {
    let server = SignInServer::start().await;
    let world = World::new().file("reknit.toml", &entry(&server, ""));
    for arguments in [&["tools", "list"][..], &["tools", "sign-in", "docs"], &["tools", "sign-out", "docs"]] {
        let refused = world.reknit(arguments);
        assert!(refused.starts_with("exit status 2"), "{refused}");
        let place = "tool `docs`: the token of its sign-in is sent to http://127.0.0.1:";
        assert!(refused.contains("is not trusted") && refused.contains(place), "{refused}");
    }
    assert_eq!(server.rules().tokens, Vec::<String>::new(), "nothing is sent");
    world.reknit(&["trust"]);
    assert!(world.reknit(&["tools", "list"]).contains(NEEDS_SIGN_IN));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_in_needs_a_tool_with_oauth() {
    let world = World::new().file("reknit.toml", "[[mcp]]\nname = \"docs\"\nurl = \"http://127.0.0.1:9/mcp\"\n");
    let other = tools(&world, &["sign-in", "docs"]);
    assert!(other.contains("the tool `docs` needs no sign-in"), "{other}");
    let misspelt = tools(&world, &["sign-in", "dosc"]);
    assert!(misspelt.contains("did you mean `docs`?"), "{misspelt}");
    for (keys, problem) in [
        ("auth = \"oauth\"\nkey-env = \"X\"", "has tokens of its own"),
        ("scopes = [\"a\"]", "it has no effect without `auth = \"oauth\"`"),
        ("auth = \"oauth\"\nclient-secret-env = \"X\"", "write also `client-id-env`"),
        ("auth = \"oauth\"\nclient-id-env = \"sk-abc\"", "it looks like a key and is not shown here"),
    ] {
        let config = format!("[[mcp]]\nname = \"docs\"\nurl = \"http://127.0.0.1:9/mcp\"\n{keys}\n");
        let world = World::new().file("reknit.toml", &config);
        let refused = tools(&world, &["list"]);
        assert!(refused.starts_with("exit status 2") && refused.contains(problem), "{refused}");
    }
}
