//! Accepts TCP connections within fixed bounds, so that silent or slow peers cannot keep others out.
//!
//! **What it is:** a listener for servers that face hostile peers. It bounds the number of connections, the connections of one
//! address, the bytes of request bodies and unread replies in memory, the wait for the first byte, and the wait for a peer that
//! does not read its response. When a bound is reached, the connection that has been silent for longest is closed in favour of the
//! new one; a connection whose request is being answered is never closed.
//!
//! **What it is not:** an HTTP server. The server tells it what a connection does, through its [`ConnectionSlot`].
//!
//! A connection is *idle* while the server waits for its peer: for a first byte, the rest of a head or a body, the next request, or
//! until the peer reads. It is *working* from [`ConnectionSlot::working`] to [`ConnectionSlot::idle`]. Among idle connections, the
//! oldest that has not completed a request is closed first, unless it was accepted just now; otherwise the one that has been idle
//! for longest. A peer that sends single bytes stays idle. The connection of a request that is marked as
//! [known](ConnectionSlot::known) is closed only if all idle connections have such requests.
//!
//! [`RequestQueue`] and [`HandshakeQueue`] order what costs the server processor time: requests, and the handshakes of TLS.
//!
//! ```
//! use pg_connections::{Acceptor, ConnectionLimits};
//! use tokio::net::TcpListener;
//!
//! # async fn serve() -> std::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let mut acceptor = Acceptor::new(listener, ConnectionLimits::default());
//! loop {
//!     let accepted = acceptor.next().await;
//!     tokio::spawn(async move {
//!         tokio::select! {
//!             () = accepted.place.closed() => {}
//!             // Serve `accepted.stream` here, and call `working` and `idle` around each request.
//!             () = std::future::ready(()) => {}
//!         }
//!     });
//! # break;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! - `postgres`: `PostgresUrl` opens connections to PostgreSQL, beyond this machine only with TLS.

mod acceptor;
mod body;
mod handshakes;
mod limits;
mod places;
#[cfg(feature = "postgres")]
mod postgres;
mod short_reads;
mod stream;
mod turns;

pub use acceptor::{Accepted, Acceptor, listen};
pub use body::{BodyError, HeldBody, read_body};
pub use handshakes::HandshakeQueue;
pub use limits::ConnectionLimits;
pub use places::{BodyPermit, ConnectionSlot, ConnectionSlots, ResponsePermit};
#[cfg(feature = "postgres")]
pub use postgres::{InvalidPostgresUrl, PostgresStream, PostgresUrl, explain};
pub use short_reads::ShortReads;
pub use stream::Stream;
pub use turns::{RequestQueue, RequestTurn};
