//! Builds the `http::Request` of a typed request: checks, signs and encodes it.

use bytes::Bytes;
use http::{
    HeaderValue, Uri,
    header::{ACCEPT, CONTENT_TYPE},
};
use pg_crypto::OrderedSigner;
use pg_model::{
    ApiRequest, ParameterSink,
    field::Field,
    method::{AuthScheme as CredentialKind, MethodInfo},
};

use crate::{Account, BaseUrl, Misuse, form::Form};

static FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
static BOTH_ENCODINGS: HeaderValue = HeaderValue::from_static("application/xml, application/json");

/// Initial capacity of a body. Few requests need more. Those contain long lists, whose length is known in advance.
pub(crate) const ROOM: usize = 1536;
/// Minimum cost of a list member besides its text: the comma before it.
const COMMA: &[u8] = b"%2C";

impl Account {
    /// Checks, signs and encodes a request.
    ///
    /// Never log the result: its `Debug`, that of the crate `http`, prints the body, with card number, CV2, API key and
    /// password. [`Preview`](crate::Preview) shows it masked.
    ///
    /// # Errors
    ///
    /// [`Misuse`] with every broken rule at once. Nothing was sent.
    pub fn request<M: ApiRequest>(&self, method: &M) -> Result<http::Request<Bytes>, Misuse> {
        method.check().into_result().map_err(Misuse::Invalid)?;
        self.request_unchecked(method)
    }

    /// Signs and encodes a request without checking it. Use it if the service has changed a rule.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if it is a version 5 request and the account has no version 5 credentials.
    pub fn request_unchecked<M: ApiRequest>(&self, method: &M) -> Result<http::Request<Bytes>, Misuse> {
        let own = &self.credentials;
        let form = match M::INFO.credentials {
            CredentialKind::Signed => {
                let credentials = [("apiKey", own.api_key.expose()), ("apiPassword", own.api_password.expose())];
                let mut signer = OrderedSigner::new(&own.sha_key);
                let mut form = encoded(method, &credentials, Some(&mut signer));
                form.begin_plain("shaSignature");
                form.put(signer.finish().hex().as_str().as_bytes());
                form
            }
            CredentialKind::Session => encoded(method, &[], None),
            CredentialKind::Enterprise => {
                let (_, own) = self.enterprise.as_ref().ok_or(Misuse::NoEnterpriseCredentials)?;
                let (key, password) = (own.api_key.expose(), own.api_password.expose());
                encoded(method, &[("api_key", key), ("api_password", password), ("version", "5")], None)
            }
        };
        Ok(self.post(self.uri(M::INFO)?, form.finish()))
    }

    /// Returns the address of a method.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if it is a version 5 method and the account has no version 5 address.
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

    pub(crate) fn post(&self, uri: Uri, body: Bytes) -> http::Request<Bytes> {
        let mut request = http::Request::new(body);
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, FORM.clone());
        headers.insert(ACCEPT, BOTH_ENCODINGS.clone());
        request
    }
}

/// Joins base, prefix, method's name and, in version 3, the encoding.
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

/// Encodes a request as a form, and passes it to the signer at the same time.
fn encoded<M: ApiRequest>(method: &M, credentials: &[(&str, &str)], signer: Option<&mut OrderedSigner<'_>>) -> Form {
    let mut body = Body { form: Form::new(ROOM), signer, credentials };
    method.visit(&mut body);
    body.form
}

/// Whether no character of a field's name needs an escape in a form. Brackets around an item's number and the text
/// after a prefix may need escapes; a test checks that all other names are plain.
#[inline]
fn is_plain_name(field: &Field) -> bool {
    !field.wire.ends_with(['*', ']'])
}

/// Builds a body: each parameter is encoded and signed in one pass.
struct Body<'a, 'key> {
    form: Form,
    signer: Option<&'a mut OrderedSigner<'key>>,
    /// Name and value of each credential, sorted by name.
    credentials: &'a [(&'a str, &'a str)],
}

impl ParameterSink for Body<'_, '_> {
    fn credentials(&mut self) {
        for (name, value) in self.credentials {
            self.form.begin_plain(name);
            self.form.text(value);
            if let Some(signer) = &mut self.signer {
                signer.parameter(name, value);
            }
        }
    }

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        if is_plain_name(field) {
            self.form.begin_plain(name);
        } else {
            self.form.begin(name);
        }
        self.form.text(value);
        if let Some(signer) = &mut self.signer {
            signer.parameter(name, value);
        }
    }

    fn list(&mut self, _: &'static Field, name: &str, values: &mut dyn Iterator<Item = &str>) {
        self.form.begin(name);
        // Exact for every list type.
        let members = values.size_hint().0;
        let mut signed = self.signer.as_mut().map(|signer| signer.begin(name));
        for (at, value) in values.enumerate() {
            if at == 0 {
                // Members have about the same length.
                self.form.reserve(members * (value.len() + COMMA.len()) + ROOM);
            } else {
                self.form.put(COMMA);
            }
            self.form.text(value);
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

#[cfg(test)]
mod tests {
    use pg_model::METHODS;

    use super::*;

    #[test]
    fn names_that_are_not_escaped_need_no_escape() {
        let fields: Vec<&Field> = METHODS.iter().flat_map(|method| method.fields).copied().collect();
        let plain: Vec<&&Field> = fields.iter().filter(|field| is_plain_name(field)).collect();
        for field in &plain {
            let mut form = Form::new(ROOM);
            form.begin(&field.wire.replace("{n}", "10"));
            let body = form.finish();
            assert!(!body.contains(&b'%') && !body.contains(&b'+'), "{}", field.wire);
        }
        assert!(plain.len() > 100 && plain.len() < fields.len(), "{} of {}", plain.len(), fields.len());
    }
}
