//! The open points: questions that the documents leave open and a client can observe.

use std::{fmt, sync::LazyLock};

use pg_proto::model::{
    Dialect, SITUATIONS,
    dialect::{
        AuthenticationState, EmptyLookup, IvForm, KeyForm, PaddingForm, ReferenceAfterRefusal, Situation, TextForm,
    },
};

/// A question that the documents leave open and a client can observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Point {
    /// Its name: that of a situation of dialects, or of the decision.
    pub name: &'static str,
    /// The number of its assumption in `docs/reference/assumptions.md`.
    pub assumption: u16,
    /// Its entry in a dialect file; empty if there is none.
    pub entry: &'static str,
    /// The number of the assumption whose question asks the operator, or 0.
    pub question: u16,
    /// Why no request can decide it; empty if a request can.
    pub undecidable: Option<&'static str>,
}

/// An observed behaviour of a service, or the behaviour that a dialect describes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// It refuses with an error code, under an HTTP status.
    Refused {
        /// The code.
        code: String,
        /// The HTTP status; `None` if a dialect does not say.
        http: Option<u16>,
    },
    /// It refuses with an HTTP status and no error code.
    Page(u16),
    /// It accepts the request.
    Accepted,
    /// It returns this `transactionStatusCode`.
    Status(String),
    /// One of a few words, as dialect files write them.
    Word(&'static str),
}

/// The service charges a used reference again.
pub(crate) const CHARGED_AGAIN: Seen = Seen::Word("charged again");
/// For a used reference, the service returns the transaction that used it.
pub(crate) const EARLIER_TRANSACTION: Seen = Seen::Word("the earlier transaction, not charged again");

impl Seen {
    /// Whether both agree where both are defined.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Refused { code, http }, Self::Refused { code: other, http: told }) => {
                code == other && (http == told || http.is_none() || told.is_none())
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { code, http: Some(http) } => write!(f, "error {code}, HTTP {http}"),
            Self::Refused { code, http: None } => write!(f, "error {code}"),
            Self::Page(http) => write!(f, "HTTP {http} without an error code"),
            Self::Accepted => f.write_str("not refused"),
            Self::Status(code) => write!(f, "status {code}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Returns every open point, in the order of reports.
pub fn points() -> impl Iterator<Item = &'static Point> {
    static ALL: LazyLock<Vec<Point>> =
        LazyLock::new(|| OWN.iter().copied().chain(SITUATIONS.iter().filter_map(of_situation)).collect());
    ALL.iter()
}

const CUSTOMER: &str = "only a customer on the challenge page can cause it";

const OWN: &[Point] = &[
    point("lookup.nothing", 43, "nothing in [lookup]", 43),
    point("lookup.no_card", 43, "no_card in [lookup]", 43),
    never(
        "lookup.immediate",
        140,
        "immediate in [lookup]",
        "one payment that is found at once does not prove that every payment is",
    ),
    never(
        "lookup.found_by_initiation",
        109,
        "found_by_initiation in [lookup]",
        "only a customer on the challenge page makes a payment that could be looked up",
    ),
    point("refused_reference", 92, "refused_reference", 92),
    never("checkout.failed", 125, "failed in [checkout]", "only a customer on the payment page can cause it"),
    never(
        "checkout.refused_cancel_means_ended",
        126,
        "refused_cancel_means_ended in [checkout]",
        "a token that cannot be cancelled may still be paid later",
    ),
    never(
        "checkout.cancel_closes_open_pages",
        126,
        "cancel_closes_open_pages in [checkout]",
        "only a customer on the payment page can cause it",
    ),
    never(
        "checkout.found_by_reference",
        100,
        "found_by_reference in [checkout]",
        "only a customer on the payment page makes a payment that could be searched for",
    ),
    point("session_data.key", 30, "key in [session_data]", 30),
    point("session_data.iv", 31, "iv in [session_data]", 31),
    point("session_data.padding", 32, "padding in [session_data]", 32),
    point("session_data.text", 33, "text in [session_data]", 33),
    point("authentication.pending", 106, "[[authentication]] means = \"pending\"", 106),
    point("authentication.not-enrolled", 106, "[[authentication]] means = \"not-enrolled\"", 106),
    never("authentication.authenticated", 106, "[[authentication]] means = \"authenticated\"", CUSTOMER),
    never("authentication.failed", 106, "[[authentication]] means = \"failed\"", CUSTOMER),
    never("authentication.abandoned", 106, "[[authentication]] means = \"abandoned\"", CUSTOMER),
    never("authentication.timed-out", 106, "[[authentication]] means = \"timed-out\"", CUSTOMER),
    never("declined.other", 11, "[[declined]]", "there may be statuses that no test card produces"),
    never("shared_codes", 112, "shared_codes", "a request shows one code in one situation, not what all codes mean"),
    never("error.scope", 141, "scope of [[error]]", "a request that was refused twice need not be refused every time"),
    point("session.payments", 85, "", 85),
    point("preauth.captures", 96, "", 96),
    point("refund.above", 97, "", 0),
    point("wrong-password", 52, "", 0),
    never("no-response", 93, "", "the service itself does not know whether the bank has charged"),
    never("longest-way", 142, "", "a request that was not delayed shows nothing about delayed requests"),
];

const fn point(name: &'static str, assumption: u16, entry: &'static str, question: u16) -> Point {
    Point { name, assumption, entry, question, undecidable: None }
}

const fn never(name: &'static str, assumption: u16, entry: &'static str, why: &'static str) -> Point {
    Point { name, assumption, entry, question: assumption, undecidable: Some(why) }
}

/// Returns the point of a situation; `None` for situations that occur only in the sandbox.
fn of_situation(situation: &Situation) -> Option<Point> {
    let undecidable = match situation.name {
        "injected-fault" | "sandbox-failure" => return None,
        "card-expired" => Some("the survey would have to wait until a stored card expires"),
        "authentication-declined" => Some(CUSTOMER),
        "rate-limit-exceeded" => {
            Some("the survey stays within the limit, and sees the code only if another program exceeds the limit")
        }
        "duplicate-card-keys" | "too-many-card-keys" => Some("a service that accepts the request would start a batch"),
        _ => None,
    };
    let question = match situation.name {
        _ if !situation.is_error => 11,
        "duplicate-unique-reference" => 92,
        "session-has-no-card" => 85,
        "preauth-closed" => 96,
        "rate-limit-exceeded" => 54,
        "duplicate-card-keys" | "too-many-card-keys" => 70,
        _ => 0,
    };
    let entry = if situation.is_error { "situations of [[error]]" } else { "situations of [[declined]]" };
    let (name, assumption) = (situation.name, situation.assumption);
    Some(Point { name, assumption, entry, question, undecidable })
}

impl Point {
    /// Returns the point with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        points().find(|point| point.name == name)
    }

