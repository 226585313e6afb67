//! An HTTP proxy that records what it is asked for, and leads every request to one backend whatever its name.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// The proxy. Stops when it is dropped.
pub struct RecordingProxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl RecordingProxy {
    /// Listens on a free loopback port; everything goes to `backend`.
    pub async fn start(backend: SocketAddr) -> Self {
        Self::listen(Some(backend)).await
    }

    /// Listens on a free loopback port, and wants other credentials whatever it is told.
    pub async fn start_refusing() -> Self {
        Self::listen(None).await
    }

    async fn listen(backend: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&heads);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                connections.spawn(pass(client, backend, Arc::clone(&recorded)));
            }
        });
        Self { address, heads, task }
    }

    /// Its URL with this user and password.
    pub fn url(&self, userinfo: &str) -> String {
        format!("http://{userinfo}@{}", self.address)
    }

    /// The first request head of each connection, as it came.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for RecordingProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(mut client: TcpStream, backend: Option<SocketAddr>, heads: Arc<Mutex<Vec<String>>>) {
    let mut start = Vec::new();
    let end = loop {
        if client.read_buf(&mut start).await.unwrap() == 0 {
            return;
        }
        if let Some(at) = start.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8(start[..end].to_vec()).unwrap();
    let tunnel = head.starts_with("CONNECT ");
    heads.lock().unwrap().push(head);
    let Some(backend) = backend else {
        let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
        client.write_all(refusal).await.unwrap();
        return;
    };
    let mut backend = TcpStream::connect(backend).await.unwrap();
    if tunnel {
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
        backend.write_all(&start[end..]).await.unwrap();
    } else {
        backend.write_all(&start).await.unwrap();
    }
    // Either side may go away at any time: the tests look at what was recorded.
    let _ = copy_bidirectional(&mut client, &mut backend).await;
}
