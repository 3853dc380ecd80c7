//! Lists of what happened: newest first, a page at a time by `?limit=&before=`.

use bytes::Bytes;
use http::Request;

use crate::{
    form::{Form, Limits},
    store::Query,
};

/// How many entries a page has when its request does not say, and how many it may have.
const USUAL: u32 = 50;
const MOST: u32 = 1_000;

/// Which page of a list is asked for.
pub(super) struct Listing {
    limit: u32,
    before: Option<String>,
}

impl Listing {
    /// The page that a request asks for, or what is wrong with its query.
    pub(super) fn of(request: &Request<Bytes>) -> Result<Self, String> {
        let query = request.uri().query().unwrap_or_default();
        let query = Form::parse(query.as_bytes(), &Limits::default()).map_err(|error| error.to_string())?;
        let limit = match query.given("limit") {
            None => USUAL,
            Some(text) => text
                .parse()
                .ok()
                .filter(|limit| (1..=MOST).contains(limit))
                .ok_or_else(|| format!("limit has to be from 1 to {MOST}"))?,
        };
        Ok(Self { limit, before: query.given("before").map(str::to_owned) })
    }

    /// The query for the records of the page; `before` is the id of an entry.
    pub(super) fn query(&self) -> Query<'_> {
        let newest = Query::newest(self.limit);
        match &self.before {
            Some(before) => newest.before(before),
            None => newest,
        }
    }
}
