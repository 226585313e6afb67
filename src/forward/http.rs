//! OTLP/HTTP: one POST. Names the headers, and reads the answer. Redirects are not followed: a
//! backend's credentials are for one URL only.

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response};
use hyper::body::Incoming;

use super::answer::{self, Form};
use super::client::Client;
use super::settings::Compression;
use crate::error::Backend;
use crate::forward::Reply;
use crate::otlp::reply::read_response;
use crate::otlp::{Encoding, Signal};

/// Adds the protocol's own headers.
pub(super) fn head(headers: &mut HeaderMap, encoding: Encoding, compression: Compression) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(encoding.content_type()));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if let Some(name) = compression.header() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
    }
}

/// Reads the answer.
///
/// # Errors
///
/// What the backend said instead of success.
pub(super) async fn answer(
    client: &Client,
    signal: Signal,
    response: Response<Incoming>,
) -> Result<Reply, Backend> {
    let (head, body) = response.into_parts();
    let readable = head.headers.get(CONTENT_ENCODING).is_none_or(|value| value == "identity");
    let form = if readable { answer::form(&head.headers) } else { Form::Other };
    if !head.status.is_success() {
        // The status stands, whatever becomes of its explanation.
        let body = client.read(body).await.map(|(body, _)| body).unwrap_or_default();
        let (message, retry_info) = answer::explanation(form, &body);
        let retry_after = answer::retry_after(&head.headers).or(retry_info);
        return Err(Backend::Http { status: head.status.as_u16(), retry_after, message });
    }
    let (body, _) = client.read(body).await?;
    let encoding = match form {
        _ if body.is_empty() => return Ok(Reply::default()),
        Form::Protobuf => Encoding::Protobuf,
        Form::Json => Encoding::Json,
        Form::Text | Form::Grpc | Form::Other => return Err(Backend::Garbage),
    };
    let message = read_response(signal, encoding, body).map_err(|_| Backend::Garbage)?;
    Ok(Reply { message })
}
