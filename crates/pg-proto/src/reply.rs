//! `http::Response` → typed reply, or an error by cause. After a reply that is neither a success nor a readable error,
//! the operation may or may not have been executed (assumption A44).

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use pg_model::{
    ApiRequest, DecodeError, FromReply as _, Record, Reply, decode, decode_as,
    method::{MethodInfo, ServiceInfo},
};

use crate::{
    Account,
    error::{Refused, ReplyError, Unreadable},
};

/// The first bytes of a gzip file (RFC 1952).
const GZIP: &[u8] = &[0x1f, 0x8b];

impl Account {
    /// Reads the reply to a request of `M`.
    ///
    /// # Errors
    ///
    /// [`ReplyError::Refused`] if the service answered with an error code, whatever the HTTP status.
    /// [`ReplyError::Unreadable`] if the reply cannot be read: then the operation may have been executed.
    pub fn reply<M: ApiRequest>(&self, response: http::Response<Bytes>) -> Result<M::Output, ReplyError> {
        self.reply_as::<M::Reply>(M::INFO.service, &response).map(|reply| M::Output::from_reply(reply, self.dialect()))
    }

    /// Reads a reply of a service as a record, for raw requests ([`RawRequest::service`](crate::RawRequest::service)).
    ///
    /// # Errors
    ///
    /// As for [`reply`](Self::reply).
    pub fn reply_as<R: Record + Default>(
        &self,
        service: &ServiceInfo,
        response: &http::Response<Bytes>,
    ) -> Result<R, ReplyError> {
        self.judge(service, response, decode(response.body()))
    }

    /// Reads the reply to a request of a method that is known only at run time, as the record of that method.
    ///
    /// # Errors
    ///
    /// As for [`reply`](Self::reply).
    pub fn reply_of(&self, info: &MethodInfo, response: &http::Response<Bytes>) -> Result<Box<dyn Record>, ReplyError> {
        self.judge(info.service, response, decode_as(response.body(), (info.new_reply)()))
    }

    /// Returns the record, if the reply was readable, names no error code, and has no failure status.
    fn judge<R>(
        &self,
        service: &ServiceInfo,
        response: &http::Response<Bytes>,
        reply: Result<Reply<R>, DecodeError>,
    ) -> Result<R, ReplyError> {
        let mut reply = reply.map_err(|why| self.unreadable(response, Some(why)))?;
        if !reply.error.error_code.is_empty() {
            self.remove_repeated(&mut reply.error);
            return Err(ReplyError::Refused(Refused::new(service, response.status(), reply.error, self.dialect())));
        }
        if !response.status().is_success() {
            return Err(self.unreadable(response, None));
        }
        Ok(reply.record)
    }

    fn unreadable(&self, response: &http::Response<Bytes>, why: Option<DecodeError>) -> ReplyError {
        let header = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
        let named = header(CONTENT_ENCODING).filter(|encoding| !encoding.eq_ignore_ascii_case("identity"));
        let encoding = named.or_else(|| response.body().starts_with(GZIP).then_some("gzip")).unwrap_or_default();
        let content_type = header(CONTENT_TYPE).unwrap_or_default();
        let hidden = |text: &str| self.without_repeated(text);
        ReplyError::Unreadable(Box::new(Unreadable::new(
            response.status(),
            [content_type, encoding],
            why,
            response.body(),
            hidden,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BaseUrl, Credentials};

    fn said(encoding: Option<&str>, body: &'static [u8]) -> String {
        let account = Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("k", "p", "s"));
        let mut response = http::Response::builder().header(CONTENT_TYPE, "text/xml");
        if let Some(encoding) = encoding {
            response = response.header(CONTENT_ENCODING, encoding);
        }
        let response = response.body(Bytes::from_static(body)).unwrap();
        account.reply_as::<pg_model::Session>(pg_model::Initiate::INFO.service, &response).unwrap_err().to_string()
    }

    #[test]
    fn a_compressed_reply_is_named_and_its_bytes_are_not_shown() {
        for (encoding, body, name) in [
            (Some("br"), &b"\x0b\x02\x80"[..], "br"),
            (None, &b"\x1f\x8b\x08\0"[..], "gzip"),
            (Some("gzip"), &b"<"[..], "gzip"),
        ] {
            let said = said(encoding, body);
            let end = format!("text/xml, its body is encoded as {name:?}, which the request did not ask for");
            assert!(said.ends_with(&end), "{said}");
        }
        let plain = said(Some("identity"), b"<h1>");
        assert!(plain.ends_with(": \"<h1>\"") && !plain.contains("encoded"), "{plain}");
    }
}
