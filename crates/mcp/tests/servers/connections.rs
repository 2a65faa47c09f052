//! Certificates and the proxy of a server with streamable HTTP.

use reknit_mcp::{McpConnection, McpOptions, McpSource};
use reknit_tools::{ConnectionOptions, ToolSource as _};

use crate::scripted_service::{Script, start};
use crate::support::{endpoint, list};
use crate::tls_front::{self, certificate};

fn with(url: &str, connection: ConnectionOptions) -> McpOptions {
    let mut options = endpoint(url);
    if let McpConnection::Http(endpoint) = &mut options.connection {
        endpoint.connection = connection;
    }
    options
}

#[tokio::test]
async fn a_server_is_reached_with_its_own_authority_and_a_certificate_of_the_client() {
    let (service, _) = start(Script::Json).await;
    let url = tls_front::start(&service);
    let ca_file = Some(certificate("ca.pem"));
    let certificate_file = Some(certificate("client.pem"));
    let both = ConnectionOptions { ca_file: ca_file.clone(), certificate_file: certificate_file.clone(), proxy: None };
    assert_eq!(list(&McpSource::new(with(&url, both))).await.capabilities.len(), 1);
    for (connection, case) in [
        (ConnectionOptions { certificate_file, ..ConnectionOptions::default() }, "an unknown authority"),
        (ConnectionOptions { ca_file, ..ConnectionOptions::default() }, "no certificate of the client"),
    ] {
        let problem = McpSource::new(with(&url, connection)).list().await.expect_err(case);
        assert!(problem.contains("cannot be reached") || problem.contains("broke the connection"), "{case}: {problem}");
    }
}

#[tokio::test]
async fn a_certificate_that_cannot_be_read_is_a_problem_of_its_server() {
    let connection = ConnectionOptions { ca_file: Some("missing.pem".into()), ..ConnectionOptions::default() };
    let problem = McpSource::new(with("https://127.0.0.1:9/mcp", connection)).list().await.expect_err("no such file");
    assert!(problem.starts_with("cannot read `missing.pem`: "), "{problem}");
}

#[tokio::test]
async fn requests_go_through_the_proxy_that_is_configured() {
    let (proxy, received) = start(Script::Json).await;
    let proxy = proxy.trim_end_matches("/mcp").to_owned();
    let connection = ConnectionOptions { proxy: Some(proxy), ..ConnectionOptions::default() };
    list(&McpSource::new(with("http://mcp.invalid/mcp", connection))).await;
    let received = received.lock().expect("no test has panicked");
    assert!(received.headers.iter().all(|headers| headers["host"] == "mcp.invalid"), "{received:?}");
    assert!(!received.methods.is_empty());
}
