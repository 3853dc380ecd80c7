//! A file for a machine's state, HTTP with `ureq`, and pauses between steps, for the programs that are killed.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use pg_proto::machine::{Event, Failure, SavedState};
use ureq::Agent;

use crate::driving::maybe_sent;

/// Limit of each request.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(10));

/// An HTTP client that sends each request once, on a connection of its own.
#[must_use]
pub fn agent() -> Agent {
    Agent::config_builder()
        .max_redirects(0)
        .max_idle_connections(0)
        .proxy(None)
        .http_status_as_error(false)
        .timeout_global(PATIENCE)
        .build()
        .into()
}

/// Stores a machine's state, then sends its request, and names each step. A request is never sent before its state is stored.
///
/// # Errors
/// If the state cannot be stored. Then nothing was sent.
pub fn store_and_send<I>(
    file: &Path,
    state: &SavedState,
    agent: &Agent,
    request: Request<Bytes>,
    step: &mut impl FnMut(&str),
) -> io::Result<Event<I>> {
    step("decided to send");
    store(file, state.text())?;
    step("stored");
    let path = request.uri().path().to_owned();
    let reply = send(agent, request);
    step(&format!("sent {path}"));
    Ok(reply.map_or_else(Event::Failed, Event::Reply))
}

/// Treats every error as a request that may have been sent. That is always safe and costs one lookup.
fn send(agent: &Agent, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    let (head, body) = request.into_parts();
    let reply = agent.run(Request::from_parts(head, &body[..])).map_err(maybe_sent)?;
    let (head, mut body) = reply.into_parts();
    let body = body.with_config().limit(1 << 20).read_to_vec().map_err(maybe_sent)?;
    Ok(Response::from_parts(head, body.into()))
}

/// Stores durably and atomically: syncs a new file, then renames it.
///
/// # Errors
/// If the file is not on the disk for certain.
pub fn store(file: &Path, text: &str) -> io::Result<()> {
    let beside = file.with_extension("new");
    let mut new = File::create(&beside)?;
    new.write_all(text.as_bytes())?;
    new.sync_all()?;
    fs::rename(&beside, file)?;
    // The rename is durable after the folder is synced.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
