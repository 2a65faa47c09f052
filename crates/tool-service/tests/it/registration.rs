//! Services that register themselves. `crates/reknit-cli/tests/third_party/redis.rs` tests them with a Redis server.

use reknit_tool_service::{
    BuildError, RedisUrl, RegistrationOptions, RegistrationStatus, ServeError, Service, ShutdownError,
};
use tokio::net::TcpListener;

use crate::support::client;

/// Nothing listens there.
fn unreachable() -> RegistrationOptions {
    RegistrationOptions::new(RedisUrl::parse("redis://me:hunter2@127.0.0.1:9").expect("an address"))
}

#[tokio::test]
async fn a_service_serves_while_its_registry_is_down_and_says_so() {
    let running = Service::new("shop").register(unreachable()).start().await.expect("it starts");
    let mut status = running.registration().expect("it registers itself");
    let failing = status.wait_for(|status| *status != RegistrationStatus::Starting).await.expect("it goes on").clone();
    let RegistrationStatus::Failing(problem) = failing else { panic!("{failing:?}") };
    assert!(problem.starts_with("cannot connect to Redis at redis://[redacted]@127.0.0.1:9: "), "{problem}");
    let health = client().get(format!("{}/health", running.base_url())).send().await.expect("it answers");
    assert_eq!(health.status(), 200);
    let error = running.shutdown().await.expect_err("it cannot be removed");
    assert!(matches!(error, ShutdownError::Registration(_)), "{error}");
}

#[tokio::test]
async fn a_service_without_an_address_for_others_is_not_registered_under_a_useless_one() {
    let listener = TcpListener::bind("0.0.0.0:0").await.expect("a port");
    let error = Service::new("shop").register(unreachable()).serve(listener).expect_err("it has no address");
    assert!(matches!(error, ServeError::NoAddress), "{error}");
    let mut options = unreachable();
    options.address.host = Some("shop/admin".to_owned());
    let error = Service::new("shop").register(options).start().await.expect_err("it is no host");
    assert!(matches!(error, ServeError::Record(_)), "{error}");
    let error = Service::new("shop").register(unreachable()).router().expect_err("it has no listener");
    assert_eq!(error, BuildError::RegisteredRouter);
}
