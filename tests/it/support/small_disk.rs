//! A disk of a few MiB: a tmpfs in a mount namespace of its own, so that no privilege is needed where the system allows
//! user namespaces. A process of ours holds it, and `blackbar` processes come and go in it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::process::Process;

/// The disk. Gone when it is dropped.
pub struct SmallDisk {
    mounted: TempDir,
    holder: Child,
}

impl SmallDisk {
    /// A disk of this size. `None`: this system does not allow it.
    pub async fn new(mib: u32) -> Option<Self> {
        let mounted = TempDir::new().unwrap();
        let script =
            "mount -t tmpfs -o mode=700,size=$1m tmpfs \"$2\" && echo mounted && exec sleep infinity";
        let mut holder = Command::new("unshare")
            .args(["-rm", "bash", "-c", script, "holder", &mib.to_string()])
            .arg(mounted.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .ok()?;
        let mut said = BufReader::new(holder.stdout.take().unwrap()).lines();
        let is_mounted = said.next_line().await.unwrap().as_deref() == Some("mounted");
        is_mounted.then_some(Self { mounted, holder })
    }

    /// Where processes on the disk see it.
    pub fn inside(&self) -> &Path {
        self.mounted.path()
    }

    /// Where the test sees it.
    pub fn outside(&self) -> PathBuf {
        let inside = self.mounted.path().strip_prefix("/").unwrap();
        Path::new("/proc").join(self.holder.id().unwrap().to_string()).join("root").join(inside)
    }

    /// `blackbar run` on this disk.
    pub async fn run(&self, config: &str) -> Process {
        let mut command = Command::new("nsenter");
        let holder = self.holder.id().unwrap().to_string();
        command.args(["-t", &holder, "-U", "-m", "--preserve-credentials", env!("CARGO_BIN_EXE_blackbar")]);
        command.args(["run", "--config", &format!("yaml:{config}")]);
        Process::start(command, &[]).await
    }
}
