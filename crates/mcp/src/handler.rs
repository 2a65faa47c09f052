//! What a server may ask or tell us.

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, JsonObject, ProtocolVersion, TASKS_EXTENSION_ID};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::watch;

/// Answers a server: it may only ping, and tell that its tools have changed. Progress is read and has no effect.
#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) generation: watch::Sender<u64>,
}

impl Handler {
    /// Notes that the list of tools has changed.
    pub(crate) fn tools_changed(generation: &watch::Sender<u64>) {
        generation.send_modify(|generation| *generation += 1);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("reknit", env!("CARGO_PKG_VERSION"));
        let mut capabilities = ClientCapabilities::default();
        capabilities.extensions = Some([(TASKS_EXTENSION_ID.to_owned(), JsonObject::new())].into());
        ClientConfig::new(capabilities, us).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        Self::tools_changed(&self.generation);
    }
}
