//! Settings whose effect is visible only outside the process: disk syncs of a commit, and detection of a model. The tests of
//! the runtime crate cover all other settings.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::world::World;

/// A proxy that records requested hosts and rejects every connection.
struct Proxy {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        // The thread ends with the test process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).expect("a question");
                noted.lock().expect("nobody broke it").push(line.trim_end().to_owned());
                stream.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").expect("it is still there");
            }
        });
        Self { url, asked }
    }
}

/// The hosts that `models check` contacts with this configuration and a key in the environment.
fn asked_with(config: &str) -> Vec<String> {
    let (world, proxy) = (World::new().file("reknit.toml", config), Proxy::start());
    let mut command = world.command(&["models", "check"]);
    command
        .env_remove("REKNIT_FIND_MODEL")
        .env("REKNIT_CONFIG", "reknit.toml")
        .env("GROQ_API_KEY", "s3cret")
        .env("HTTPS_PROXY", &proxy.url);
    command.output().expect("the command can be run");
    let mut asked = proxy.asked.lock().expect("nobody broke it").clone();
    asked.dedup();
    asked
}

#[test]
fn the_find_model_setting_turns_detection_on_and_off() {
    let found = ["CONNECT api.groq.com:443 HTTP/1.1"];
    assert_eq!(asked_with(""), found);
    assert_eq!(asked_with("find-model = true\n"), found);
    assert_eq!(asked_with("find-model = false\n"), Vec::<String>::new());
    let named = "[[models]]\nname = \"m\"\nmodel = \"m\"\nurl = \"https://m.example/v1\"\n";
    assert_eq!(asked_with(named), ["CONNECT m.example:443 HTTP/1.1"]);
}

#[cfg(target_os = "linux")]
mod durability {
    use std::fs;
    use std::process::Command;

    use reknit_fakes::tool::{CallMatcher, RunningTool};
    use reknit_fakes::{Reply, ScriptedTool};
    use reknit_protocol::SideEffect;

    use crate::world::{World, plan};

    /// A preloaded library that writes a dot for each disk sync.
    const COUNTER: &str = r#"
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static void note(void) {
            int file = open(getenv("SYNCS"), O_WRONLY | O_APPEND | O_CREAT, 0600);
            if (file < 0 || write(file, ".", 1) != 1) abort();
            close(file);
        }
        int fsync(int file) { note(); return syscall(SYS_fsync, file); }
        int fdatasync(int file) { note(); return syscall(SYS_fdatasync, file); }
    "#;

    /// Steps that need each other, so that each of them has a commit of its own.
    const STEPS: [(&str, &str); 6] = [
        ("first", "{}"),
        ("second", r#"{"of": "{{first}}"}"#),
        ("third", r#"{"of": "{{second}}"}"#),
        ("fourth", r#"{"of": "{{third}}"}"#),
        ("fifth", r#"{"of": "{{fourth}}"}"#),
        ("sixth", r#"{"of": "{{fifth}}"}"#),
    ];

    /// The number of disk syncs of a run with this durability.
    fn syncs(tool: &RunningTool, config: &str) -> usize {
        let world = World::new().configured(&[tool], config).file("plan.json", &plan(&STEPS));
        let world = world.file("counter.c", COUNTER).file("syncs", "");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-D_GNU_SOURCE", "-o", "counter.so", "counter.c"]).current_dir(world.path());
        assert!(compiler.status().expect("there is a C compiler: cargo links with it").success());
        // Creating a journal always syncs, whatever the setting.
        world.output(&["runs", "list"]);
        let mut command = world.command(&["run", "plan.json", "--answer", "template"]);
        command.env("LD_PRELOAD", world.path().join("counter.so")).env("SYNCS", world.path().join("syncs"));
        let output = command.output().expect("the command can be run");
        assert!(output.status.success(), "{}", world.show(&output));
        fs::read(world.path().join("syncs")).expect("the file is there").len()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_durability_setting_decides_how_often_a_run_syncs_the_disk() {
        let tool = STEPS.iter().fold(ScriptedTool::new("shop"), |tool, (name, _)| {
            tool.capability(*name, SideEffect::Read).on(*name, CallMatcher::any(), Reply::data(7))
        });
        let tool = tool.start().await.expect("it starts");
        let usual = syncs(&tool, "");
        let [full, normal, off] =
            ["full", "normal", "off"].map(|word| syncs(&tool, &format!("[journal]\ndurability = \"{word}\"\n")));
        // A sync for each commit, a sync for each checkpoint, no sync.
        assert!(off == 0 && 0 < normal && normal < full && normal < usual, "{usual}: {full}, {normal}, {off}");
        assert!(full >= STEPS.len() && usual >= STEPS.len(), "each step is synced: {usual}, {full}");
    }
}
