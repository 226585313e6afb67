//! The one capped reader: compressed pieces in, bytes out, never more than the limit. For requests and replies,
//! and for what is compressed inside of a text.
//!
//! Nothing else in the crate may hold a raw decompressor (`clippy.toml`). Works as a stream: a piece is decompressed
//! as it arrives, and a bomb stops at the limit without a larger allocation. Strict: truncated, corrupt or followed
//! by anything that is not another member or frame is malformed.

#![allow(clippy::disallowed_types, reason = "this is the capped reader")]

use flate2::{Decompress, FlushDecompress, Status};
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use crate::error::{Client, Error};

/// Window of a zstd frame, as a power of two: 8 MiB, the most that a `zstd` content coding may ask for (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;

/// zlib's largest window, as a power of two.
const ZLIB_WINDOW_BITS: u8 = 15;

/// First allocation of the output.
const FIRST_ALLOCATION: usize = 16 << 10;

/// Asked for room before the output grows by so many bytes; an error ends the decoding.
pub(crate) type Charge<'a> = dyn FnMut(usize) -> Result<(), Error> + 'a;

/// A content coding that we decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// RFC 1952, one or more members.
    Gzip,
    /// zlib (RFC 1950) as HTTP says, or raw deflate (RFC 1951) as some clients send.
    Deflate,
    /// RFC 8878, one or more frames.
    Zstd,
}

impl Coding {
    /// The coding of that name in `Content-Encoding` or `grpc-encoding`, in any case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        const NAMES: [(&str, Coding); 4] = [
            ("gzip", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("deflate", Coding::Deflate),
            ("zstd", Coding::Zstd),
        ];
        NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, coding)| *coding)
    }
}

/// A decoder and what it has produced.
pub(crate) struct Decoder {
    kind: Kind,
    out: Vec<u8>,
    limit: usize,
}

enum Kind {
    Gzip(Flate),
    Deflate(Flate),
    /// Deflate whose first bytes have not decided between zlib and raw yet.
    Undecided(Vec<u8>),
    Zstd {
        context: DCtx<'static>,
        between_frames: bool,
        any: bool,
    },
}

struct Flate {
    inflate: Decompress,
    /// At the end of a member, or before the first.
    ended: bool,
    any: bool,
}

impl Flate {
    fn new(inflate: Decompress) -> Self {
        Self { inflate, ended: false, any: false }
    }
}

impl Decoder {
    /// A decoder that produces at most `limit` bytes.
    pub(crate) fn new(coding: Coding, limit: usize) -> Result<Self, Error> {
        let kind = match coding {
            Coding::Gzip => Kind::Gzip(Flate::new(Decompress::new_gzip(ZLIB_WINDOW_BITS))),
            Coding::Deflate => Kind::Undecided(Vec::with_capacity(2)),
            Coding::Zstd => {
                let mut context = DCtx::create();
                context
                    .set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG))
                    .map_err(|_| Client::Malformed("zstd"))?;
                Kind::Zstd { context, between_frames: true, any: false }
            }
        };
        Ok(Self { kind, out: Vec::new(), limit })
    }

    /// Decompresses one more piece; each growth of the output's buffer is charged first.
    ///
    /// # Errors
    ///
    /// Malformed, over the limit, or no room.
    pub(crate) fn push(&mut self, input: &[u8], charge: &mut Charge<'_>) -> Result<(), Error> {
        if let Kind::Undecided(head) = &mut self.kind {
            let missing = 2usize.saturating_sub(head.len()).min(input.len());
            let (now, rest) = input.split_at(missing);
            head.extend_from_slice(now);
            let [first, second] = head[..] else { return Ok(()) };
            let zlib = is_zlib_header(first, second);
            self.kind = Kind::Deflate(Flate::new(Decompress::new(zlib)));
            self.decode(&[first, second], charge)?;
            return self.decode(rest, charge);
        }
        self.decode(input, charge)
    }

    /// The whole output, once the input has ended.
    ///
    /// # Errors
    ///
    /// Malformed if the input ended too early.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Error> {
        let (complete, what) = match &self.kind {
            Kind::Gzip(flate) => (flate.ended, "gzip"),
            Kind::Deflate(flate) => (flate.ended, "deflate"),
            Kind::Undecided(_) => (false, "deflate"),
            Kind::Zstd { between_frames, any, .. } => (*between_frames && *any, "zstd"),
        };
        if complete { Ok(self.out) } else { Err(Client::Malformed(what).into()) }
    }

    /// What there is of the output, whether the input is whole or not.
    pub(crate) fn into_partial(self) -> Vec<u8> {
        let mut out = self.out;
        out.truncate(self.limit);
        out
    }

    fn decode(&mut self, mut input: &[u8], charge: &mut Charge<'_>) -> Result<(), Error> {
        // A round ends with all input used and room left in the output: then the decoder holds nothing back.
        loop {
            make_room(&mut self.out, self.limit, charge)?;
            let used = match &mut self.kind {
                Kind::Gzip(flate) => inflate(flate, true, input, &mut self.out)?,
                Kind::Deflate(flate) => inflate(flate, false, input, &mut self.out)?,
                Kind::Undecided(_) => return Ok(()),
                Kind::Zstd { context, between_frames, any } => {
                    unzstd(context, between_frames, any, input, &mut self.out)?
                }
            };
            input = input.get(used..).unwrap_or_default();
            if self.out.len() > self.limit {
                return Err(Client::TooLarge { limit: self.limit }.into());
            }
            if input.is_empty() && self.out.len() < self.out.capacity() {
                return Ok(());
            }
        }
    }
}

