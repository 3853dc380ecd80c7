//! `http::Response` → typed reply, or an error by cause. A reply that is neither a success nor a readable error leaves
//! open whether the operation was executed (assumption A44).

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use pg_model::{ApiRequest, DecodeError, FromReply as _, Record, Reply, decode, decode_as, method::MethodInfo};

use crate::{
    Account,
    error::{Refused, ReplyError, Unreadable},
};

impl Account {
    /// Reads the reply to a request of `M`.
    ///
    /// # Errors
    ///
    /// [`ReplyError::Refused`] if the service answered with an error code, whatever the HTTP status.
    /// [`ReplyError::Unreadable`] if the reply cannot be read: then the operation may have been executed.
    pub fn reply<M: ApiRequest>(&self, response: http::Response<Bytes>) -> Result<M::Output, ReplyError> {
        self.reply_as::<M::Reply>(&response).map(|reply| M::Output::from_reply(reply, self.dialect()))
    }

    /// Reads a reply as a record, for raw requests.
    ///
    /// # Errors
    ///
    /// As for [`reply`](Self::reply).
    pub fn reply_as<R: Record + Default>(&self, response: &http::Response<Bytes>) -> Result<R, ReplyError> {
        self.judge(response, decode(response.body()))
    }

    /// Reads the reply to a request of a method that is known only at run time, as the record of that method.
    ///
    /// # Errors
    ///
    /// As for [`reply`](Self::reply).
    pub fn reply_of(&self, info: &MethodInfo, response: &http::Response<Bytes>) -> Result<Box<dyn Record>, ReplyError> {
        self.judge(response, decode_as(response.body(), (info.new_reply)()))
    }

    /// Returns the record, if the reply was readable, names no error code, and has no failure status.
    fn judge<R>(
        &self,
        response: &http::Response<Bytes>,
        reply: Result<Reply<R>, DecodeError>,
    ) -> Result<R, ReplyError> {
        let reply = reply.map_err(|why| ReplyError::Unreadable(unreadable(response, Some(why))))?;
        if !reply.error.error_code.is_empty() {
            return Err(ReplyError::Refused(Refused::new(response.status(), reply.error, self.dialect())));
        }
        if !response.status().is_success() {
            return Err(ReplyError::Unreadable(unreadable(response, None)));
        }
        Ok(reply.record)
    }
}

fn unreadable(response: &http::Response<Bytes>, why: Option<DecodeError>) -> Box<Unreadable> {
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Box::new(Unreadable::new(response.status(), content_type, why, response.body()))
}
