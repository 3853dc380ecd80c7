//! A client of the sandbox's control interface: JSON below `/_sandbox/`.

mod plain;

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use pg_hyper::{HyperTransport, Transport, TransportError, TransportErrorKind};
use pg_model::{Secret, mask};
use pg_proto::BaseUrl;
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::{
    account::variable,
    failure::{Exit, Failure},
    transport::{connection_advice, transport},
};

/// The default address of a sandbox.
pub(crate) const USUAL: &str = "http://127.0.0.1:8480";
/// The environment variable with the address.
const ADDRESS: &str = "PG_SANDBOX_URL";
/// The environment variable with the token: arguments are visible in process lists.
pub(crate) const TOKEN: &str = "PG_CONTROL_TOKEN";
/// The time limit for connecting, sending and receiving together.
const DEADLINE: Duration = Duration::from_secs(10);
/// The path of the clock below `/_sandbox/`.
const CLOCK: &str = "clock";
/// Characters of a foreign reply's content type that are shown.
const SHOWN: usize = 60;

/// The flag that names a running sandbox.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SandboxFlags {
    /// Address of the running sandbox [env: PG_SANDBOX_URL] [default: http://127.0.0.1:8480]
    ///
    /// If the sandbox requires a control token, set it in PG_CONTROL_TOKEN.
    #[arg(long, value_name = "URL", global = true)]
    sandbox: Option<String>,
    /// Allows plain HTTP to a sandbox on another machine: networks in between can then read the control token and the
    /// output
    #[arg(long, global = true)]
    plain_http: bool,
}

/// The flags that name a running sandbox and one of its accounts.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct AccountFlags {
    #[command(flatten)]
    at: SandboxFlags,
    /// An account created by `pg sandbox account new`, with its own clock, faults and entries. Default: the clock,
    /// faults and settings that all other accounts share; lists show the entries of every account
    #[arg(long, value_name = "NAME", global = true, value_parser = crate::account::name())]
    pub(crate) account: Option<String>,
}

/// The control interface of one running sandbox.
#[derive(Clone)]
pub(crate) struct Control {
    base: BaseUrl,
    /// The account that all calls are about, if it was created at run time.
    account: Option<String>,
    token: Option<Secret>,
    http: Http,
    /// Set once the server has answered like a sandbox.
    recognised: OnceCell<()>,
}

/// The transport of requests.
#[derive(Clone)]
enum Http {
    /// https, and plain HTTP to this machine.
    Guarded(HyperTransport),
    /// Plain HTTP to another machine, which `--plain-http` has allowed.
    Plain,
}

impl Control {
    /// Creates a client for the sandbox that the flag, else the environment, names.
    ///
    /// # Errors
    /// If the address or the token is invalid.
    pub(crate) fn new(flags: &SandboxFlags) -> Result<Self, Failure> {
        let (address, from) = match &flags.sandbox {
            Some(address) => (address.clone(), "--sandbox"),
            None => variable(ADDRESS)?.map_or_else(|| (USUAL.to_owned(), "--sandbox"), |address| (address, ADDRESS)),
        };
        // `pg sandbox` prints an address that ends in /_sandbox/: accept it too.
        let address = address.trim_end_matches('/').trim_end_matches("/_sandbox");
        if address.contains('@') {
            return Err(Failure::misuse(format!(
                "{from} contains credentials; set the control token in {TOKEN} instead"
            )));
        }
        let base = BaseUrl::parse(address).map_err(|error| Failure::misuse(format!("invalid {from}: {error}")))?;
        let http = match (base.is_private(), flags.plain_http) {
            (true, _) => Http::Guarded(transport(DEADLINE)?),
            (false, true) => Http::Plain,
            (false, false) => {
                return Err(Failure::misuse(format!(
                    "{base} is on another machine and plain HTTP; use https, or allow it with --plain-http"
                )));
            }
        };
        Ok(Self { base, account: None, token: variable(TOKEN)?.map(Secret::from), http, recognised: OnceCell::new() })
    }

    /// Creates a client for a command that sends card data and credentials too, which `--plain-http` does not allow.
    ///
    /// # Errors
    /// As [`Control::new`].
    pub(crate) fn beside_card_data(flags: &SandboxFlags) -> Result<Self, Failure> {
        let control = Self::new(&SandboxFlags { plain_http: true, ..flags.clone() })?;
        if control.base.is_private() {
            return Ok(control);
        }
        let base = &control.base;
        Err(Failure::misuse(format!(
            "{base} is on another machine and plain HTTP, and a scenario sends card data and credentials: use https, or a sandbox \
             on this machine"
        )))
    }

    /// Creates a client for calls about the account that the flags name.
    ///
    /// # Errors
    /// As [`Control::new`].
    pub(crate) fn at_account(flags: &AccountFlags) -> Result<Self, Failure> {
        Ok(Self { account: flags.account.clone(), ..Self::new(&flags.at)? })
    }

