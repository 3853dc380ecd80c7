//! What every method has: its facts, its parameters there and back, and its reply.

use alloc::{boxed::Box, string::ToString as _};

use crate::{
    field::Field,
    outcome::FromReply,
    parameters::{ParameterSink, Parameters},
    record::Record,
    violation::{Characters, Rule, Violation, Violations},
};

/// A typed request of one method. Implemented by the generated request types.
pub trait ApiRequest: Sized {
    /// What the tables know of the method.
    const INFO: &'static MethodInfo;

    /// The record that a successful reply holds.
    type Reply: Record + Default;

    /// What a caller gets: the reply itself, or the outcome of a payment.
    type Output: FromReply<Self::Reply>;

    /// Hands every parameter to `sink` in signing order (spec 1 §5).
    fn visit(&self, sink: &mut dyn ParameterSink);

    /// Checks every field and every rule between fields.
    fn check(&self) -> Violations;

    /// Reads a request from parameters, the way back of [`visit`](Self::visit). Parameters that the method does not
    /// have are left alone.
    ///
    /// # Errors
    /// When required parameters are missing or numbers are none: these, and every other rule that is broken.
    fn from_parameters(parameters: &Parameters) -> Result<Self, Violations>;
}

/// What the tables know of one method.
#[non_exhaustive]
pub struct MethodInfo {
    /// The service that it belongs to.
    pub service: &'static ServiceInfo,
    /// Its name on the wire: the last segment of its path.
    pub name: &'static str,
    /// The Rust type of its request.
    pub rust: &'static str,
    /// A name for people.
    pub title: &'static str,
    /// What it does, in one or two sentences.
    pub doc: &'static str,
    /// Document and section.
    pub source: &'static str,
    /// How a request is authenticated.
    pub credentials: AuthScheme,
    /// Whether it may be sent again if it is unknown whether it was executed.
    pub retry: RetrySafety,
    /// Why it has that retry class.
    pub retry_why: &'static str,
    /// Its own parameters, those of its groups included, credentials left out.
    pub fields: &'static [&'static Field],
    /// The name of the record that a successful reply holds.
    pub reply: &'static str,
    /// An empty reply record.
    pub new_reply: fn() -> Box<dyn Record>,
    /// Checks parameters as the typed request would.
    pub check: fn(&Parameters) -> Violations,
}

/// A service: methods that share a path prefix and a version.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceInfo {
    /// Its name in commands and pages: `token`, `session`, `transaction`, `enterprise`.
    pub name: &'static str,
    /// A name for people.
    pub title: &'static str,
    /// What the path of its methods begins with.
    pub prefix: &'static str,
    /// API version: 3 or 5.
    pub version: u8,
    /// Document and section.
    pub source: &'static str,
    /// What it is for.
    pub doc: &'static str,
}

/// How a request is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthScheme {
    /// `apiKey`, `apiPassword` and `shaSignature` (spec 1 §5).
    Signed,
    /// Only the session key: the request comes from the customer's browser (spec 2 §4.2).
    Session,
    /// `api_key`, `api_password` and `version` (spec 3 §4).
    Enterprise,
}

/// Whether a request may be sent again if it is unknown whether it was executed (assumption 22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetrySafety {
    /// Sending it twice does what sending it once does.
    Safe,
    /// Only after a lookup of its `uniqueMerchantReference`, and under the same reference.
    LookupFirst,
    /// Never without a person's decision.
    Never,
}

impl MethodInfo {
    /// The field of a parameter's name, as it stands on the wire.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().copied().find(|field| field.is_named(name))
    }

    /// Checks parameters by name: every rule of the typed request, and names that the method does not have.
    #[must_use]
    pub fn check_parameters(&self, parameters: &Parameters) -> Violations {
        let mut violations = (self.check)(parameters);
        for (name, value) in parameters.iter().filter(|(name, _)| self.field(name).is_none()) {
            violations.push(Violation {
                name: crate::mask::text(name),
                rule: Rule::Unknown,
                found: Characters(value.chars().count()).to_string(),
                source: self.source,
            });
        }
        violations
    }
}

impl core::fmt::Debug for MethodInfo {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}", self.service.name, self.name)
    }
}

/// The check of a typed request, as a function of parameters.
pub(crate) fn check_as<M: ApiRequest>(parameters: &Parameters) -> Violations {
    M::from_parameters(parameters).map_or_else(|violations| violations, |request| request.check())
}

/// An empty reply record of a method.
pub(crate) fn new_reply<M: ApiRequest<Reply: 'static>>() -> Box<dyn Record> {
    Box::new(M::Reply::default())
}

/// Finds a method by `service/name`, such as `token/lookup`. For the version 5 service, `checkout/…` and `utility/…`
/// mean `enterprise/…`.
#[must_use]
pub fn method(path: &str) -> Option<&'static MethodInfo> {
    let (service, name) = path.split_once('/')?;
    let service = if matches!(service, "checkout" | "utility") { "enterprise" } else { service };
    crate::METHODS.iter().copied().find(|info| info.service.name == service && info.name == name)
}
