//! A real Redis server as the registry of services.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::Synthesis;
use reknit_plan::Catalogue;
use reknit_protocol::{Plan, SideEffect, Step, ToolError, Value};
use reknit_registry::{Namespace, RedisUrl, RegistrationOptions, RegistrationStatus, Registry};
use reknit_runtime::{DriveOutcome, Runtime};
use reknit_tool_service::{CallContext, CapabilityDefinition, RunningService, Service};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::redis_server::Redis;
use crate::server::{printed, reknit};

#[derive(Deserialize, JsonSchema)]
struct Item {
    item: String,
}

#[derive(Serialize, JsonSchema)]
struct Price {
    item: String,
    price: u32,
}

/// A service whose calls wait for a permit.
fn shop(gate: &Arc<Semaphore>) -> Service {
    let gate = Arc::clone(gate);
    let price = move |_: CallContext, Item { item }: Item| {
        let gate = Arc::clone(&gate);
        async move {
            gate.acquire().await.expect("it is never closed").forget();
            Ok::<_, ToolError>(Price { item, price: 12 })
        }
    };
    let price = CapabilityDefinition::new("price", SideEffect::Read, price).description("The price of an item");
    Service::new("shop").description("Sells").capability(price.output::<Price>())
}

fn open_shop() -> Service {
    shop(&Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)))
}

async fn registered(service: &RunningService) {
    let mut status = service.registration().expect("it registers itself");
    let registered = status.wait_for(|status| *status == RegistrationStatus::Registered);
    tokio::time::timeout(Duration::from_mins(3), registered).await.expect("in time").expect("it goes on");
}

fn options(redis: &Redis) -> RegistrationOptions {
    RegistrationOptions::new(RedisUrl::parse(&redis.url()).expect("an address"))
}

