//! Starts, kills and asks a Redis server.

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::server::{installed, printed};

/// A Redis server without files, which ends with the test.
pub(crate) struct Redis {
    process: Child,
    port: u16,
}

impl Redis {
    pub(crate) fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
        Self { process: Self::spawn(port), port }
    }

    fn spawn(port: u16) -> Child {
        let mut command = Command::new(installed().join("redis/redis-server"));
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", &port.to_string()]);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("redis-server can be started");
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if start.elapsed() > Duration::from_mins(3) || process.try_wait().expect("a status").is_some() {
                let _ = process.kill();
                let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
                panic!("redis-server does not start:\n{}", lines.collect::<Vec<_>>().join("\n"));
            }
            sleep(Duration::from_millis(20));
        }
        process
    }

    /// Ends the server at once, with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("it is killed");
        self.process.wait().expect("it has ended");
    }

    /// Starts it again on the same port, with nothing in it.
    pub(crate) fn restart(&mut self) {
        self.process = Self::spawn(self.port);
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn cli(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(installed().join("redis/redis-cli"));
        printed(&command.args(["-p", &self.port.to_string()]).args(arguments).output().expect("redis-cli runs"))
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // The test may have killed it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