    /// Returns the dialect's entry for the point, if there is one.
    #[must_use]
    pub fn said_by(&self, dialect: &Dialect) -> Option<Seen> {
        let word = Seen::Word;
        match self.name {
            "lookup.nothing" => dialect.lookup.nothing.map(nothing).map(word),
            "lookup.no_card" => dialect.lookup.no_card.map(nothing).map(word),
            "refused_reference" => dialect.refused_reference.map(reference).map(word),
            "session_data.key" => dialect.session_data.key.map(key).map(word),
            "session_data.iv" => dialect.session_data.iv.map(iv).map(word),
            "session_data.padding" => dialect.session_data.padding.map(padding).map(word),
            "session_data.text" => dialect.session_data.text.map(text).map(word),
            "authentication.pending" => authentication(dialect, AuthenticationState::Pending),
            "authentication.not-enrolled" => authentication(dialect, AuthenticationState::NotEnrolled),
            "authentication.authenticated" => authentication(dialect, AuthenticationState::Authenticated),
            "authentication.failed" => authentication(dialect, AuthenticationState::Failed),
            "authentication.abandoned" => authentication(dialect, AuthenticationState::Abandoned),
            "authentication.timed-out" => authentication(dialect, AuthenticationState::TimedOut),
            name => of_code(dialect, name),
        }
    }
}

fn of_code(dialect: &Dialect, situation: &str) -> Option<Seen> {
    if !Situation::named(situation)?.is_error {
        return dialect.decline_for(situation).map(|entry| Seen::Status(entry.code.as_str().to_owned()));
    }
    let entry = dialect.error_for(situation)?;
    Some(Seen::Refused { code: entry.code.as_str().to_owned(), http: entry.http })
}

fn authentication(dialect: &Dialect, means: AuthenticationState) -> Option<Seen> {
    let entry = dialect.authentication.iter().find(|entry| entry.means == means)?;
    Some(Seen::Status(entry.code.as_str().to_owned()))
}

pub(crate) const fn nothing(form: EmptyLookup) -> &'static str {
    match form {
        EmptyLookup::EmptyList => "empty-list",
        EmptyLookup::Error => "error",
        _ => "not-found",
    }
}

pub(crate) const fn reference(refused: ReferenceAfterRefusal) -> &'static str {
    match refused {
        ReferenceAfterRefusal::UsedUp => "used-up",
        _ => "free",
    }
}

pub(crate) const fn key(form: KeyForm) -> &'static str {
    match form {
        KeyForm::Verbatim => "verbatim",
        KeyForm::Sha256 => "sha256",
        _ => "hex",
    }
}

pub(crate) const fn iv(form: IvForm) -> &'static str {
    match form {
        IvForm::Text => "text",
        _ => "hex",
    }
}

pub(crate) const fn padding(form: PaddingForm) -> &'static str {
    match form {
        PaddingForm::Pkcs7 => "pkcs7",
        _ => "zero",
    }
}

pub(crate) const fn text(form: TextForm) -> &'static str {
    match form {
        TextForm::Base64 => "base64",
        TextForm::Base64Url => "base64-url",
        _ => "hex",
    }
}
