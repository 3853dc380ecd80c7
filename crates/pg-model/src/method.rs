//! The common parts of all methods: facts, parameters in both directions, and reply.

use alloc::{boxed::Box, string::ToString as _};

use crate::{
    check,
    field::Field,
    outcome::FromReply,
    parameters::{ParameterSink, Parameters},
    record::Record,
    violation::{Characters, Rule, Violation, Violations},
};

/// A typed request of one method. Implemented by the generated request types.
pub trait ApiRequest: Sized {
    /// The facts about the method.
    const INFO: &'static MethodInfo;

    /// The record of a successful reply.
    type Reply: Record + Default;

    /// The result for the caller: the reply itself, or the outcome of a payment.
    type Output: FromReply<Self::Reply>;

    /// Passes every parameter to `sink` in signing order (spec 1 §5).
    fn visit(&self, sink: &mut dyn ParameterSink);

    /// Checks every field and every rule between fields.
    fn check(&self) -> Violations {
        check::each_field(Self::INFO.fields, |checker| self.visit(checker))
    }

    /// Reads a request from parameters, the reverse of [`visit`](Self::visit). Unknown parameters
    /// are ignored.
    ///
    /// # Errors
    /// If required parameters are missing or numbers are invalid: lists these, and every other broken rule.
    fn from_parameters(parameters: &Parameters) -> Result<Self, Violations>;
}

/// The facts about one method.
#[non_exhaustive]
pub struct MethodInfo {
    /// The service that has the method.
    pub service: &'static ServiceInfo,
    /// The name of the method on the wire: the last segment of its path.
    pub name: &'static str,
    /// The Rust type of the request.
    pub rust: &'static str,
    /// A display name.
    pub title: &'static str,
    /// Its purpose, in one or two sentences.
    pub doc: &'static str,
    /// Document and section.
    pub source: &'static str,
    /// The way in which a request is authenticated.
    pub credentials: AuthScheme,
    /// Whether it may be sent again if it is unknown whether it was executed.
    pub retry: RetrySafety,
    /// The reason for the retry class.
    pub retry_why: &'static str,
    /// The parameters of the method, including those of its groups, without credentials.
    pub fields: &'static [&'static Field],
    /// The name of the record of a successful reply.
    pub reply: &'static str,
    /// An empty reply record.
    pub new_reply: fn() -> Box<dyn Record>,
    /// Checks parameters like the typed request.
    pub check: fn(&Parameters) -> Violations,
}

/// What a test does with the request type of each method.
#[doc(hidden)]
pub trait EachMethod {
    /// Runs the test with one type.
    fn run<M: ApiRequest + PartialEq + core::fmt::Debug>(&mut self);
}

/// A service: methods that share a path prefix and a version.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceInfo {
    /// The name of the service in commands and pages: `token`, `session`, `transaction`, `enterprise`.
    pub name: &'static str,
    /// A display name.
    pub title: &'static str,
    /// The prefix of its methods' paths.
    pub prefix: &'static str,
    /// API version: 3 or 5.
    pub version: u8,
    /// Document and section.
    pub source: &'static str,
    /// Its purpose.
    pub doc: &'static str,
}

/// The way in which a request is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthScheme {
    /// `apiKey`, `apiPassword` and `shaSignature` (spec 1 §5).
    Signed,
    /// Only the session key: the request comes from the customer's browser (spec 2 §4.2).
    Session,
    /// `api_key`, `api_password` and `version` (spec 3 §4).
    Enterprise,
}

/// Whether a request may be sent again if it is unknown whether it was executed (A22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetrySafety {
    /// Sending it again does no harm, though the reply may be another one.
    Safe,
    /// Only after a lookup of its `uniqueMerchantReference`, and under the same reference.
    LookupFirst,
    /// Never without a decision by a person.
    Never,
}

impl MethodInfo {
    /// Returns the field for a parameter name on the wire.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().copied().find(|field| field.is_named(name))
    }

    /// Checks parameters by name: every rule of the typed request, and unknown names.
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

/// Returns the check of a typed request, as a function of parameters.
pub(crate) fn check_as<M: ApiRequest>(parameters: &Parameters) -> Violations {
    M::from_parameters(parameters).map_or_else(|violations| violations, |request| request.check())
}

/// Returns an empty reply record of a method.
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