/// Runs the command, which knows no tool but those of the registry.
fn with_registry(
    folder: &TempDir,
    redis: &Redis,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> std::process::Output {
    let url = redis.url();
    let variables: Vec<(&str, &str)> = [("GOMIND_REDIS_URL", url.as_str())].iter().chain(variables).copied().collect();
    reknit(folder.path(), &variables, arguments)
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(catalogue: &Catalogue) -> Vec<String> {
    catalogue.tools.iter().flat_map(|tool| tool.capabilities.iter().map(|entry| tool.key(entry))).collect()
}

fn step(id: &str) -> Step {
    let parameters = Value::parse(r#"{"item": "lamp"}"#).expect("it is JSON");
    Step::new(id, "shop", "price", "").with_parameters(parameters.as_object().expect("an object").clone())
}

fn assert_done(outcome: &DriveOutcome) {
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    assert!(answer.text.starts_with("Everything was done."), "{answer:?}");
}

const LISTED: &str = "shop/price  read  The price of an item\n";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server"]
async fn two_registered_instances_are_one_tool_and_calls_go_to_the_one_that_is_left() {
    let redis = Redis::start();
    let one = open_shop().register(options(&redis)).start().await.expect("it starts");
    let other = open_shop().register(options(&redis)).start().await.expect("it starts");
    registered(&one).await;
    registered(&other).await;
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(printed(&with_registry(&folder, &redis, &[], &["tools", "list"])), LISTED);
    let builder = Runtime::builder().discovery_redis(RedisUrl::parse(&redis.url()).expect("an address"));
    let reknit = Runtime::from_builder(builder.answer_by(Synthesis::Template)).await.expect("it starts");
    assert!(reknit.problems.is_empty(), "{:?}", reknit.problems);
    // Dropping it is like a crash: its record is still there.
    drop(one);
    for _ in 0..4 {
        assert_done(
            &reknit.run(Plan::new("p", "What is the price of a lamp?", vec![step("a")])).await.expect("it runs"),
        );
    }
    let call = ["tools", "call", "shop/price", "item=lamp"];
    let called = with_registry(&folder, &redis, &[], &call);
    assert!(printed(&called).contains("12"), "{called:?}");
    assert!(stderr(&called).contains("connection refused"), "{}", stderr(&called));
    other.shutdown().await.expect("it ends");
    assert_eq!(redis.cli(&["SCARD", "gomind:names:shop"]), "1\n", "that of the instance that crashed");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server"]
async fn a_redis_server_that_is_killed_and_restarted_during_a_run_loses_no_tool_and_is_filled_again() {
    let mut redis = Redis::start();
    let gate = Arc::new(Semaphore::new(0));
    let options = RegistrationOptions { ttl: Duration::from_secs(4), ..options(&redis) };
    let service = shop(&gate).register(options).start().await.expect("it starts");
    registered(&service).await;
    let builder = Runtime::builder().discovery_redis(RedisUrl::parse(&redis.url()).expect("an address"));
    let builder = builder.answer_by(Synthesis::Template).catalogue_refresh(Duration::from_millis(200));
    let reknit = Runtime::from_builder(builder).await.expect("it starts");
    let run = tokio::spawn({
        let reknit = reknit.clone();
        let second = Step { depends_on: vec!["a".into()], ..step("b") };
        async move { reknit.run(Plan::new("p", "What is the price of a lamp?", vec![step("a"), second])).await }
    });

    redis.kill();
    let mut status = service.registration().expect("it registers itself");
    let failing = status.wait_for(|status| matches!(status, RegistrationStatus::Failing(_)));
    drop(tokio::time::timeout(Duration::from_mins(3), failing).await.expect("in time").expect("it goes on"));
    let problems = reknit.refresh_tools().await;
    let problem = &problems.first().expect("the registry is down").to_string();
    assert!(problem.starts_with(&format!("tool `registry` at {} (gomind): cannot connect", redis.url())), "{problem}");
    assert!(problem.ends_with("; its last known services are used"), "{problem}");
    assert_eq!(names(&reknit.current_catalogue()), ["shop/price"]);

    redis.restart();
    // The service may or may not have registered again. It answers, so it is used.
    assert!(reknit.refresh_tools().await.is_empty());
    assert_eq!(names(&reknit.current_catalogue()), ["shop/price"]);
    registered(&service).await;
    assert_eq!(redis.cli(&["SCARD", "gomind:capabilities:price"]), "1\n");

    gate.add_permits(8);
    assert_done(&run.await.expect("no panic").expect("it runs"));
    assert_done(&reknit.run(Plan::new("p", "What is the price of a lamp?", vec![step("a")])).await.expect("it runs"));
    service.shutdown().await.expect("it ends");
    assert_eq!(redis.cli(&["DBSIZE"]), "0\n");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server"]
async fn records_that_others_wrote_are_used_and_broken_ones_are_reported() {
    let redis = Redis::start();
    let service = open_shop().start().await.expect("it starts");
    let port = service.address().port();
    let record = |id: &str, name: &str, address: &str, health: &str| {
        let capability =
            r#"{"name":"price","description":"The price of an item","endpoint":"/api/capabilities/price"}"#;
        let json = format!(
            r#"{{"id":"{id}","name":"{name}","type":"tool","description":"Sells","address":"{address}","port":{port},"capabilities":[{capability}],"metadata":{{"version":"1.0"}},"health":"{health}","last_seen":"2026-01-01T00:00:00.000000001Z"}}"#
        );
        redis.cli(&["SET", &format!("gomind:services:{id}"), &json, "EX", "300"]);
        for index in ["capabilities:price".to_owned(), format!("names:{name}"), "types:tool".to_owned()] {
            redis.cli(&["SADD", &format!("gomind:{index}"), id]);
        }
    };
    record("shop-0a1b2c3d", "shop", "localhost", "healthy");
    let folder = tempfile::tempdir().expect("a folder");
    let list = |variables: &[(&str, &str)]| with_registry(&folder, &redis, variables, &["tools", "list"]);
    let checked = with_registry(&folder, &redis, &[], &["tools", "check"]);
    assert_eq!((printed(&checked), stderr(&checked)), ("shop\n  price: read\n".to_owned(), String::new()));
    assert_eq!(printed(&list(&[])), LISTED);
    for (variable, value) in [
        ("REKNIT_DISCOVERY_EXCLUDE", "shop"),
        ("REKNIT_DISCOVERY_INCLUDE", "other"),
        ("GOMIND_DISCOVERY_NAMESPACE", "other"),
    ] {
        let nothing = list(&[(variable, value)]);
        assert_eq!(printed(&nothing), "", "{variable}");
        assert!(stderr(&nothing).contains("no tool has a capability"), "{}", stderr(&nothing));
    }
    let off = list(&[("GOMIND_DISCOVERY_ENABLED", "false")]);
    assert!(stderr(&off).contains("no tool is configured"), "{}", stderr(&off));
    let usual = redis.url();
    let usual =
        reknit(folder.path(), &[("REDIS_URL", &usual), ("GOMIND_DISCOVERY_ENABLED", "true")], &["tools", "list"]);
    assert_eq!(printed(&usual), LISTED);

    record("bad-1", "bad", "shop/../admin", "healthy");
    record("sick-1", "sick", "localhost", "unhealthy");
    redis.cli(&["SET", "gomind:services:text", "hello"]);
    redis.cli(&["SADD", "gomind:services:set", "hello"]);
    redis.cli(&["COPY", "gomind:services:shop-0a1b2c3d", "gomind:services:shop-copy"]);
    redis.cli(&["SET", "gomind:services:large", &"x".repeat(100_000)]);
    redis.cli(&["SETRANGE", "gomind:services:large", "300000", "x"]);
    let checked = with_registry(&folder, &redis, &[], &["tools", "check"]);
    assert_eq!(String::from_utf8_lossy(&checked.stdout), "shop\n  price: read\n");
    insta::assert_snapshot!(stderr(&checked).replace(&redis.url(), "REDIS"), @r#"
    error: tool `registry` at REDIS (gomind): a service is not used: gomind:services:bad-1: its field `address` must be a host name or an IP address, without a path
    error: tool `registry` at REDIS (gomind): a service is not used: gomind:services:large: it is larger than 262144 bytes
    error: tool `registry` at REDIS (gomind): a service is not used: gomind:services:set: it cannot be read: "WRONGTYPE": Operation against a key holding the wrong kind of value
    error: tool `registry` at REDIS (gomind): a service is not used: gomind:services:shop-copy: its `id` is not the one in its key
    error: tool `registry` at REDIS (gomind): a service is not used: gomind:services:text: it is not a JSON object: line 1, column 1: expected a value, found `h`
    note: tool `registry` at REDIS (gomind): `sick-1` is not used, for it says that it is unhealthy
    "#);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server"]
async fn a_registration_has_the_layout_that_others_read() {
    let redis = Redis::start();
    let service = open_shop().register(options(&redis)).start().await.expect("it starts");
    registered(&service).await;
    let key = redis.cli(&["KEYS", "gomind:services:*"]).trim().to_owned();
    let id = key.strip_prefix("gomind:services:").expect("a key");
    let record = Value::parse(redis.cli(&["GET", &key]).trim()).expect("it is JSON");
    let field = |name: &str| record.get(name).map(ToString::to_string).unwrap_or_default();
    assert_eq!(
        [field("id"), field("name"), field("type")],
        [format!("\"{id}\""), "\"shop\"".into(), "\"tool\"".into()]
    );
    assert_eq!([field("address"), field("port")], ["\"127.0.0.1\"".to_owned(), service.address().port().to_string()]);
    assert_eq!([field("description"), field("health")], ["\"Sells\"", "\"healthy\""]);
    let seconds = |key: &str| redis.cli(&["TTL", key]).trim().parse::<u32>().expect("a number");
    assert!((1..=30).contains(&seconds(&key)));
    for index in ["gomind:capabilities:price", "gomind:names:shop", "gomind:types:tool"] {
        assert_eq!(redis.cli(&["SMEMBERS", index]).trim(), id);
        assert!((31..=60).contains(&seconds(index)), "{index}");
    }
    service.shutdown().await.expect("it ends");
    assert_eq!(redis.cli(&["DBSIZE"]), "0\n");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server"]
async fn a_registered_service_that_is_down_is_still_known() {
    let redis = Redis::start();
    let service = open_shop().register(options(&redis)).start().await.expect("it starts");
    registered(&service).await;
    drop(service);
    let folder = tempfile::tempdir().expect("a folder");
    let listed = with_registry(&folder, &redis, &[], &["tools", "list"]);
    assert_eq!(printed(&listed), LISTED);
    assert!(stderr(&listed).contains("its last known capabilities are used"), "{}", stderr(&listed));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server"]
async fn a_registry_with_too_many_services_is_read_up_to_a_limit() {
    let redis = Redis::start();
    let fill = "for i = 1, 12000 do local id = string.format('x-%08x', i); redis.call('SET', 'gomind:services:' .. id, \
                '{\"id\":\"' .. id .. '\",\"name\":\"x\",\"address\":\"h\",\"port\":1}'); \
                redis.call('SET', 'other:' .. i, i) end";
    redis.cli(&["EVAL", fill, "0"]);
    let registry = Registry::new(RedisUrl::parse(&redis.url()).expect("an address"), Namespace::default());
    let found = registry.list().await.expect("it is listed");
    let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    let expected = "gomind:services:*: there are more than 10000 services; the others are not used";
    assert_eq!((found.services.len(), problems), (10_000, vec![expected.to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server"]
async fn the_password_of_a_redis_server_is_sent_and_never_shown() {
    let redis = Redis::start();
    let service = open_shop().register(options(&redis)).start().await.expect("it starts");
    registered(&service).await;
    redis.cli(&["CONFIG", "SET", "requirepass", "hunter2"]);
    let folder = tempfile::tempdir().expect("a folder");
    let list = |user: &str| {
        let url = redis.url().replace("://", &format!("://{user}"));
        reknit(folder.path(), &[("REKNIT_REDIS_URL", &url)], &["tools", "list"])
    };
    let wrong = list(":hunter3@");
    assert!(stderr(&wrong).contains("registry` at redis://[redacted]@127.0.0.1"), "{}", stderr(&wrong));
    assert!(!stderr(&wrong).contains("hunter"), "{}", stderr(&wrong));
    assert_eq!(printed(&list(":hunter2@")), LISTED);
    let with_tls = redis.url().replace("redis://", "rediss://:hunter2@");
    let with_tls = reknit(folder.path(), &[("REKNIT_REDIS_URL", &with_tls)], &["tools", "list"]);
    assert_eq!(printed(&with_tls), "");
    assert!(stderr(&with_tls).contains("cannot connect to Redis at rediss://[redacted]@"), "{}", stderr(&with_tls));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server"]
async fn in_a_cluster_a_service_registers_under_the_address_of_its_kubernetes_service() {
    let redis = Redis::start();
    let url = redis.url();
    let options = RegistrationOptions::from_environment(&|name| {
        let value = match name {
            "GOMIND_REDIS_URL" => url.as_str(),
            "KUBERNETES_SERVICE_HOST" => "10.0.0.1",
            "GOMIND_K8S_SERVICE_NAME" => "shop",
            "GOMIND_K8S_NAMESPACE" => "prod",
            "HOSTNAME" => "shop-7d9f-x2x",
            _ => return None,
        };
        Some(value.to_owned())
    });
    let options = options.expect("the environment is complete").expect("it names a registry");
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.expect("a port");
    let service = open_shop().register(options.clone()).serve(listener).expect("it starts");
    let other = open_shop().register(options).start().await.expect("it starts");
    registered(&service).await;
    registered(&other).await;
    let registry = Registry::new(RedisUrl::parse(&redis.url()).expect("an address"), Namespace::default());
    let found = registry.list().await.expect("it is listed");
    for record in &found.services {
        assert_eq!(record.base_url().expect("an address"), "http://shop.prod.svc.cluster.local:80");
        assert_eq!(record.metadata.get("pod_name").and_then(Value::as_str), Some("shop-7d9f-x2x"));
    }
    assert_eq!(found.services.len(), 2);
    let folder = tempfile::tempdir().expect("a folder");
    let checked = with_registry(&folder, &redis, &[], &["tools", "check"]);
    let errors = stderr(&checked);
    assert_eq!(errors.matches("error: ").count(), 1, "both pods have one address: {errors}");
}
