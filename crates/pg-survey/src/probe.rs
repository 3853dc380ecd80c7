//! Probes: requests of a survey, as data.

use pg_proto::model::method::{MethodInfo, method};
use serde::Serialize;

use crate::cards::Role;

/// A request of a survey, and what its reply decides.
pub(crate) struct Probe {
    /// Its name, for other probes that compare their replies with this probe's.
    pub(crate) name: &'static str,
    /// A description for people.
    pub(crate) what: &'static str,
    pub(crate) request: Request,
    pub(crate) reads: Reads,
    pub(crate) cost: Cost,
    /// Whether a service may be unable to read its credentials, and count a failed login.
    pub(crate) unreadable: bool,
    /// Left out once this point is decided.
    pub(crate) unless: Option<&'static str>,
    /// The status of an authentication, which the reply may confirm.
    pub(crate) confirms: Option<&'static str>,
}

/// What a probe may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Cost {
    /// Nothing is created or changed.
    Nothing,
    /// A session is opened, which later expires.
    Session,
    /// A request with a wrong password, which counts towards a lockout.
    FailedLogin,
    /// A card, a token or a reference is stored, or an address is looked up; no money moves.
    Record,
    /// A payment or refund with a test card.
    Payment,
}

impl Cost {
    /// Whether the probe belongs to the payments of a survey.
    #[must_use]
    pub const fn is_money(self) -> bool {
        matches!(self, Self::Record | Self::Payment)
    }

    /// Its name.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Session => "an empty session",
            Self::FailedLogin => "a failed login",
            Self::Record => "a record",
            Self::Payment => "a test payment",
        }
    }
}

/// The service that gets the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Token,
    Session,
    Gateway,
    Enterprise,
}

/// The content of a request. The value of a parameter without a name must exist, but it is not sent.
pub(crate) enum Request {
    /// A signed request.
    Call(Service, &'static str, &'static [(&'static str, Value)]),
    /// A signed request that is then damaged.
    Spoilt(Spoil, Service, &'static str, &'static [(&'static str, Value)]),
    /// The card form of the session with this name, with the card of a role, or with a number that no card has.
    Form(&'static str, Option<Role>),
    /// The page at the address with this name, as a browser opens it.
    Visit(&'static str),
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Text(&'static str),
    /// A random text, noted under this name.
    Fresh(&'static str),
    /// The text that was noted under this name.
    Noted(&'static str),
    /// A text with this number of letters.
    Long(usize),
    Currency,
    Number(Role),
    Month(Role),
    Year(Role),
    /// Not sent for a card without one.
    Cv2(Role),
}

/// How a request is damaged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spoil {
    /// GET, without a body.
    Get,
    /// An invalid percent-encoding.
    PercentEncoding,
    /// Declared to be plain text.
    ContentType,
    /// More parameters than the method has.
    ManyParameters,
    /// A body of more than a megabyte.
    LongBody,
    /// The headers that a web page's request has.
    Browser,
}

/// How the reply is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reads {
    /// It must succeed; its result is noted under this name.
    Made(What, &'static str),
    /// It decides nothing: the request cleans up.
    Ignored,
    /// The refusal is that of a situation.
    Situation(&'static str),
    /// The same, unless another probe got the same reply.
    UnlessAs(&'static str, &'static str),
    /// It is the reply to a lookup that finds nothing. With the probe whose refusal names the code, and its situation.
    Nothing { point: &'static str, code_of: &'static str },
    /// The card form's redirect, encrypted in an unknown way.
    SessionData,
    /// The card form must be accepted; otherwise the session with this name is forgotten.
    CardTaken(&'static str),
    /// It is the reply to a reference that the payment with this name has used.
    UsedReference(&'static str),
    /// Its status is that of a decline, if a later lookup confirms the status.
    Decline(&'static str),
    /// It shows the payment of that decline, looked up later.
    DeclineLater(&'static str),
    /// It shows the approved payment, looked up later.
    PaymentLater,
    /// Its status is that of an authentication, if a payment confirms the status.
    Authentication(&'static str),
    /// It decides whether a refusal has used the reference up.
    ReferenceAfterRefusal,
    /// It decides whether a session can pay once more.
    Again,
    /// It decides whether a preauth can be captured in parts.
    Captures,
    /// It decides whether a lookup finds a payment at once.
    Immediate,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Session,
    /// An approved payment or refund.
    Transaction,
    Card,
    /// A key, which is noted under the name, and an address, which is noted as `challenge page`.
    Authentication,
    /// An acknowledgement.
    Nothing,
}

impl Service {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Session => "session",
            Self::Gateway => "transaction",
            Self::Enterprise => "enterprise",
        }
    }
}

impl Request {
    /// Method and path, for people.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Spoilt(Spoil::Get, service, method, _) => format!("GET {}/{method}", service.name()),
            Self::Call(service, method, _) | Self::Spoilt(_, service, method, _) => {
                format!("POST {}/{method}", service.name())
            }
            Self::Form(..) => "POST session/postform".to_owned(),
            Self::Visit(_) => "GET challenge page".to_owned(),
        }
    }

    /// Returns the facts about the method, including the record of its reply; `None` for a page.
    pub(crate) fn info(&self) -> Option<&'static MethodInfo> {
        match self {
            Self::Call(service, name, _) | Self::Spoilt(_, service, name, _) => {
                method(&format!("{}/{name}", service.name()))
            }
            Self::Form(..) | Self::Visit(_) => None,
        }
    }

    pub(crate) const fn is_of_version_5(&self) -> bool {
        matches!(self, Self::Call(Service::Enterprise, ..) | Self::Spoilt(_, Service::Enterprise, ..))
    }
}

impl Probe {
    /// Returns the name under which its result is noted.
    pub(crate) const fn makes(&self) -> Option<&'static str> {
        match self.reads {
            Reads::Made(_, name) | Reads::CardTaken(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the points that the probe may decide.
    pub(crate) fn decides(&self) -> Vec<&'static str> {
        let mut points = match self.reads {
            Reads::Situation(name) | Reads::UnlessAs(name, _) => vec![name],
            Reads::UsedReference(_) => vec!["duplicate-unique-reference"],
            Reads::Nothing { point, .. }
            | Reads::Authentication(point)
            | Reads::Decline(point)
            | Reads::DeclineLater(point) => vec![point],
            Reads::PaymentLater => vec!["lookup.nothing"],
            Reads::SessionData => {
                vec!["session_data.key", "session_data.iv", "session_data.padding", "session_data.text"]
            }
            Reads::ReferenceAfterRefusal => vec!["refused_reference"],
            Reads::Again => vec!["session.payments"],
            Reads::Captures => vec!["preauth.captures", "preauth-closed"],
            Reads::Immediate => vec!["lookup.immediate"],
            Reads::Made(..) | Reads::Ignored | Reads::CardTaken(_) => Vec::new(),
        };
        points.extend(self.confirms);
        points
    }
}
