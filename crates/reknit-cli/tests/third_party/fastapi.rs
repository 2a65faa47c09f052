//! A `FastAPI` service, imported from its own `/openapi.json`.

use std::fs;
use std::process::Command;

use crate::server::{Server, installed, printed, reknit, sources};

const PLAN: &str = r#"{"plan_id": "p", "original_request": "Order two of item 7, in euros", "steps": [
  {"step_id": "quote", "agent_name": "shop", "metadata": {"capability": "quote",
    "parameters": {"item_id": "7", "currency": "eur"}}},
  {"step_id": "order", "agent_name": "shop", "depends_on": ["quote"], "metadata": {"capability": "order",
    "parameters": {"item": "{{quote.item}}", "quantity": "2", "currency": "eur"}}}]}"#;

#[test]
#[ignore = "needs FastAPI"]
fn a_fastapi_service_is_called_and_its_422_is_mended_by_facts_for_a_get_and_a_keyed_post() {
    let server = Server::start(|port| {
        let mut command = Command::new(installed().join("python/bin/uvicorn"));
        command.args(["shop:app", "--log-level", "warning", "--port", &port.to_string()]);
        command.current_dir(sources()).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    });
    let folder = tempfile::tempdir().expect("a folder");
    let config =
        format!("[[openapi]]\nname = \"shop\"\ndocument = \"{}/openapi.json\"\nkey-env = \"SHOP_TOKEN\"\n", server.url);
    fs::write(folder.path().join("shop.toml"), config).expect("it is written");
    fs::write(folder.path().join("plan.json"), PLAN).expect("it is written");
    let run = |arguments: &[&str]| {
        printed(&reknit(folder.path(), &[("SHOP_TOKEN", "shop-secret-1"), ("REKNIT_CONFIG", "shop.toml")], arguments))
    };
    assert_eq!(run(&["tools", "check"]), "shop\n  quote: read\n  order: keyed\n");
    insta::assert_snapshot!(run(&["run", "plan.json", "--answer", "template"]), @r#"
    Everything was done.

    Done:
    - quote (quote): {"item":"item-7","price":12.5,"currency":"EUR"}
    - order (order): {"order_id":"o-1","item":"item-7","quantity":2,"currency":"EUR"}

    Mended:
    - quote by schema: $.item_id: "7" -> 7
    - quote by facts: allowed: currency "eur" -> "EUR", from the allowed values (`currency`: must be one of "EUR", "USD")
    - order by schema: $.quantity: "2" -> 2
    - order by facts: allowed: currency "eur" -> "EUR", from the allowed values (`currency`: must be one of "EUR", "USD")
    "#);
    // The token is nowhere in the journal.
    let journal = fs::read(folder.path().join("data/reknit/journal.db")).expect("the journal exists");
    assert!(!journal.windows(13).any(|window| window == b"shop-secret-1"));
}
