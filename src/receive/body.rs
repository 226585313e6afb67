//! Reads one request body: piece by piece, counted, timed, decompressed, never more than the limit.
//!
//! `http` and `grpc` say where in the body the message is; `decompress` undoes the coding; `limits` keeps the sums.

use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

use super::limits::Admission;
use crate::decompress::{Coding, Decoder};
use crate::error::{Client, Error};

/// Longest time that a refused body is still read.
const LONGEST_DRAIN: Duration = Duration::from_secs(30);

/// Compressed bytes that are decoded in one go: at most some MiB come out of so many.
const DECODE_STEP: usize = 4 << 10;

/// A request body on its way in.
pub(super) struct Intake<B = Incoming> {
    body: B,
    limit: usize,
    /// Bytes around the message that don't count against the limit (the gRPC frame head).
    framing: usize,
    idle: Duration,
    deadline: Instant,
    received: usize,
    /// How much of what will be received was charged by `Content-Length`.
    charged: usize,
}

/// How one body may arrive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    /// Most bytes of the message, before and after decompression.
    pub(super) limit: usize,
    /// Bytes around the message.
    pub(super) framing: usize,
    /// Longest pause between two pieces.
    pub(super) idle: Duration,
    /// When the request must be over.
    pub(super) deadline: Instant,
}

impl<B> Intake<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    /// Wraps a body that nothing has been read of.
    pub(super) fn new(body: B, terms: Terms) -> Self {
        let Terms { limit, framing, idle, deadline } = terms;
        Self { body, limit, framing, idle, deadline, received: 0, charged: 0 }
    }

    /// Charges what the client has announced, before a byte of it is read; returns it.
    ///
    /// # Errors
    ///
    /// More announced than allowed, or than there is room for.
    pub(super) fn announce(&mut self, admission: &mut Admission) -> Result<Option<usize>, Error> {
        let Some(announced) = self.body.size_hint().exact() else { return Ok(None) };
        let announced = usize::try_from(announced).unwrap_or(usize::MAX);
        if announced > self.limit.saturating_add(self.framing) {
            return Err(self.too_large());
        }
        admission.charge(announced)?;
        self.charged = announced;
        Ok(Some(announced))
    }

    /// The next piece, or none at the end.
    ///
    /// # Errors
    ///
    /// Too much, too slow, or broken off.
    pub(super) async fn piece(&mut self, admission: &mut Admission) -> Result<Option<Bytes>, Error> {
        loop {
            let until = self.deadline.min(Instant::now() + self.idle);
            let frame = match timeout_at(until, self.body.frame()).await {
                Err(_) => return Err(Client::TimedOut.into()),
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(Client::Malformed("request body").into()),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            if data.is_empty() {
                continue;
            }
            self.received = self.received.saturating_add(data.len());
            if self.received > self.limit.saturating_add(self.framing) {
                return Err(self.too_large());
            }
            if self.received > self.charged {
                admission.charge(self.received - self.charged)?;
                self.charged = self.received;
            }
            return Ok(Some(data));
        }
    }

    /// Reads the whole body as one message.
    ///
    /// # Errors
    ///
    /// As [`Intake::piece`], and a coding that is malformed.
    pub(super) async fn whole(
        &mut self,
        coding: Option<Coding>,
        admission: &mut Admission,
    ) -> Result<Bytes, Error> {
        let announced = self.announce(admission)?;
        let mut message = Message::new(coding, self.limit, announced.unwrap_or(self.limit))?;
        while let Some(piece) = self.piece(admission).await? {
            message.push(piece, admission).await?;
        }
        message.finish()
    }

    /// Reads on and throws away, so that a client that writes first and reads afterwards gets to see a refusal. Bounded
    /// in bytes and time; nothing of it is held.
    pub(super) async fn drain(mut self) {
        let end = Instant::now() + LONGEST_DRAIN;
        let mut left = self.limit.saturating_mul(2);
        while left > 0 {
            let until = end.min(Instant::now() + self.idle);
            match timeout_at(until, self.body.frame()).await {
                Ok(Some(Ok(frame))) => left = left.saturating_sub(frame.data_ref().map_or(1, Bytes::len)),
                _ => return,
            }
        }
    }

    /// Whether any of the body has been asked for; before that, a client that expects `100 Continue` sends nothing.
    pub(super) fn has_started(&self) -> bool {
        self.received > 0
    }

    /// Whether there is nothing left to read.
    pub(super) fn is_over(&self) -> bool {
        self.body.is_end_stream()
    }

    /// The refusal of what is over the limit.
    pub(super) fn too_large(&self) -> Error {
        Client::TooLarge { limit: self.limit }.into()
    }
}

/// A message being put together from pieces.
pub(super) enum Message {
    /// Uncompressed. A message of one piece is not copied.
    Plain {
        /// The first piece.
        first: Bytes,
        /// All pieces, from the second on.
        joined: Vec<u8>,
        /// Most bytes that will come.
        expected: usize,
    },
    /// Compressed.
    Coded(Box<Decoder>),
}

impl Message {
    /// An empty message of at most `limit` bytes when decompressed, and `expected` bytes before.
    pub(super) fn new(coding: Option<Coding>, limit: usize, expected: usize) -> Result<Self, Error> {
        Ok(match coding {
            None => Self::Plain { first: Bytes::new(), joined: Vec::new(), expected },
            Some(coding) => Self::Coded(Box::new(Decoder::new(coding, limit)?)),
        })
    }

    /// Adds a piece. Other connections get their turn in between: a few KiB may unfold to many MiB.
    pub(super) async fn push(&mut self, piece: Bytes, admission: &mut Admission) -> Result<(), Error> {
        match self {
            Self::Coded(decoder) => {
                for step in piece.chunks(DECODE_STEP) {
                    decoder.push(step, &mut |more| Ok(admission.charge(more)?))?;
                    tokio::task::yield_now().await;
                }
            }
            Self::Plain { first, joined, .. } if first.is_empty() && joined.is_empty() => *first = piece,
            Self::Plain { first, joined, expected } => {
                let first = std::mem::take(first);
                append(joined, &first, *expected);
                append(joined, &piece, *expected);
            }
        }
        Ok(())
    }

    /// The message, once its last piece has come.
    pub(super) fn finish(self) -> Result<Bytes, Error> {
        Ok(match self {
            Self::Plain { first, joined, .. } if joined.is_empty() => first,
            Self::Plain { joined, .. } => joined.into(),
            Self::Coded(decoder) => decoder.finish()?.into(),
        })
    }
}

/// Appends, doubling the buffer as it grows but never past what is expected: what a client says is not what it sends.
fn append(joined: &mut Vec<u8>, piece: &[u8], expected: usize) {
    let needed = joined.len() + piece.len();
    if needed > joined.capacity() {
        let target = joined.capacity().saturating_mul(2).min(expected).max(needed);
        joined.reserve_exact(target - joined.len());
    }
    joined.extend_from_slice(piece);
}
