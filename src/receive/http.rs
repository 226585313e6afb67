//! The OTLP/HTTP door: `POST .../v1/{traces,metrics,logs}` and `.../v1development/profiles`, protobuf and JSON.
//!
//! Turns an HTTP request into one [`pipeline::Request`](crate::pipeline::Request), always in protobuf, and the result
//! into a response in the client's encoding. Decides nothing about status codes (`respond`).

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, Response, Version};
use hyper::body::Incoming;
use tokio::time::Instant;

use super::body::{Intake, Terms};
use super::connection::Busy;
use super::{Door, Handler, Received, unpanicked};
use crate::decompress::Coding;
use crate::error::{Backend, Client, Error, Redact};
use crate::offload::{Failed, offload};
use crate::otlp::{Encoding, Payload, Protocol, Signal, json, reply};
use crate::pipeline::{self, Reply};
use crate::respond;

/// From this size on JSON is transcoded on a thread of its own, so that other requests go on.
const LARGE_JSON: usize = 256 << 10;

/// Answers one request that is not gRPC.
pub(super) async fn answer<H: Handler>(door: &Door<H>, request: Request<Incoming>) -> Response<Bytes> {
    let encoding = encoding(request.headers());
    let signal = signal(request.uri().path());
    let received = match route(&request, signal, encoding) {
        Ok(route) => unpanicked(receive(door, route, request)).await,
        Err(error) => Err(error),
    };
    let encoding = encoding.unwrap_or(Encoding::Protobuf);
    let result = match received {
        Ok(received) => {
            let signal = received.request.signal;
            door.handle(received).await.and_then(|reply| in_encoding(&reply, signal, encoding))
        }
        Err(error) => {
            door.count(signal, Protocol::Http, &error);
            Err(error)
        }
    };
    match result {
        Ok(body) => respond::http_accepted(body, encoding),
        Err(error) => respond::http_refused(&error, encoding),
    }
}

/// What an export request says before its body.
struct Route {
    signal: Signal,
    encoding: Encoding,
    coding: Option<Coding>,
}

fn route(
    request: &Request<Incoming>,
    signal: Option<Signal>,
    encoding: Option<Encoding>,
) -> Result<Route, Error> {
    let signal = signal.ok_or(Client::NotFound)?;
    if request.method() != Method::POST {
        return Err(Client::MethodNotAllowed.into());
    }
    let encoding = encoding.ok_or(Client::Unsupported("content type"))?;
    Ok(Route { signal, encoding, coding: content_coding(request.headers())? })
}

async fn receive<H: Handler>(
    door: &Door<H>,
    route: Route,
    request: Request<Incoming>,
) -> Result<Received, Error> {
    let Route { signal, encoding, coding } = route;
    let (parts, body) = request.into_parts();
    let settings = door.limits.settings();
    let deadline = Instant::now() + settings.request_timeout;
    let limit = door.settings.max_body;
    let mut intake =
        Intake::new(body, Terms { limit, framing: 0, idle: settings.body_idle_timeout, deadline });

    let read = async {
        let mut admission = door.limits.admit()?;
        let body = intake.whole(coding, &mut admission).await?;
        Ok::<_, Error>((admission, body))
    };
    let (mut admission, body) = match read.await {
        Ok(read) => read,
        Err(error) => {
            refuse_politely(intake, &parts);
            return Err(error);
        }
    };
    let payload = match encoding {
        Encoding::Protobuf => body,
        Encoding::Json => {
            let message = transcode(signal, body, limit).await?;
            admission.charge(message.len())?;
            message
        }
    };
    let request = pipeline::Request {
        signal,
        encoding,
        protocol: Protocol::Http,
        payload: Payload::new(payload),
        headers: parts.headers,
        deadline: deadline.into_std(),
    };
    Ok(Received { request, deadline, admission })
}

/// Over HTTP/1.1 an answer before the end of the request is lost on clients that write first and read afterwards:
/// closing on them resets the connection, and they would send it all again. HTTP/2 has frames for that.
fn refuse_politely(intake: Intake, parts: &http::request::Parts) {
    let waits = parts.headers.contains_key(http::header::EXPECT) && !intake.has_started();
    if parts.version >= Version::HTTP_2 || waits || intake.is_over() {
        return;
    }
    let busy = parts.extensions.get::<Busy>().cloned();
    tokio::spawn(async move {
        intake.drain().await;
        drop(busy);
    });
}

async fn transcode(signal: Signal, json: Bytes, limit: usize) -> Result<Bytes, Error> {
    if json.len() < LARGE_JSON {
        return to_protobuf(signal, &json, limit);
    }
    let work = move || to_protobuf(signal, &json, limit);
    offload(work).await.unwrap_or_else(|Failed| Err(Redact::Internal.into()))
}

/// The signal whose path this is, under any prefix: Langfuse and Braintrust clients send to
/// `/api/public/otel/v1/traces` and `/otel/v1/traces`.
fn signal(path: &str) -> Option<Signal> {
    Signal::ALL.into_iter().find(|signal| path.ends_with(signal.http_path()))
}

/// The encoding that `Content-Type` names, parameters aside.
fn encoding(headers: &HeaderMap) -> Option<Encoding> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = value.split(';').next()?.trim();
    [Encoding::Protobuf, Encoding::Json]
        .into_iter()
        .find(|encoding| essence.eq_ignore_ascii_case(encoding.content_type()))
}

/// The one coding that `Content-Encoding` names, if any.
fn content_coding(headers: &HeaderMap) -> Result<Option<Coding>, Error> {
    let unsupported = || Error::from(Client::Unsupported("content encoding"));
    let mut found = None;
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.to_str().map_err(|_| unsupported())?.split(',').map(str::trim) {
            if name.is_empty() || name.eq_ignore_ascii_case("identity") {
                continue;
            }
            let coding = Coding::named(name).ok_or_else(unsupported)?;
            if found.replace(coding).is_some() {
                return Err(unsupported());
            }
        }
    }
    Ok(found)
}

/// One OTLP/JSON request in protobuf, of at most `limit` bytes: packed numbers can take more of them than their digits.
fn to_protobuf(signal: Signal, json: &[u8], limit: usize) -> Result<Bytes, Error> {
    json::to_protobuf_within(signal.request(), json, limit).map(Bytes::from).map_err(|error| match error {
        error if error.is_too_long() => Client::TooLarge { limit }.into(),
        error => Client::Malformed(error.what).into(),
    })
}

/// The backend's reply in the client's encoding.
fn in_encoding(reply: &Reply, signal: Signal, encoding: Encoding) -> Result<Bytes, Error> {
    reply::write_response(signal, encoding, &reply.message).map_err(|_| Backend::Garbage.into())
}
