//! Request compression, done once for all attempts of a request.

use std::io::Write as _;

use bytes::Bytes;

use super::settings::Compression;

impl Compression {
    /// The value of `Content-Encoding` or `grpc-encoding`; `None` for a body as it is.
    pub(super) const fn header(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
        }
    }
}

/// Compresses a whole body, at each format's default level.
///
/// # Errors
///
/// The compressor's own, which memory alone can cause.
pub(super) fn compress(body: Bytes, compression: Compression) -> std::io::Result<Bytes> {
    match compression {
        Compression::None => Ok(body),
        Compression::Gzip => {
            let out = Vec::with_capacity(body.len() / 4);
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            encoder.write_all(&body)?;
            Ok(encoder.finish()?.into())
        }
        Compression::Zstd => Ok(zstd::bulk::compress(&body, zstd::DEFAULT_COMPRESSION_LEVEL)?.into()),
    }
}
