//! The OTLP/gRPC door: unary `Export` of the four services (gRPC over HTTP/2, "Requests" and "Responses").
//!
//! The framing is our own and not tonic's server, which answers an oversize message with OUT_OF_RANGE and a corrupt
//! gzip with INTERNAL: a client retries the first for ever. Health is `health`'s.

use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, Request, Response, Version};
use http_body::Frame;
use http_body_util::StreamBody;
use hyper::body::Incoming;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

use super::body::{Intake, Message, Terms};
use super::limits::{Admission, LONGEST_CLIENT_DEADLINE};
use super::{Door, Handler, Received, unpanicked};
use crate::decompress::Coding;
use crate::error::{Client, Error};
use crate::otlp::{Encoding, Payload, Protocol, Signal};
use crate::pipeline::{self, Reply};
use crate::respond;

/// Compressed flag and length.
const FRAME_HEAD: usize = 5;

const ACCEPTED_CODINGS: HeaderValue = HeaderValue::from_static("identity,gzip,deflate,zstd");

/// The content types of gRPC with protobuf messages. The reply has the request's.
const CONTENT_TYPES: [&str; 2] = ["application/grpc", "application/grpc+proto"];

/// Whether a request is for this door: gRPC in any flavour, also one that will be refused. Over HTTP/1 it is no gRPC:
/// a refusal in the headers of a response with status 200 would pass for success.
pub(super) fn is_grpc<B>(request: &Request<B>) -> bool {
    let essence = essence(request.headers()).unwrap_or_default().to_ascii_lowercase();
    let grpc = essence == "application/grpc" || essence.starts_with("application/grpc+");
    grpc && request.version() >= Version::HTTP_2
}

/// Answers one gRPC request.
pub(super) async fn answer<H: Handler>(door: &Door<H>, request: Request<Incoming>) -> Response<Body> {
    let signal = Signal::ALL.into_iter().find(|signal| request.uri().path() == signal.grpc_path());
    let content_type = content_type(request.headers());
    let received = match route(&request, signal, content_type) {
        Ok((signal, coding)) => unpanicked(receive(door, signal, coding, request)).await,
        Err(error) => Err(error),
    };
    let result = match received {
        Ok(received) => door.handle(received).await,
        Err(error) => {
            door.count(signal, Protocol::Grpc, &error);
            Err(error)
        }
    };
    let mut response = match result {
        Ok(reply) => accepted(&reply),
        Err(error) => refused(respond::grpc_refused(&error)),
    };
    let content_type = HeaderValue::from_static(content_type.unwrap_or("application/grpc"));
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response.headers_mut().insert("grpc-accept-encoding", ACCEPTED_CODINGS);
    response
}

fn route(
    request: &Request<Incoming>,
    signal: Option<Signal>,
    content_type: Option<&'static str>,
) -> Result<(Signal, Option<Coding>), Error> {
    let signal = signal.ok_or(Client::NotFound)?;
    if request.method() != Method::POST {
        return Err(Client::MethodNotAllowed.into());
    }
    if content_type.is_none() {
        return Err(Client::Unsupported("content type").into());
    }
    Ok((signal, message_coding(request.headers())?))
}

async fn receive<H: Handler>(
    door: &Door<H>,
    signal: Signal,
    coding: Option<Coding>,
    request: Request<Incoming>,
) -> Result<Received, Error> {
    let (parts, body) = request.into_parts();
    let settings = door.limits.settings();
    let longest = settings.request_timeout.max(LONGEST_CLIENT_DEADLINE);
    let time = timeout(&parts.headers).map_or(settings.request_timeout, |named| named.min(longest));
    let deadline = Instant::now() + time;
    let limit = door.settings.max_body;
    let terms = Terms { limit, framing: FRAME_HEAD, idle: settings.body_idle_timeout, deadline };

    let mut admission = door.limits.admit()?;
    let payload = read_message(&mut Intake::new(body, terms), limit, coding, &mut admission).await?;
    let request = pipeline::Request {
        signal,
        encoding: Encoding::Protobuf,
        protocol: Protocol::Grpc,
        payload: Payload::new(payload),
        headers: parts.headers,
        deadline: deadline.into_std(),
    };
    Ok(Received { request, deadline, admission })
}