    /// Creates a client for calls about an account if that was created at run time; otherwise about all other accounts
    /// together.
    ///
    /// # Errors
    /// If there is no sandbox, or it refuses the call.
    pub(crate) async fn of_account(&self, name: &str) -> Result<Self, Failure> {
        let shared = Self { account: None, ..self.clone() };
        let made = shared.get("accounts").await?;
        let is_made = made.as_array().is_some_and(|made| made.iter().any(|account| account["name"] == name));
        Ok(Self { account: is_made.then(|| name.to_owned()), ..shared })
    }

    /// Creates a client for a sandbox at an address of this machine.
    ///
    /// # Errors
    /// If the address is invalid.
    pub(crate) fn at(address: &str) -> Result<Self, Failure> {
        Self::new(&SandboxFlags { sandbox: Some(address.to_owned()), plain_http: false })
    }

    /// Whether calls are about all configured accounts, which share their clock, faults and entries.
    pub(crate) fn is_shared(&self) -> bool {
        self.account.is_none()
    }

    /// Returns the sandbox's address, without a slash at its end.
    pub(crate) fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Returns the address of a page or call: `path` follows `/_sandbox/`.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}/_sandbox/{path}", self.base.as_str().trim_end_matches('/'))
    }

    /// Sends a GET request.
    ///
    /// # Errors
    /// If there is no sandbox, or it refuses the call.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.call(Method::GET, path, None).await
    }

    /// Sends a POST request.
    ///
    /// # Errors
    /// As [`Control::get`].
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Sends a DELETE request.
    ///
    /// # Errors
    /// As [`Control::get`].
    pub(crate) async fn delete(&self, path: &str) -> Result<Value, Failure> {
        self.call(Method::DELETE, path, None).await
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        if method == Method::GET && path == CLOCK {
            return self.clock().await;
        }
        self.recognised.get_or_try_init(|| async { self.clock().await.map(drop) }).await?;
        self.read(path, &self.send(method, path, body).await?)
    }

    /// Reads the clock. Every sandbox has a clock, and no other server that answers in JSON has one at this path.
    async fn clock(&self) -> Result<Value, Failure> {
        let response = self.send(Method::GET, CLOCK, None).await?;
        let clock = self.read(CLOCK, &response)?;
        let is_clock = clock["now"].is_string() && clock["unixSeconds"].is_i64();
        if is_clock { Ok(clock) } else { Err(self.foreign(CLOCK, &response)) }
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Response<Bytes>, Failure> {
        let mut request = Request::builder()
            .method(method)
            .uri(self.url(&self.with_account(path)))
            .header(header::ACCEPT, "application/json");
        if let Some(token) = &self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(|_| {
                Failure::misuse(format!(
                    "{TOKEN} contains characters that are not allowed in an HTTP \
                header"
                ))
            })?;
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let request = request
            .body(body)
            .map_err(|error| Failure::misuse(format!("{:?} is not a valid path: {error}", mask::text(path))))?;
        let response = match &self.http {
            Http::Guarded(http) => http.send(request).await,
            Http::Plain => plain::send(request, DEADLINE).await,
        };
        response.map_err(|error| self.unreachable(&error))
    }

    /// Returns a path with the account that the call is about.
    fn with_account(&self, path: &str) -> String {
        let Some(account) = &self.account else { return path.to_owned() };
        let mut query = form_urlencoded::Serializer::new(String::new());
        let query = query.append_pair("account", account).finish();
        format!("{path}{}{query}", if path.contains('?') { '&' } else { '?' })
    }

    fn unreachable(&self, error: &TransportError) -> Failure {
        let base = self.base.as_str();
        let kind = error.kind();
        let message = if kind.is_invalid_certificate() {
            format!("{kind}{}; nothing was sent", connection_advice(error))
        } else if !error.may_be_executed() {
            format!(
                "no sandbox answers at {base}: {kind}; start one with `pg sandbox`, or name another with --sandbox URL{}",
                connection_advice(error)
            )
        } else {
            // A server that speaks TLS answers plain HTTP with an alert.
            let may_be_tls = base.starts_with("http://") && matches!(kind, TransportErrorKind::Connection(_));
            let or = if may_be_tls { ", and whether it needs https" } else { "" };
            format!("the sandbox at {base} did not reply: {kind}; check whether it still runs{or}")
        };
        Failure::new(Exit::NotReachable, message)
    }

    /// Returns the failure for a reply of another server.
    fn foreign(&self, path: &str, response: &Response<Bytes>) -> Failure {
        let (base, status) = (self.base.as_str(), response.status().as_u16());
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind: String = kind.unwrap_or("no content type").chars().take(SHOWN).collect();
        let path = mask::text(path);
        Failure::new(
            Exit::NotReachable,
            format!(
                "{base} does not answer like a sandbox: /_sandbox/{path} returned HTTP {status} ({kind}); name the sandbox \
                 with --sandbox URL"
            ),
        )
    }

    /// Distinguishes a sandbox's reply from that of another server.
    fn read(&self, path: &str, response: &Response<Bytes>) -> Result<Value, Failure> {
        let (base, status) = (self.base.as_str(), response.status());
        let json: Option<Value> = serde_json::from_slice(response.body()).ok();
        if status.is_success() {
            let json = json.filter(|json| json.is_object() || json.is_array());
            return json.ok_or_else(|| self.foreign(path, response));
        }
        let text = |name: &str| json.as_ref().and_then(|json| json[name].as_str());
        let (Some(reason), Some(code)) = (text("error"), text("code")) else {
            return Err(self.foreign(path, response));
        };
        Err(match status {
            StatusCode::UNAUTHORIZED if self.token.is_some() => {
                Failure::new(Exit::Refused, format!("the sandbox at {base} rejected the control token in {TOKEN}"))
            }
            StatusCode::UNAUTHORIZED => {
                Failure::new(Exit::Refused, format!("the sandbox at {base} requires a control token: set {TOKEN}"))
            }
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED if is_unknown_call(status, code) => Failure::new(
                Exit::Refused,
                format!(
                    "the sandbox at {base} does not know /_sandbox/{}: it is probably older than this pg ({}); restart it \
                     with `pg sandbox` of this version",
                    mask::text(path),
                    env!("CARGO_PKG_VERSION"),
                ),
            ),
            StatusCode::BAD_REQUEST => Failure::misuse(format!("the sandbox rejected the request: {reason}")),
            _ => Failure::new(Exit::Refused, format!("the sandbox at {base} refused: {reason}")),
        })
    }
}

