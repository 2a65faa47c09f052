//! Sets up what servers and workers need.

use std::path::PathBuf;

use reknit_runtime::NamedAgent;
use reknit_runtime::config::Config;
use tracing::level_filters::LevelFilter;

use crate::output::{Failure, print_progress};
use crate::setup::{AgentFile, FileArguments, Setup, SetupArguments, config_with_arguments, named};

impl Setup {
    /// What a server needs that makes calls for others. `log` is the level of its log if nothing sets it.
    pub(crate) async fn for_server(arguments: &SetupArguments, log: LevelFilter) -> Result<Self, Failure> {
        Self::for_server_with(config_with_arguments(arguments)?, &arguments.files, log).await
    }

    /// The same with a configuration that was read already.
    pub(crate) async fn for_server_with(
        config: Config,
        files: &FileArguments,
        log: LevelFilter,
    ) -> Result<Self, Failure> {
        let setup = Box::pin(Self::start(with_log_level(config, log), files)).await?;
        Ok(Self::with_server_log(setup))
    }

    /// What a worker needs, whose runs are kept elsewhere: no journal.
    #[cfg(feature = "restate")]
    pub(crate) async fn for_worker(arguments: &SetupArguments) -> Result<Self, Failure> {
        let mut config = with_log_level(config_with_arguments(arguments)?, LevelFilter::WARN);
        config.journal = None;
        Ok(Self::with_server_log(Self::start_with_journal(config, &arguments.files).await?))
    }

    fn with_server_log(mut setup: Self) -> Self {
        // A server does not wait for whoever reads its log.
        let telemetry = setup.telemetry.telemetry(|line| {
            let _ = print_progress(line);
        });
        setup.reknit = setup.reknit.with_telemetry(telemetry);
        setup
    }
}

/// The level of the log, unless something sets it.
fn with_log_level(mut config: Config, level: LevelFilter) -> Config {
    if !config.is_configured("log.level") {
        config.log.level = level;
    }
    config
}

/// The agents of these files, for servers that offer them.
pub(crate) fn named_agents(paths: &[PathBuf], setup: &Setup) -> Result<Vec<NamedAgent>, Failure> {
    paths.iter().map(|path| AgentFile::read(path, &setup.reknit.session).map(named)).collect()
}
