//! Sends a request, and reports the outcome.

use std::sync::Arc;

use bytes::Bytes;
use pg_hyper::{Client, Error, Transport, TransportError, TransportErrorKind};
use pg_model::{
    Dialect, Parameters, json,
    method::{AuthScheme, MethodInfo, RetrySafety},
};
use pg_proto::Account;

use super::{
    lookup::Lookup,
    redirect::{self, Pages},
    verbose::Watched,
    verdict,
};
use crate::{
    account::Setting,
    command::{self, interrupt::Interrupted},
    failure::{Exit, Failure},
    indented::indented,
    output,
    redactor::cards,
    refusal::{self, Refusal},
    transport::{RedactingTransport, connection_advice},
};

/// A request to send.
pub(super) struct Call {
    pub(super) info: &'static MethodInfo,
    /// The address of its service.
    pub(super) target: String,
    /// How to look up the outcome.
    pub(super) lookup: Option<Lookup>,
    /// Where the card form redirects to.
    pub(super) pages: Pages,
    pub(super) http: RedactingTransport,
    pub(super) verbose: bool,
    pub(super) json: bool,
}

/// A lookup that found nothing, as JSON.
const NO_TRANSACTION: &str = r#"{"transactions":{}"#;

impl Call {
    /// Sends it and prints the reply.
    ///
    /// # Errors
    /// If there is no reply, or it is a refusal.
    pub(super) fn send(self, account: Account, parameters: Parameters) -> Result<Exit, Failure> {
        let dialect = Arc::clone(account.dialect());
        let client = self.client(account);
        let reply = self.wait_for(client.call_by_name(self.info, parameters))?;
        let reply = json::write(&*reply);
        let ended = verdict::ended(self.info, &reply, &dialect, self.lookup.as_ref());
        // A payment whose reply is lost in a closed pipe has no known outcome.
        let print = if self.info.retry == RetrySafety::Safe { output::data } else { output::news };
        let printed = self.document(&reply, &ended).and_then(|text| print(&text));
        printed.map_err(|failure| self.not_printed(&failure, &reply, &dialect))?;
        if reply.starts_with(NO_TRANSACTION) {
            output::say(
                "pg: no transaction was found, which proves nothing yet if a request may still arrive (A140): look again after some \
                 minutes",
            );
        }
        ended.map_err(Failure::after_document)
    }

    /// Returns a document to print. For programs it has the members of the failure too, if there is one.
    fn document(&self, document: &str, ended: &Result<Exit, Failure>) -> Result<String, Failure> {
        let document = self.shown(document);
        Ok(match (ended, document.strip_suffix('}')) {
            (Err(failure), Some(members)) if self.json => {
                let comma = if members == "{" { "" } else { "," };
                format!("{members}{comma}{}", &output::to_json(failure)?[1..])
            }
            _ => document,
        })
    }

    /// Returns the failure of printing a reply, with the outcome of a request that must not be sent again.
    fn not_printed(&self, failure: &Failure, reply: &str, dialect: &Dialect) -> Failure {
        if self.info.retry == RetrySafety::Safe {
            return Failure::new(failure.exit(), failure.message());
        }
        self.unknown(format!(
            "{}; the reply could not be printed: {}; do not send the request again",
            verdict::told(self.info, reply, dialect),
            failure.message()
        ))
    }

