//! One page of a list that is shown newest first.

use bytes::Bytes;
use http::Request;

use crate::{
    form::{Form, Limits},
    store::Query,
};

/// How many are shown when nobody says.
const USUAL: u32 = 50;
/// How many are shown at most.
const MOST: u32 = 1_000;

const WRONG: &str = "limit must be a number from 1 to 1000, before the key of a record; nothing else is known";

/// `?limit=&before=`: so many of those that came before the record with this key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    limit: u32,
    before: Option<String>,
}

impl Page {
    /// The page that a request asks for.
    pub(super) fn of(request: &Request<Bytes>) -> Result<Self, &'static str> {
        Self::parse(request.uri().query().unwrap_or_default())
    }

    fn parse(query: &str) -> Result<Self, &'static str> {
        let form = Form::parse(query.as_bytes(), &Limits::default()).map_err(|_| WRONG)?;
        let mut page = Self { limit: USUAL, before: None };
        for (name, value) in form.iter().filter(|(_, value)| !value.is_empty()) {
            match name {
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MOST).contains(limit));
                    page.limit = limit.ok_or(WRONG)?;
                }
                "before" => page.before = Some(value.to_owned()),
                _ => return Err(WRONG),
            }
        }
        Ok(page)
    }

    /// The records of the page.
    pub(super) fn query(&self) -> Query<'_> {
        let newest = Query::newest(self.limit);
        self.before.iter().fold(newest, |query, before| query.before(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_and_before_are_read() {
        let page = |limit, before: Option<&str>| Ok(Page { limit, before: before.map(str::to_owned) });
        assert_eq!(Page::parse(""), page(50, None));
        assert_eq!(Page::parse("limit=&before="), page(50, None));
        assert_eq!(Page::parse("limit=1000&before=a%2Fb"), page(1_000, Some("a/b")));
        for wrong in ["limit=0", "limit=1001", "limit=-1", "limit=x", "limit=1&limit=2", "after=1", "limit=%"] {
            assert_eq!(Page::parse(wrong), Err(WRONG), "{wrong}");
        }
    }
}