/// RFC 1950: deflate with a window of at most 32 KiB, and a check value that makes the pair a multiple of 31.
fn is_zlib_header(cmf: u8, flg: u8) -> bool {
    cmf & 0x0f == 8 && cmf >> 4 <= 7 && u16::from_be_bytes([cmf, flg]).is_multiple_of(31)
}

/// Makes sure that something can be written. The buffer doubles, and ends one byte over the limit: a decoder that
/// fills that byte has too much.
fn make_room(out: &mut Vec<u8>, limit: usize, charge: &mut Charge<'_>) -> Result<(), Error> {
    if out.len() < out.capacity() {
        return Ok(());
    }
    let target = out.capacity().saturating_mul(2).max(FIRST_ALLOCATION).min(limit.saturating_add(1));
    if target <= out.capacity() {
        return Err(Client::TooLarge { limit }.into());
    }
    charge(target - out.capacity())?;
    out.reserve_exact(target - out.len());
    Ok(())
}

/// One step of zlib. Returns how much input it used.
fn inflate(flate: &mut Flate, gzip: bool, input: &[u8], out: &mut Vec<u8>) -> Result<usize, Error> {
    let malformed = || Error::from(Client::Malformed(if gzip { "gzip" } else { "deflate" }));
    if input.is_empty() && (flate.ended || !flate.any) {
        return Ok(0);
    }
    if flate.ended {
        if !gzip {
            return Err(malformed());
        }
        flate.inflate = Decompress::new_gzip(ZLIB_WINDOW_BITS);
        flate.ended = false;
    }
    flate.any = true;
    let (before_in, before_out) = (flate.inflate.total_in(), out.len());
    let status = flate.inflate.decompress_vec(input, out, FlushDecompress::None).map_err(|_| malformed())?;
    let used = usize::try_from(flate.inflate.total_in() - before_in).map_err(|_| malformed())?;
    flate.ended = status == Status::StreamEnd;
    if used == 0 && out.len() == before_out && !flate.ended && !input.is_empty() {
        return Err(malformed());
    }
    Ok(used)
}

/// One step of zstd. Returns how much input it used.
fn unzstd(
    context: &mut DCtx<'static>,
    between_frames: &mut bool,
    any: &mut bool,
    input: &[u8],
    out: &mut Vec<u8>,
) -> Result<usize, Error> {
    if input.is_empty() && *between_frames {
        return Ok(0);
    }
    *any = true;
    let before_out = out.len();
    let mut source = InBuffer::around(input);
    let mut sink = OutBuffer::around_pos(out, before_out);
    let hint = context.decompress_stream(&mut sink, &mut source).map_err(|_| Client::Malformed("zstd"))?;
    let (used, written) = (source.pos(), sink.pos() - before_out);
    *between_frames = hint == 0;
    if used == 0 && written == 0 && !*between_frames && !input.is_empty() {
        return Err(Client::Malformed("zstd").into());
    }
    Ok(used)
}
