//! `reknit worker`: drives runs for a Restate server. And the other side: a runtime whose runs such workers drive.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use reknit_restate::{FileBlobs, RestateAddressError, RestateClient, Worker};
use reknit_runtime::Runtime;

use crate::cli::WorkerArguments;
use crate::end_signals::EndSignals;
use crate::failure::Failure;
use crate::print::{print_message, print_warning};
use crate::setup::Setup;

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
