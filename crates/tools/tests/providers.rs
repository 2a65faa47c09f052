//! Providers of sources: services that come and go.
#![cfg(test)]

mod support;

use std::sync::{Arc, Mutex};

use reknit_fakes::ScriptedTool;
use reknit_protocol::{CallTool, Capability, SideEffect, Value};
use reknit_tools::{
    Address, BoxFuture, ChangeOutcome, Client, Discovery, FoundSources, HttpService, ListingStore, SourceProvider,
    ToolService, ToolSource, discover_all,
};
use support::new_call;

/// Finds services under one name. Without a list it cannot be asked.
#[derive(Debug)]
struct Scripted {
    name: &'static str,
    urls: Mutex<Option<Vec<String>>>,
}

impl Scripted {
    fn new(name: &'static str, urls: &[String]) -> Arc<Self> {
        Arc::new(Self { name, urls: Mutex::new(Some(urls.to_vec())) })
    }

    fn sources(&self, urls: &[String]) -> Vec<Arc<dyn ToolSource>> {
        let registered = Value::parse(r#"{"description": "Sells", "capabilities": [{"name": "price"}]}"#);
        let registered = registered.expect("it is JSON");
        let source = |url: &String| {
            let address = Address::parse(self.name, url).expect("an address");
            let service = HttpService::without_credentials(address, Client::new().expect("a client"));
            Arc::new(ToolService::of_registry(service, registered.clone())) as Arc<dyn ToolSource>
        };
        urls.iter().map(source).collect()
    }
}

impl SourceProvider for Scripted {
    fn name(&self) -> &'static str {
        "list"
    }

    fn address(&self) -> String {
        "here".to_owned()
    }

    fn find<'a>(&'a self, _previous: Option<&'a str>) -> BoxFuture<'a, Result<FoundSources, String>> {
        let urls = self.urls.lock().expect("no panic").clone();
        let found = urls.ok_or_else(|| "it is down".to_owned()).map(|urls| FoundSources {
            sources: self.sources(&urls),
            problems: Vec::new(),
            notes: Vec::new(),
            saved: urls.join(" "),
        });
        Box::pin(std::future::ready(found))
    }

    fn restore(&self, saved: &str) -> Result<Vec<Arc<dyn ToolSource>>, String> {
        Ok(self.sources(&saved.split(' ').map(str::to_owned).collect::<Vec<_>>()))
    }
}

async fn discover(provider: &Arc<Scripted>, store: &ListingStore) -> Discovery {
    discover_all(&[], &[Arc::clone(provider) as Arc<dyn SourceProvider>], store).await
}

fn names(found: &Discovery) -> Vec<String> {
    found.catalogue.tools.iter().flat_map(|tool| tool.capabilities.iter().map(|entry| tool.key(entry))).collect()
}

fn messages(found: &Discovery) -> Vec<&str> {
    found.problems.iter().map(|problem| problem.message.as_str()).collect()
}

fn call() -> CallTool {
    new_call("shop", "price", SideEffect::Read)
}

const NOWHERE: &str = "http://127.0.0.1:9";

#[tokio::test]
async fn the_last_known_services_are_used_while_their_provider_is_down() {
    let tool = ScriptedTool::new("shop").capability("price", SideEffect::Read).start().await.expect("it starts");
    let provider = Scripted::new("shop", &[tool.base_url()]);
    let folder = tempfile::tempdir().expect("a folder");
    let store = ListingStore::in_folder(folder.path());
    assert_eq!(names(&discover(&provider, &store).await), ["shop/price"]);
    *provider.urls.lock().expect("no panic") = None;
    let found = discover(&provider, &ListingStore::in_folder(folder.path())).await;
    assert_eq!(
        (names(&found), messages(&found)),
        (vec!["shop/price".to_owned()], vec!["it is down; its last known services are used"])
    );
    assert!(found.tools.call(&call()).await.is_ok(), "it is reached");
    let found = discover(&provider, &ListingStore::in_memory()).await;
    assert_eq!((names(&found), messages(&found)), (Vec::new(), vec!["it is down"]));
}

#[tokio::test]
async fn what_was_known_is_kept_when_neither_the_service_nor_the_files_can_be_read() {
    let tool = ScriptedTool::new("shop").capability("price", SideEffect::Read).start().await.expect("it starts");
    let provider = Scripted::new("shop", &[tool.base_url()]);
    let folder = tempfile::tempdir().expect("a folder");
    let store = ListingStore::in_folder(folder.path());
    discover(&provider, &store).await;
    drop(tool);
    *provider.urls.lock().expect("no panic") = None;
    // As when the process may open no more files.
    for file in std::fs::read_dir(folder.path()).expect("the folder") {
        let path = file.expect("a file").path();
        std::fs::remove_file(&path).and_then(|()| std::fs::create_dir(&path)).expect("a folder in its place");
    }
    let found = discover(&provider, &store).await;
    assert_eq!(names(&found), ["shop/price"], "{:?}", found.problems);
    assert_eq!(found.catalogue.tools[0].capabilities[0].withheld, None);
}

