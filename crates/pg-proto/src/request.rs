//! Typed request → checked, signed, encoded `http::Request`.

use bytes::Bytes;
use http::{
    HeaderValue, Uri,
    header::{ACCEPT, CONTENT_TYPE},
};
use pg_crypto::OrderedSigner;
use pg_model::{
    Method, ParameterSink,
    field::Field,
    method::{Credentials as CredentialKind, MethodInfo},
};

use crate::{Account, BaseUrl, Misuse, form};

/// Room for the signature: `&shaSignature=` and 128 digits.
const SIGNATURE_ROOM: usize = 142;
/// Room that a body gets beyond its bare texts, as a share of them: for `=`, `&` and escapes.
const ESCAPE_SHARE: usize = 8;

impl Account {
    /// Checks, signs and encodes a request.
    ///
    /// # Errors
    /// [`Misuse`] with every broken rule at once; nothing was sent.
    pub fn request<M: Method>(&self, method: &M) -> Result<http::Request<Bytes>, Misuse> {
        method.check().into_result().map_err(Misuse::Invalid)?;
        self.request_unchecked(method)
    }

    /// Signs and encodes a request without checking it: the way round rules that the service has changed.
    ///
    /// # Errors
    /// When it is a version 5 request and the account has no credentials for that.
    pub fn request_unchecked<M: Method>(&self, method: &M) -> Result<http::Request<Bytes>, Misuse> {
        let mut room = Room(SIGNATURE_ROOM);
        method.visit(&mut room);
        let mut body = Body::new(self, M::INFO.credentials, room.0 + room.0 / ESCAPE_SHARE)?;
        method.visit(&mut body);
        Ok(self.post(self.uri(M::INFO)?, body.finish()))
    }

    /// Where a method's requests go.
    ///
    /// # Errors
    /// When it is a version 5 method and the account has no address for that.
    pub(crate) fn uri(&self, info: &MethodInfo) -> Result<Uri, Misuse> {
        let enterprise = info.service.version == 5;
        Ok(join(
            self.base_of(enterprise)?,
            info.service.prefix,
            info.name,
            (!enterprise).then(|| self.encoding.as_str()),
        ))
    }

    pub(crate) fn base_of(&self, enterprise: bool) -> Result<&BaseUrl, Misuse> {
        if !enterprise {
            return Ok(&self.base);
        }
        self.enterprise.as_ref().map(|(base, _)| base).ok_or(Misuse::NoEnterpriseCredentials)
    }

    pub(crate) fn post(&self, uri: Uri, body: Vec<u8>) -> http::Request<Bytes> {
        let mut request = http::Request::new(Bytes::from(body));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/xml, application/json"));
        request
    }
}

/// Base, prefix, method's name and, in version 3, the encoding.
pub(crate) fn join(base: &BaseUrl, prefix: &str, name: &str, encoding: Option<&str>) -> Uri {
    let encoding = encoding.unwrap_or_default();
    let mut text = String::with_capacity(base.as_str().len() + prefix.len() + name.len() + encoding.len() + 1);
    text.push_str(base.as_str());
    text.push_str(prefix);
    text.push_str(name);
    if !encoding.is_empty() {
        text.push('/');
        text.push_str(encoding);
    }
    Uri::from_maybe_shared(Bytes::from(text)).expect("a checked base address and plain path segments make a URI")
}

/// Adds up how long the texts of a request are, so that its body is allocated once.
struct Room(usize);

impl ParameterSink for Room {
    fn credentials(&mut self) {
        self.0 += 128;
    }

    fn parameter(&mut self, _: &'static Field, name: &str, value: &str) {
        self.0 += name.len() + value.len() + 2;
    }

    fn list(&mut self, _: &'static Field, name: &str, values: &mut dyn Iterator<Item = &str>) {
        self.0 += name.len() + 2 + values.map(|value| value.len() + 3).sum::<usize>();
    }
}

/// A body in the making: every parameter is encoded and signed in one go.
struct Body<'a> {
    out: Vec<u8>,
    signer: Option<OrderedSigner<'a>>,
    /// Name and value of each credential, in the order of names.
    credentials: [(&'static str, &'a str); 3],
}

impl<'a> Body<'a> {
    fn new(account: &'a Account, kind: CredentialKind, room: usize) -> Result<Self, Misuse> {
        let own = &account.credentials;
        let (signer, credentials) = match kind {
            CredentialKind::Signed => (
                Some(OrderedSigner::new(&own.sha_key)),
                [("apiKey", own.api_key.expose()), ("apiPassword", own.api_password.expose()), ("", "")],
            ),
            CredentialKind::Session => (None, [("", ""); 3]),
            CredentialKind::Enterprise => {
                let (_, own) = account.enterprise.as_ref().ok_or(Misuse::NoEnterpriseCredentials)?;
                (
                    None,
                    [("api_key", own.api_key.expose()), ("api_password", own.api_password.expose()), ("version", "5")],
                )
            }
        };
        Ok(Self { out: Vec::with_capacity(room), signer, credentials })
    }

    fn pair(&mut self, name: &str, value: &str) {
        form::begin(&mut self.out, name);
        form::encode(&mut self.out, value);
        if let Some(signer) = &mut self.signer {
            signer.parameter(name, value);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if let Some(signer) = self.signer {
            form::begin(&mut self.out, "shaSignature");
            self.out.extend_from_slice(signer.finish().hex().as_str().as_bytes());
        }
        self.out
    }
}

impl ParameterSink for Body<'_> {
    fn credentials(&mut self) {
        for (name, value) in self.credentials {
            if !name.is_empty() {
                self.pair(name, value);
            }
        }
    }

    fn parameter(&mut self, _: &'static Field, name: &str, value: &str) {
        self.pair(name, value);
    }

    fn list(&mut self, _: &'static Field, name: &str, values: &mut dyn Iterator<Item = &str>) {
        form::begin(&mut self.out, name);
        let mut signed = self.signer.as_mut().map(|signer| signer.begin(name));
        for (at, value) in values.enumerate() {
            if at > 0 {
                form::encode(&mut self.out, ",");
            }
            form::encode(&mut self.out, value);
            if let Some(signed) = &mut signed {
                if at > 0 {
                    signed.piece(",");
                }
                signed.piece(value);
            }
        }
        if let Some(signed) = signed {
            signed.end();
        }
    }
}
