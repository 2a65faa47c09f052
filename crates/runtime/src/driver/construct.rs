//! How a driver is made: its parts, each with a default.

use std::sync::Arc;

use reknit_config::{BreakerPolicy, CallLimits};
use reknit_engine::{MIGRATIONS, SnapshotMigration};
use reknit_journal::{Holder, Journal};
use tokio_util::sync::CancellationToken;

use super::{Driver, DriverParts};
use crate::approval_webhook::ApprovalWebhook;
use crate::breakers::Breakers;
use crate::callbacks::Callbacks;
use crate::clock::Clock;
use crate::effect_executor::EffectExecutor;
use crate::effect_runner::EffectRunner;
use crate::piece_watcher::PieceWatcher;
use crate::pruner::Pruner;
use crate::remote_engine::RemoteEngine;
use crate::rule_store::RuleStore;
use crate::run_owner::RunOwner;
use crate::telemetry::Telemetry;
use crate::transport::Transport;
use crate::watcher::Watcher;

impl Driver {
    /// A driver with its own call limits and circuit breakers.
    pub fn new(journal: Journal, transport: Arc<dyn Transport>, clock: Arc<dyn Clock>, limits: CallLimits) -> Self {
        let breakers = Breakers::new(limits, BreakerPolicy::default(), Arc::clone(&clock));
        Self::with_breakers(journal, transport, clock, Arc::new(breakers))
    }

    /// A driver with call limits and circuit breakers that it shares with other callers.
    pub fn with_breakers(
        journal: Journal,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        breakers: Arc<Breakers>,
    ) -> Self {
        let telemetry = Telemetry::none();
        let executor = EffectExecutor {
            journal,
            transport,
            clock,
            ahead_ms: 0,
            claims_keys: true,
            breakers,
            telemetry,
            callbacks: None,
            pieces: None,
        };
        let shared = DriverParts {
            executor,
            holder: Holder::this_process(),
            watcher: Watcher::default(),
            cancel: CancellationToken::new(),
            stop: CancellationToken::new(),
            webhook: None,
            pruner: None,
            owner: None,
            rules: None,
            remote: None,
            migrations: MIGRATIONS,
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn executor(&self) -> &EffectExecutor {
        &self.shared.executor
    }

    /// The parts of this driver alone: other clones keep theirs.
    pub(super) fn parts_mut(&mut self) -> &mut DriverParts {
        Arc::make_mut(&mut self.shared)
    }

    /// Takes leases for this process, which may be a simulated one.
    #[doc(hidden)]
    #[must_use]
    pub fn with_holder(mut self, holder: Holder) -> Self {
        self.parts_mut().holder = holder;
        self
    }

    /// Sends each question to a person to a webhook.
    #[must_use]
    pub(crate) fn with_webhook(mut self, webhook: Option<Arc<ApprovalWebhook>>) -> Self {
        self.parts_mut().webhook = webhook;
        self
    }

    /// Tells a file with learned rules what runs prove wrong and teach.
    #[must_use]
    pub(crate) fn with_rules(mut self, rules: Option<Arc<RuleStore>>) -> Self {
        self.parts_mut().rules = rules;
        self
    }

    #[must_use]
    pub fn with_remote(mut self, remote: Option<Arc<dyn RemoteEngine>>) -> Self {
        self.parts_mut().remote = remote;
        self
    }

    pub fn effect_runner(&self) -> EffectRunner {
        EffectRunner { executor: self.executor().clone() }
    }

    /// Prunes the journal now and then.
    #[must_use]
    pub(crate) fn with_pruner(mut self, pruner: Option<Arc<Pruner>>) -> Self {
        self.parts_mut().pruner = pruner;
        self
    }

    /// Starts runs on behalf of an owner. Runs that exist keep theirs.
    #[must_use]
    pub fn with_owner(mut self, owner: Option<Arc<RunOwner>>) -> Self {
        self.parts_mut().owner = owner;
        self
    }

    /// Calls the watcher with every committed event. It replaces an earlier watcher.
    #[must_use]
    pub fn with_watcher(mut self, watcher: Watcher) -> Self {
        self.parts_mut().watcher = watcher;
        self
    }

    /// Sends the telemetry of all runs to these sinks. It replaces earlier ones.
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: Telemetry) -> Self {
        // Other sinks do not change which models the targets are.
        let models = Arc::clone(self.executor().telemetry.models());
        self.parts_mut().executor.telemetry =
            if telemetry.models().is_empty() { telemetry.with_models(models) } else { telemetry };
        self
    }

    /// Sends a callback URL with every call.
    #[must_use]
    pub fn with_callbacks(mut self, callbacks: Option<Arc<Callbacks>>) -> Self {
        self.parts_mut().executor.callbacks = callbacks;
        self
    }

    /// Calls the watcher with each piece of a model's answer as it arrives. It replaces an earlier one.
    #[must_use]
    pub fn with_piece_watcher(mut self, watcher: PieceWatcher) -> Self {
        self.parts_mut().executor.pieces = Some(watcher);
        self
    }

    /// Brings snapshots of older builds to the current version with these migrations, instead of those of this build.
    #[must_use]
    pub fn with_migrations(mut self, migrations: &'static [SnapshotMigration]) -> Self {
        self.parts_mut().migrations = migrations;
        self
    }

    /// Cancels all runs and sessions when the token is cancelled.
    #[must_use]
    pub fn with_cancel_token(mut self, cancel: CancellationToken) -> Self {
        self.parts_mut().cancel = cancel;
        self
    }

    /// Asks all sessions to stop and to write their reports when the token is cancelled.
    #[must_use]
    pub fn with_stop_token(mut self, stop: CancellationToken) -> Self {
        self.parts_mut().stop = stop;
        self
    }
}
