//! The real `blackbar` binary as a child process: started on ports that the system chooses, its log kept.
//!
//! Reads the addresses from the log's `listening` lines. Kills the child when dropped.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

/// No event of a test takes this long; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `blackbar`.
pub struct Process {
    child: Child,
    log: Arc<Mutex<String>>,
    listening: watch::Receiver<HashMap<String, SocketAddr>>,
}

impl Process {
    /// `blackbar run --config yaml:CONFIG`, with the log at `trace` so that a leak into it would show.
    pub async fn run(config: &str) -> Self {
        Self::spawn(&["run", "--config", &format!("yaml:{config}")], &[]).await
    }

    /// `blackbar ARGS` with an empty environment plus `env`; returns once every listener is up.
    pub async fn spawn(args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blackbar"));
        command.args(args);
        Self::start(command, env).await
    }

    /// The same as [`Self::run`], with no file that may grow over so many KiB.
    pub async fn run_with_small_files(config: &str, kib: u32) -> Self {
        let mut command = Command::new("bash");
        // Writing on is an error then, not a signal: what a full disk is.
        let script = format!("trap '' XFSZ; ulimit -S -f {kib}; exec \"$0\" \"$@\"");
        let arguments = ["run", "--config", &format!("yaml:{config}")];
        command.args(["-c", &script, env!("CARGO_BIN_EXE_blackbar")]).args(arguments);
        Self::start(command, &[]).await
    }

    /// Starts what `command` says, which becomes `blackbar`.
    pub async fn start(mut command: Command, env: &[(&str, &str)]) -> Self {
        let mut child = command
            .env_clear()
            .env("BLACKBAR__SERVICE__TELEMETRY__LOGS__LEVEL", "trace")
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (found, listening) = watch::channel(HashMap::new());
        let (ready_tx, mut ready) = watch::channel(false);
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let kept = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                if let Ok(event) = serde_json::from_str::<serde_json::Value>(&line) {
                    let text = |name: &str| event["fields"][name].as_str().map(str::to_owned);
                    match text("message").as_deref() {
                        Some("listening") => {
                            let address = text("address").unwrap().parse().unwrap();
                            found.send_modify(|map| {
                                map.insert(text("name").unwrap(), address);
                            });
                        }
                        Some("ready") => _ = ready_tx.send(true),
                        _ => {}
                    }
                }
                let mut kept = kept.lock().unwrap();
                kept.push_str(&line);
                kept.push('\n');
            }
        });
        let up = tokio::time::timeout(PATIENCE, ready.wait_for(|up| *up)).await;
        if !matches!(up, Ok(Ok(_))) {
            panic!("blackbar did not come up; its log: {}", log.lock().unwrap());
        }
        Self { child, log, listening }
    }

    /// Where the listener of this name (`otlp/grpc`, `otlp/http`, `health_check`) is bound.
    pub fn address(&self, name: &str) -> SocketAddr {
        let map = self.listening.borrow();
        *map.get(name).unwrap_or_else(|| panic!("no listener {name} in {map:?}"))
    }

    /// `http://127.0.0.1:PORT` of a listener.
    pub fn url(&self, name: &str) -> String {
        format!("http://{}", self.address(name))
    }

    /// The log so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Sends a signal (`TERM`, `INT`).
    pub async fn signal(&self, name: &str) {
        let (name, id) = (format!("-{name}"), self.id().to_string());
        assert!(Command::new("kill").args([name, id]).status().await.unwrap().success());
    }

    /// Waits for the end.
    pub async fn ended(mut self) -> (ExitStatus, String) {
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap();
        (status, self.log())
    }

    /// Sends SIGTERM and waits for the end.
    pub async fn terminate(self) -> (ExitStatus, String) {
        self.signal("TERM").await;
        self.ended().await
    }
}