/// Reads exactly one length-prefixed message.
async fn read_message(
    intake: &mut Intake,
    limit: usize,
    coding: Option<Coding>,
    admission: &mut Admission,
) -> Result<Bytes, Error> {
    let malformed = |what| Error::from(Client::Malformed(what));
    intake.announce(admission)?;

    let mut head = BytesMut::with_capacity(FRAME_HEAD);
    let mut rest = Bytes::new();
    while head.len() < FRAME_HEAD {
        rest = intake.piece(admission).await?.ok_or_else(|| malformed("gRPC message is missing"))?;
        head.extend_from_slice(&rest.split_to(rest.len().min(FRAME_HEAD - head.len())));
    }
    let flag = head.get_u8();
    let length = usize::try_from(head.get_u32()).unwrap_or(usize::MAX);
    if length > limit {
        return Err(intake.too_large());
    }
    let coding = match (flag, coding) {
        (0, _) => None,
        (1, Some(coding)) => Some(coding),
        (1, None) => return Err(malformed("gRPC message is compressed, but names no grpc-encoding")),
        _ => return Err(malformed("gRPC frame")),
    };

    let mut message = Message::new(coding, limit, length)?;
    let mut missing = length;
    loop {
        if rest.len() > missing {
            return Err(malformed("more than one gRPC message"));
        }
        missing -= rest.len();
        if !rest.is_empty() {
            message.push(rest, admission).await?;
        }
        rest = match intake.piece(admission).await? {
            Some(piece) => piece,
            None if missing == 0 => return message.finish(),
            None => return Err(malformed("gRPC message is cut off")),
        };
    }
}

fn accepted(reply: &Reply) -> Response<Body> {
    let mut frame = BytesMut::with_capacity(FRAME_HEAD + reply.message.len());
    frame.put_u8(0);
    frame.put_u32(u32::try_from(reply.message.len()).unwrap_or(u32::MAX));
    frame.put_slice(&reply.message);
    let mut trailers = HeaderMap::with_capacity(1);
    trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
    // A body whose length is not known beforehand: with a content-length, some clients (curl) take the response for
    // complete before its trailers are there.
    let frames = [Ok::<_, Status>(Frame::data(frame.freeze())), Ok(Frame::trailers(trailers))];
    Response::new(Body::new(StreamBody::new(stream::iter(frames))))
}

/// A response of headers only ("Trailers-Only").
fn refused(status: Status) -> Response<Body> {
    status.into_http()
}

fn essence(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next().map(str::trim)
}

fn content_type(headers: &HeaderMap) -> Option<&'static str> {
    let essence = essence(headers)?;
    CONTENT_TYPES.into_iter().find(|known| essence.eq_ignore_ascii_case(known))
}

fn message_coding(headers: &HeaderMap) -> Result<Option<Coding>, Error> {
    let unsupported = || Error::from(Client::Unsupported("grpc-encoding"));
    let Some(value) = headers.get("grpc-encoding") else { return Ok(None) };
    let name = value.to_str().map_err(|_| unsupported())?.trim();
    if name.eq_ignore_ascii_case("identity") {
        return Ok(None);
    }
    Coding::named(name).map(Some).ok_or_else(unsupported)
}

/// `grpc-timeout`: one to eight digits and a unit. One that is neither counts as none.
fn timeout(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let amount: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(amount * 3600),
        "M" => Duration::from_secs(amount * 60),
        "S" => Duration::from_secs(amount),
        "m" => Duration::from_millis(amount),
        "u" => Duration::from_micros(amount),
        "n" => Duration::from_nanos(amount),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_timeouts() {
        let parse = |text: &str| {
            timeout(&HeaderMap::from_iter([(
                http::HeaderName::from_static("grpc-timeout"),
                HeaderValue::from_str(text).unwrap(),
            )]))
        };
        assert_eq!(parse("2H"), Some(Duration::from_secs(7200)));
        assert_eq!(parse("99999999M"), Some(Duration::from_secs(99_999_999 * 60)));
        assert_eq!(parse("5S"), Some(Duration::from_secs(5)));
        assert_eq!(parse("100m"), Some(Duration::from_millis(100)));
        assert_eq!(parse("7u"), Some(Duration::from_micros(7)));
        assert_eq!(parse("0n"), Some(Duration::ZERO));
        for wrong in ["", "S", "5", "5s", "-5S", "+5S", "123456789S", "1.5S", "5 S"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