/// Whether the path or its method is unknown, rather than the entry that the path names.
fn is_unknown_call(status: StatusCode, code: &str) -> bool {
    status == StatusCode::METHOD_NOT_ALLOWED || code == "no-such-call"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(token: Option<&str>) -> Control {
        let flags = SandboxFlags { sandbox: Some("http://127.0.0.1:1/_sandbox/".to_owned()), plain_http: false };
        Control { token: token.map(Secret::from), ..Control::new(&flags).unwrap() }
    }

    fn read(token: Option<&str>, status: u16, body: &'static str) -> Result<Value, String> {
        let response = Response::builder().status(status).body(Bytes::from_static(body.as_bytes())).unwrap();
        control(token).read("clock", &response).map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn the_address_of_the_inspector_is_accepted() {
        assert_eq!(control(None).url("pages/faults"), "http://127.0.0.1:1/_sandbox/pages/faults");
        for (wrong, says) in [
            ("127.0.0.1:8480", "invalid --sandbox"),
            ("http://a:b@localhost", "contains credentials"),
            ("http://sandbox:8480", "allow it with --plain-http"),
        ] {
            let flags = SandboxFlags { sandbox: Some(wrong.to_owned()), plain_http: false };
            assert!(Control::new(&flags).err().unwrap().message().contains(says), "{wrong}");
        }
    }

    #[test]
    fn replies_are_distinguished() {
        assert_eq!(read(None, 200, r#"{"now":"x"}"#).unwrap()["now"], "x");
        for (token, status, body, says) in [
            (
                None,
                200,
                "<html>",
                "does not answer like a sandbox: /_sandbox/clock returned HTTP 200 (no content type)",
            ),
            (None, 200, "7", "does not answer like a sandbox"),
            (None, 302, "", "does not answer like a sandbox"),
            (None, 404, "Not Found", "does not answer like a sandbox"),
            (None, 404, r#"{"error":"no such page"}"#, "does not answer like a sandbox"),
            (None, 401, r#"{"error":"…","code":"no-token"}"#, "requires a control token: set PG_CONTROL_TOKEN"),
            (Some("wrong"), 401, r#"{"error":"…","code":"no-token"}"#, "rejected the control token"),
            (None, 403, r#"{"error":"this machine only","code":"forbidden"}"#, "refused: this machine only"),
            (None, 404, r#"{"error":"…","code":"no-such-call"}"#, "is probably older than this pg"),
            (None, 405, r#"{"error":"…","code":"no-such-method"}"#, "is probably older than this pg"),
            (
                None,
                404,
                r#"{"error":"there is no such fault","code":"no-such-entry"}"#,
                "refused: there is no such fault",
            ),
            (None, 400, r#"{"error":"times must be …","code":"invalid"}"#, "rejected the request: times must be"),
        ] {
            let said = read(token, status, body).unwrap_err();
            assert!(said.contains(says), "{status} {body}: {said}");
        }
    }
}
