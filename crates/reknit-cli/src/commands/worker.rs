//! `reknit worker`: drives runs for a Restate server. And the other side: a runtime whose runs such workers drive.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueHint};
use reknit_restate::{FileBlobs, RestateAddressError, RestateClient, Worker};
use reknit_runtime::Runtime;

use crate::output::{Failure, print_message, print_warning};
use crate::setup::{EndSignals, Setup, SetupArguments};

const DETAILS: &str = "\
A worker advances runs and performs their effects when a Restate server asks it to. It needs the same configuration (tools, models,
keys) as the other workers and as `reknit serve --engine restate=URL`, which starts runs. It keeps nothing: it can be killed and
replaced at any moment. Several workers share an address through a load balancer, and a folder for large values: docs/scale.md.

Examples:
  reknit worker --restate http://127.0.0.1:9070 --blobs /var/lib/reknit/blobs
  reknit worker --restate http://127.0.0.1:9070 --blobs /mnt/blobs --listen 10.0.0.5:9080 --advertise http://balancer:9080
  reknit serve --engine restate=http://127.0.0.1:8080

Exit status: 0 the worker was told to stop, 1 it failed, 2 not started.";

#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct WorkerArguments {
    /// The admin API of the Restate server, where the worker registers itself
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    restate: String,
    /// The folder for large values, which all workers share
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    blobs: PathBuf,
    /// The address to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080")]
    listen: SocketAddr,
    /// Where Restate reaches the workers, if not at `--listen`: the address of their load balancer
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    advertise: Option<String>,
    /// Serve only the server with this public key, which signs its requests; may be repeated
    #[arg(long = "identity-key", value_name = "KEY")]
    identity_keys: Vec<String>,
    #[command(flatten)]
    setup: SetupArguments,
}

#[derive(Debug, Args)]
pub(crate) struct EngineArgument {
    /// What drives the runs: `restate=URL` with the ingress of a Restate server, whose workers drive them [default: this process]
    #[arg(long = "engine", value_name = "ENGINE", value_parser = restate_address)]
    pub(super) restate: Option<String>,
}

fn restate_address(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some(("restate", address)) if !address.is_empty() => Ok(address.to_owned()),
        _ => Err("write it like `restate=http://127.0.0.1:8080`".to_owned()),
    }
}

const REGISTRATION_PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn run(arguments: &WorkerArguments) -> Result<ExitCode, Failure> {
    let admin = RestateClient::new(&arguments.restate).map_err(|error| bad_address(&error))?;
    let blobs = FileBlobs::open(&arguments.blobs).map_err(|error| {
        let message = format!("the folder `{}` cannot be used: {error}", arguments.blobs.display());
        Failure::usage(message, "name one with `--blobs FOLDER`, the same for all workers")
    })?;
    let setup = Setup::for_worker(&arguments.setup).await?;
    let worker = Worker::new(setup.reknit.effect_runner(), Arc::new(blobs), &arguments.identity_keys)
        .map_err(|error| Failure::usage(error.to_string(), "the server prints it when it starts: `publickeyv1_...`"))?;
    let listener = Worker::listen(arguments.listen).map_err(Failure::start("the worker"))?;
    let address = listener.local_addr().map_err(Failure::start("the worker"))?;
    let advertised = arguments.advertise.clone().unwrap_or_else(|| format!("http://{address}"));
    let mut signals = EndSignals::new().map_err(Failure::start("the worker"))?;
    let serving = worker.serve(listener, async move { _ = signals.next().await });
    let registering = async {
        register(&admin, &advertised, &arguments.restate).await;
        print_message(&format!("working for {} at {address}, registered as {advertised}\n", arguments.restate));
        std::future::pending::<()>().await;
    };
    // Restate asks a worker for its services while it registers it.
    tokio::select! {
        () = serving => {}
        () = registering => {}
    }
    setup.telemetry.end().await;
    Ok(ExitCode::SUCCESS)
}

/// Registers the workers, however long it takes: the server or the balancer may be starting, and the worker serves meanwhile. Says each
/// new reason for waiting.
async fn register(admin: &RestateClient, advertised: &str, restate: &str) {
    let mut last_problem = String::new();
    while let Err(error) = admin.register(advertised).await {
        let problem = error.to_string();
        if problem != last_problem {
            print_warning(&format!(
                "not registered at {restate} yet: {problem}; `--restate` names its admin API, as in `--restate http://127.0.0.1:9070`, \
                 and it must reach the worker at {advertised} (`--advertise`)"
            ));
            last_problem = problem;
        }
        tokio::time::sleep(REGISTRATION_PAUSE).await;
    }
}

/// A runtime whose runs the workers of a Restate server drive.
pub(crate) fn with_engine(reknit: Runtime, address: &str) -> Result<Runtime, Failure> {
    let client = RestateClient::new(address).map_err(|error| bad_address(&error))?;
    Ok(reknit.with_remote(Arc::new(client)))
}

fn bad_address(error: &RestateAddressError) -> Failure {
    Failure::usage(error.to_string(), "write one like `http://127.0.0.1:8080`")
}