#[tokio::test]
async fn a_registered_service_that_is_down_is_known_by_its_registration() {
    let provider = Scripted::new("shop", &[NOWHERE.to_owned()]);
    let found = discover(&provider, &ListingStore::in_memory()).await;
    assert_eq!(names(&found), ["shop/price"]);
    assert_eq!(found.catalogue.tools[0].description, "Sells");
    assert_eq!(found.stale.iter().map(ToString::to_string).collect::<Vec<_>>(), ["shop"]);
    assert_eq!(messages(&found), ["connection refused; is the tool running? (its last known capabilities are used)"]);
}

#[tokio::test]
async fn an_instance_that_is_down_does_not_replace_what_another_one_announces() {
    let tool = ScriptedTool::new("shop").capability("price", SideEffect::Read).start().await.expect("it starts");
    let provider = Scripted::new("shop", &[NOWHERE.to_owned(), tool.base_url()]);
    let found = discover(&provider, &ListingStore::in_memory()).await;
    let entry = &found.catalogue.tools[0].capabilities[0];
    assert_eq!(entry.capability.effect, SideEffect::Read, "the registration does not say it");
    assert!(found.stale.is_empty());
    let instances: Vec<_> = found.instances.iter().map(|one| (one.tool.as_str(), one.problem.is_none())).collect();
    assert_eq!(instances, [("shop", true), ("shop", false)], "those that answer come first");
    assert_eq!(messages(&found), ["connection refused; is the tool running? (its last known capabilities are used)"]);
    for _ in 0..4 {
        assert!(found.tools.call(&call()).await.is_ok(), "it is reached");
    }
}

#[tokio::test]
async fn a_configured_tool_takes_precedence_over_a_registered_service_with_its_name() {
    let tool = ScriptedTool::new("shop").capability("order", SideEffect::Read).start().await.expect("it starts");
    let configured = Scripted::new("shop", &[]).sources(&[tool.base_url()]);
    let provider = Scripted::new("shop", &[NOWHERE.to_owned()]);
    let found = discover_all(&configured, &[provider as Arc<dyn SourceProvider>], &ListingStore::in_memory()).await;
    assert_eq!(names(&found), ["shop/order"]);
    assert_eq!(found.notes[0].message, "it is not used, for a tool with this name is configured");
    assert!(found.problems.is_empty());
}

#[tokio::test]
async fn what_any_instance_announces_when_the_tool_is_first_seen_is_pinned() {
    let started = async |names: &[&str]| {
        let add = |tool: ScriptedTool, name: &&str| tool.capability(*name, SideEffect::Unsafe);
        names.iter().fold(ScriptedTool::new("shop"), add).start().await.expect("it starts")
    };
    let (one, two, three) =
        (started(&["pay"]).await, started(&["pay", "refund"]).await, started(&["pay", "void"]).await);
    let (provider, store) = (Scripted::new("shop", &[one.base_url(), two.base_url()]), ListingStore::in_memory());
    for _ in 0..2 {
        let found = discover(&provider, &store).await;
        assert!(found.changes.is_empty(), "{:?}", found.problems);
        assert_eq!(names(&found), ["shop/pay", "shop/refund"]);
    }
    *provider.urls.lock().expect("no panic") = Some(vec![one.base_url(), three.base_url()]);
    let found = discover(&provider, &store).await;
    let added: Vec<_> = found.changes.iter().map(|change| change.capability.as_str()).collect();
    assert_eq!(added, ["void"]);
}

#[tokio::test]
async fn a_new_instance_with_another_definition_is_a_change_of_the_tool() {
    let started = async |description: &str| {
        let mut capability = Capability::new("pay");
        (capability.description, capability.effect) = (description.to_owned(), SideEffect::Unsafe);
        ScriptedTool::new("shop").announce(capability).start().await.expect("it starts")
    };
    let (first, second) = (started("Pays.").await, started("Pays twice.").await);
    let (provider, store) = (Scripted::new("shop", &[first.base_url()]), ListingStore::in_memory());
    assert!(discover(&provider, &store).await.changes.is_empty());
    *provider.urls.lock().expect("no panic") = Some(vec![second.base_url()]);
    let found = discover(&provider, &store).await;
    assert_eq!(found.changes.iter().map(|change| change.outcome).collect::<Vec<_>>(), [ChangeOutcome::Withheld]);
}
