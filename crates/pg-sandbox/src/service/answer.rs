//! The answer to a request: the reply, its basis and the warnings. The journal records them, and the caller gets a
//! response.

use bytes::Bytes;
use http::Response;

use super::reply::Reply;
use crate::{
    basis::{self, Basis},
    journal::NotedReply,
    warning::{self, Warnings},
};

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status, the body and most headers; basis and warnings become headers too.
    pub(crate) reply: Reply,
    /// Its basis: the clause and the assumptions.
    pub(crate) basis: Basis,
    /// The warnings for the caller.
    pub(crate) warnings: Warnings,
}

impl Answer {
    /// Creates an answer without warnings.
    pub(crate) fn new(reply: Reply, basis: Basis) -> Self {
        Self { reply, basis, warnings: Warnings::default() }
    }

    /// Returns the answer to HEAD instead of GET.
    pub(crate) fn without_body(self) -> Self {
        Self { reply: self.reply.without_body(), ..self }
    }

    /// Returns the parts that the journal keeps.
    pub(crate) fn remembered(&self) -> NotedReply<'_> {
        let Self { reply, basis, warnings } = self;
        NotedReply {
            status: reply.status().as_u16(),
            error_code: reply.error_code(),
            basis,
            warnings,
            location: reply.location(),
            body: if reply.is_page() { &[] } else { reply.body() },
        }
    }

    /// Returns the HTTP response.
    pub(crate) fn into_response(self) -> Response<Bytes> {
        let mut response = self.reply.into_response();
        let headers = response.headers_mut();
        if let Some(basis) = self.basis.header() {
            headers.insert(basis::HEADER, basis);
        }
        if let Some(warnings) = self.warnings.header() {
            headers.insert(warning::HEADER, warnings);
        }
        response
    }
}
