//! `reknit worker`: drives runs for a Restate server. And the other side: a runtime whose runs such workers drive.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use reknit_restate::{FileBlobs, RestateAddressError, RestateClient, Worker};
use reknit_runtime::{RemoteError, Runtime};
use tokio::net::TcpListener;

use crate::cli::WorkerArguments;
use crate::end_signals::EndSignals;
use crate::failure::Failure;
use crate::print::print_message;
use crate::setup::Setup;

/// How long the server may take to start, if it is started together with the worker.
const REGISTRATION_ATTEMPTS: u32 = 60;
const REGISTRATION_PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn run(arguments: &WorkerArguments) -> Result<ExitCode, Failure> {
    let admin = RestateClient::new(&arguments.restate).map_err(|error| bad_address(&error))?;
    let blobs = FileBlobs::open(&arguments.blobs).map_err(|error| {
        let message = format!("the folder `{}` cannot be used: {error}", arguments.blobs.display());
        Failure::usage(message, "name one with `--blobs FOLDER`, the same for all workers")
    })?;
    let setup = Setup::for_worker(&arguments.setup).await?;
    let listener = TcpListener::bind(arguments.listen).await.map_err(Failure::start("the worker"))?;
    let address = listener.local_addr().map_err(Failure::start("the worker"))?;
    let advertised = arguments.advertise.clone().unwrap_or_else(|| format!("http://{address}"));
    let mut signals = EndSignals::new().map_err(Failure::start("the worker"))?;
    let worker = Worker::new(setup.reknit.effect_runner(), Arc::new(blobs));
    let serving = worker.serve(listener, async move { _ = signals.next().await });
    let registering = async {
        register(&admin, &advertised, &arguments.restate).await?;
        print_message(&format!("working for {} at {address}, registered as {advertised}\n", arguments.restate));
        std::future::pending::<Result<(), Failure>>().await
    };
    // Restate asks a worker for its services while it registers it.
    let result = tokio::select! {
        () = serving => Ok(ExitCode::SUCCESS),
        failed = registering => failed.map(|()| ExitCode::SUCCESS),
    };
    setup.telemetry.end().await;
    result
}

/// Registers the workers. A server that cannot be reached may be starting.
async fn register(admin: &RestateClient, advertised: &str, restate: &str) -> Result<(), Failure> {
    let mut attempt = 1;
    loop {
        match admin.register(advertised).await {
            Ok(()) => return Ok(()),
            Err(RemoteError::Unreachable { problem, .. }) if attempt < REGISTRATION_ATTEMPTS => {
                if attempt == 1 {
                    print_message(&format!("waiting for Restate at {restate}: {problem}\n"));
                }
                attempt += 1;
                tokio::time::sleep(REGISTRATION_PAUSE).await;
            }
            Err(error) => {
                let hint = "start the server, or name its admin API: `--restate http://127.0.0.1:9070`; it must reach the worker at the \
                            address of `--advertise`";
                return Err(Failure::usage(error.to_string(), hint));
            }
        }
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
