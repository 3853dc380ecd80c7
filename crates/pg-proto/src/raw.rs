//! Requests with raw parameters: for methods that the documents do not show, such as a preauth by card key, and for
//! fields that a type lacks.

use bytes::Bytes;
use pg_crypto::{form_arrays, sign};
use pg_model::{
    ApiRequest, Auth, GetToken, Initiate, METHODS, ParameterSink, Parameters, TokenLookup,
    field::Field,
    method::{AuthScheme as CredentialKind, MethodInfo, ServiceInfo},
};

use crate::{Account, Misuse, form::Form, request};

/// A request by names and values. It is signed and encoded like any other, but not checked.
///
/// ```
/// # use pg_proto::{Account, BaseUrl, Credentials};
/// use pg_proto::RawRequest;
/// # let account = Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("k", "p", "s"));
/// // The documents do not show the path and the parameters of a preauth by card key (spec 2 §4.4).
/// let preauth = RawRequest::gateway("preauthCardKey").parameter("cardKey", "4F2C-91").parameter("currency", "GBP");
/// let request = account.request_raw(&preauth)?;
/// assert_eq!(request.uri().path(), "/v3/transaction/preauthCardKey/xml");
/// # Ok::<(), pg_proto::Misuse>(())
/// ```
#[derive(Clone, Debug)]
pub struct RawRequest {
    service: &'static ServiceInfo,
    method: String,
    credentials: CredentialKind,
    parameters: Parameters,
}

impl RawRequest {
    /// Creates a request for a method of the token service.
    #[must_use]
    pub fn token(method: impl Into<String>) -> Self {
        Self::new(TokenLookup::INFO.service, method, CredentialKind::Signed)
    }

    /// Creates a request for a method of the client session service that the merchant's server calls.
    #[must_use]
    pub fn session(method: impl Into<String>) -> Self {
        Self::new(Initiate::INFO.service, method, CredentialKind::Signed)
    }

    /// Creates a request for a method of the payment gateway.
    #[must_use]
    pub fn gateway(method: impl Into<String>) -> Self {
        Self::new(Auth::INFO.service, method, CredentialKind::Signed)
    }

    /// Creates a request for a method of the version 5 service.
    #[must_use]
    pub fn enterprise(method: impl Into<String>) -> Self {
        Self::new(GetToken::INFO.service, method, CredentialKind::Enterprise)
    }

    /// Creates a request for a known method, with parameters that its type may lack.
    #[must_use]
    pub fn of(info: &'static MethodInfo, parameters: Parameters) -> Self {
        Self { parameters, ..Self::new(info.service, info.name, info.credentials) }
    }

    fn new(service: &'static ServiceInfo, method: impl Into<String>, credentials: CredentialKind) -> Self {
        Self { service, method: method.into(), credentials, parameters: Parameters::new() }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push(name, value);
        self
    }

    /// Adds a parameter whose value is an array. It is written as `name[]=a&name[]=b` and signed as its JSON (spec 1 §5;
    /// assumption A26). An empty array is not sent.
    ///
    /// ```
    /// use pg_proto::RawRequest;
    ///
    /// let raw = RawRequest::gateway("someMethod").array("tag", ["red", "5"]);
    /// assert_eq!(raw.parameters().iter().collect::<Vec<_>>(), [("tag[]", "red"), ("tag[]", "5")]);
    /// ```
    #[must_use]
    pub fn array<V: Into<String>>(mut self, name: &str, members: impl IntoIterator<Item = V>) -> Self {
        for member in members {
            self.parameters.push(format!("{name}[]"), member);
        }
        self
    }

    /// Returns the service of the method.
    #[must_use]
    pub const fn service(&self) -> &'static ServiceInfo {
        self.service
    }

    /// Returns the method's name.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the metadata of the method, if it is known.
    #[must_use]
    pub fn info(&self) -> Option<&'static MethodInfo> {
        METHODS.iter().copied().find(|info| info.service == self.service && info.name == self.method)
    }

    /// Returns its parameters.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }
}

impl Account {
    /// Signs and encodes a raw request.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if the method's name is not valid in a path, or if it is a version 5 request and the account has no
    /// version 5 credentials.
    pub fn request_raw(&self, raw: &RawRequest) -> Result<http::Request<Bytes>, Misuse> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if raw.method.is_empty() || !raw.method.bytes().all(fits) {
            return Err(Misuse::MethodName(raw.method.clone()));
        }
        let enterprise = raw.credentials == CredentialKind::Enterprise;
        let base = self.base_of(enterprise)?;
        let encoding = (!enterprise).then(|| self.encoding.as_str());
        let uri = request::join(base, raw.service.prefix, &raw.method, encoding);
        Ok(self.post(uri, self.raw_body(raw)?))
    }

    /// Builds a typed request with further parameters that its type lacks. The typed part is checked.
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request), and [`Misuse::Twice`] if a further parameter is a part of the typed request.
    pub fn request_with<M: ApiRequest>(
        &self,
        method: &M,
        further: &Parameters,
    ) -> Result<http::Request<Bytes>, Misuse> {
        method.check().into_result().map_err(Misuse::Invalid)?;
        let mut parameters = parameters_of(method);
        for (name, value) in further.iter() {
            if parameters.get(name).is_some() && !name.ends_with("[]") {
                return Err(Misuse::Twice(name.to_owned()));
            }
            parameters.push(name, value);
        }
        self.request_raw(&RawRequest::of(M::INFO, parameters))
    }

    fn raw_body(&self, raw: &RawRequest) -> Result<Bytes, Misuse> {
        let own = &self.credentials;
        let mut pairs: Vec<(&str, &str)> = match raw.credentials {
            CredentialKind::Signed => {
                vec![("apiKey", own.api_key.expose()), ("apiPassword", own.api_password.expose())]
            }
            CredentialKind::Session => Vec::new(),
            CredentialKind::Enterprise => {
                let (_, own) = self.enterprise.as_ref().ok_or(Misuse::NoEnterpriseCredentials)?;
                vec![("api_key", own.api_key.expose()), ("api_password", own.api_password.expose()), ("version", "5")]
            }
        };
        // A parameter of the caller replaces a credential with the same name.
        pairs.retain(|(name, _)| raw.parameters.get(name).is_none());
        pairs.extend(raw.parameters.iter());
        let mut body = Form::new(request::ROOM);
        for (name, value) in &pairs {
            body.begin(name);
            body.text(value);
        }
        if raw.credentials == CredentialKind::Signed && raw.parameters.get("shaSignature").is_none() {
            body.begin("shaSignature");
            let signed = form_arrays(&pairs);
            let signed: Vec<(&str, &str)> = signed.iter().map(|(name, value)| (&**name, &**value)).collect();
            body.put(sign(&signed, &own.sha_key).hex().as_str().as_bytes());
        }
        Ok(body.finish())
    }
}

/// Returns the parameters of a typed request in signing order, without credentials.
#[must_use]
pub fn parameters_of<M: ApiRequest>(method: &M) -> Parameters {
    let mut collected = Collected(Parameters::new());
    method.visit(&mut collected);
    collected.0
}

struct Collected(Parameters);

impl ParameterSink for Collected {
    fn credentials(&mut self) {}

    fn parameter(&mut self, _: &'static Field, name: &str, value: &str) {
        self.0.add(name, value);
    }

    fn list(&mut self, _: &'static Field, name: &str, values: &mut dyn Iterator<Item = &str>) {
        self.0.add(name, &values.collect::<Vec<_>>().join(","));
    }
}