    /// Posts the card form like a browser, and reads the redirect.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn post_form(
        self,
        account: Account,
        request: http::Request<Bytes>,
        can_decrypt: bool,
    ) -> Result<Exit, Failure> {
        let client = self.client(account);
        let response = self.wait_for(async { Ok(client.transport().send(request).await?) })?;
        let Some(location) = redirect::location(&response) else {
            return Err(match client.account().reply_of(self.info, &response) {
                Err(error) => self.failure(error.into()),
                Ok(_) => Failure::new(
                    Exit::Unknown,
                    format!("the service answered the card form with HTTP {} and no redirect", response.status()),
                ),
            });
        };
        let redirect = redirect::read(client.account(), &location, &self.pages, can_decrypt);
        let ended = match redirect.exit {
            Exit::Done => Ok(Exit::Done),
            Exit::Unknown => Err(Failure::new(
                Exit::Unknown,
                "whether the card form was accepted is unknown: the redirect's page does not say it; set the PG_API_KEY of \
                 the session's account, or give nextPageUrl and currentPageUrl different pages",
            )),
            exit => Err(Failure::new(exit, format!("the card form was not accepted: {}", redirect.outcome))),
        };
        // The decrypted data is what the card form sent.
        output::data(&self.document(&self.http.redacted(&redirect.json), &ended)?)?;
        ended.map_err(Failure::after_document)
    }

    fn client(&self, account: Account) -> Client<Watched> {
        Client::with_transport(account, Watched { http: self.http.clone(), verbose: self.verbose })
    }

    /// Waits for a reply or an interruption. Reports an interruption with the state of the request.
    fn wait_for<R>(&self, reply: impl Future<Output = Result<R, Error>>) -> Result<R, Failure> {
        command::block_on(async {
            let interrupted = Interrupted::listen()?;
            tokio::select! {
                reply = reply => reply.map_err(|error| self.failure(error)),
                () = interrupted.wait() => Err(self.interruption()),
            }
        })
    }

    fn interruption(&self) -> Failure {
        if self.info.retry == RetrySafety::Safe {
            return Failure::new(
                Exit::NotReachable,
                "interrupted before the reply arrived; it is safe to run this \
            again",
            );
        }
        let next = match self.lookup {
            Some(_) => "look it up next",
            None => "there is no reference to look it up by, ask the operator",
        };
        self.unknown(format!(
            "outcome unknown, {next}: interrupted before the reply arrived, and the request may have been sent"
        ))
    }

    fn unknown(&self, message: String) -> Failure {
        verdict::unknown(message, self.lookup.as_ref())
    }

    fn shown(&self, reply: &str) -> String {
        let reply = cards::masked(reply);
        let reply = json::escape_invisible(&reply);
        if self.json { reply.into_owned() } else { indented(&reply) }
    }

    /// Returns a hint that a reply may not come from the service.
    fn whose(&self) -> String {
        let setting = match self.info.credentials {
            AuthScheme::Enterprise => Setting::EnterpriseBaseUrl,
            AuthScheme::Signed | AuthScheme::Session => Setting::BaseUrl,
        };
        format!("; the reply came from {}: is that the service? ({})", self.target, setting.variable())
    }

    fn failure(&self, error: Error) -> Failure {
        // Programs get the reply unchanged.
        let refusal = Refusal::in_error(&error);
        let error = refusal::explained_in(error);
        let is_safe = self.info.retry == RetrySafety::Safe;
        let message = match &error {
            Error::Unreadable(unreadable) if is_safe => format!("{unreadable:#}"),
            error => error.to_string(),
        };
        let failure = match error {
            Error::Misuse(_) => Failure::misuse(message),
            Error::Refused(_) => Failure::new(Exit::Refused, message),
            Error::Transport(TransportError::NotSent(TransportErrorKind::Insecure(address))) => {
                Failure::misuse(format!("{address}: use an https address"))
            }
            Error::Transport(error @ TransportError::NotSent(_)) => {
                Failure::new(Exit::NotReachable, message + connection_advice(&error))
            }
            // The request is not a payment: the outcome of a payment would be unknown.
            Error::Transport(_) => {
                Failure::new(Exit::NotReachable, format!("no reply: {message}; it is safe to run this again"))
            }
            // The service was reached, and the request changed nothing; only its result is unknown.
            Error::Unreadable(_) if is_safe => {
                Failure::new(Exit::Unknown, format!("{message}{}; it is safe to run this again", self.whose()))
            }
            Error::Unreadable(_) => Failure::new(Exit::Unknown, message + &self.whose()),
            Error::Unknown { cause, .. } => match &*cause {
                Error::Unreadable(_) => self.unknown(message + &self.whose()),
                _ => self.unknown(message),
            },
            _ => Failure::new(Exit::Unknown, message),
        };
        failure.refusal(refusal)
    }
}
