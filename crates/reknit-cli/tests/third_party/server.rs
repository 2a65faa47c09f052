//! Starts installed programs and the command under test.

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The folder with the installed programs.
pub(crate) fn installed() -> PathBuf {
    let folder = std::env::var_os("REKNIT_THIRD_PARTY").expect("run these tests with `./check third-party`");
    PathBuf::from(folder)
}

/// A folder of this test's own sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/third_party")
}

/// A server that ends with the test.
pub(crate) struct Server {
    process: Child,
    pub(crate) url: String,
}

impl Server {
    /// Starts a program on a free port, and waits until it accepts connections.
    pub(crate) fn start(command: impl FnOnce(u16) -> Command) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
        let mut process = command(port).stderr(Stdio::piped()).spawn().expect("the server can be started");
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if start.elapsed() > Duration::from_mins(3) || process.try_wait().expect("a status").is_some() {
                let _ = process.kill();
                let lines = BufReader::new(process.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
                panic!("the server does not start:\n{}", lines.collect::<Vec<_>>().join("\n"));
            }
            sleep(Duration::from_millis(50));
        }
        Self { process, url: format!("http://127.0.0.1:{port}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs the command in a folder.
pub(crate) fn reknit(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reknit"))
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("REKNIT_FIND_MODEL", "false")
        .envs(variables.iter().copied())
        .current_dir(folder)
        .output()
        .expect("the command runs")
}

/// What a successful command printed.
pub(crate) fn printed(output: &Output) -> String {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{:?}\n{stdout}\n{stderr}", output.status);
    stdout.into_owned()
}
