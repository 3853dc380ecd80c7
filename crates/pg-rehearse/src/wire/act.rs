//! Faults of requests.

/// A rule: the requests and their fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) on: On,
    /// The first request with the fault, counted from 1.
    pub(crate) from: u32,
    /// The number of consecutive requests with the fault.
    pub(crate) times: u32,
    pub(crate) act: Act,
}

impl Rule {
    /// Returns a rule for the first request.
    pub(crate) const fn first(on: On, act: Act) -> Self {
        Self { on, from: 1, times: 1, act }
    }

    /// Returns a rule for all requests.
    pub(crate) const fn all(on: On, act: Act) -> Self {
        Self { on, from: 1, times: u32::MAX, act }
    }

    /// Returns a rule for all requests from this number on.
    pub(crate) const fn from(on: On, from: u32, act: Act) -> Self {
        Self { on, from, times: u32::MAX, act }
    }

    /// Returns the faults of one part of a drill as its name; empty without faults.
    pub(crate) fn label(rules: &[Self]) -> String {
        let of = |rule: &Self| if rule.on == On::Lookup { "lookups: " } else { "" };
        let labels: Vec<String> = rules.iter().map(|rule| format!("{}{}", of(rule), rule.act.label())).collect();
        labels.join("; ")
    }

    pub(crate) fn meets(&self, seen: u32) -> bool {
        seen >= self.from && seen - self.from < self.times
    }
}

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// Any call of a method.
    Any,
    /// A call that may charge.
    Payment,
    /// A lookup of a payment or of a batch.
    Lookup,
    /// A question for the status of an authentication.
    Status,
    /// A capture, a cancellation or a refund.
    Later,
    /// Card keys for the account updater.
    Submission,
    /// The result of an account updater batch.
    Retrieval,
}

/// When a delayed request arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LateAt {
    /// After an empty lookup of the payment by the integration.
    AfterLookup,
    /// After the integration has made its claim.
    AfterClaim,
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// It is lost; the connection is closed.
    DropRequest,
    /// The connection is closed as soon as the head of the request has arrived.
    CutAfterHead,
    /// It is executed; the connection is closed without a reply.
    DropReply,
    /// The same, and connections are refused until the faults change.
    Outage,
    /// It is executed, and no reply is sent until the caller gives up.
    Hold,
    /// It is not executed, and no reply is sent until the caller gives up; then it arrives.
    Late(LateAt),
    /// It is executed twice. The flag says whether the second reply is sent.
    Twice { second: bool },
    /// It is executed, and the reply is delayed by this number of milliseconds.
    Slow(u64),
    /// The integration is killed. The flags say whether the request is executed, and whether the reply is sent first.
    Kill { executed: bool, answered: bool },
    /// It is executed or not, and this reply is sent.
    Answer { executed: bool, answer: Answer },
    /// It is executed, and its reply is altered.
    Edit(Edit),
    /// The bank of the sandbox does not respond. The flag says whether it has charged.
    Silence { charged: bool },
}

/// A reply that does not come from the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An error of a proxy.
    Gateway(u16),
    /// An error of the service: HTTP status, code, message.
    Error(u16, &'static str, &'static str),
    /// Success with an empty body.
    Empty,
    /// The login page of a captive portal.
    Html,
    /// A lookup that finds nothing.
    NothingFound,
    /// The approved payment of another order.
    OtherOrder,
    /// A transaction that was declined.
    Declined,
    /// A transaction with an undocumented status code.
    Undocumented,
    /// A redirect to another host, with this status.
    Elsewhere(u16),
}

/// The alteration of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Invalid bytes in the middle.
    Garble,
    /// The second half is missing.
    Truncate,
    /// Only the head is sent.
    HeadOnly,
    /// More fields than documented.
    MoreFields,
    /// An undocumented status code.
    UnknownStatus,
    /// Numbers instead of strings, or the reverse.
    Numbers,
    /// Another amount than that of an ordinary order.
    OtherAmount,
    /// Another currency than that of an ordinary order.
    OtherCurrency,
    /// The amount of an ordinary order with a decimal point.
    DecimalAmount,
    /// Another reference.
    OtherReference,
    /// A reservation instead of a payment, or the reverse.
    OtherType,
    /// The status of an authentication without its liability shift.
    WithoutShift,
    /// A lookup lists its first payment as declined, and an approved one of another amount.
    TwoPayments,
    /// The batch contains its first entry twice, and its entries in the reverse order.
    EntryTwice,
}

impl Answer {
    fn label(self) -> String {
        match self {
            Self::Gateway(status) => format!("HTTP {status} of a gateway"),
            Self::Error(status, code, _) => format!("HTTP {status}, error {code}"),
            Self::Empty => "an empty reply".to_owned(),
            Self::Html => "a web page".to_owned(),
            Self::NothingFound => "nothing found".to_owned(),
            Self::OtherOrder => "the payment of another order".to_owned(),
            Self::Declined => "declined".to_owned(),
            Self::Undocumented => "status 640".to_owned(),
            Self::Elsewhere(_) => "a redirect to another host".to_owned(),
        }
    }
}

impl Act {
    /// Its name in the parts of a drill.
    fn label(self) -> String {
        match self {
            Self::Answer { answer, .. } => answer.label(),
            Self::Silence { .. } => "error 119".to_owned(),
            Self::Kill { executed: true, .. } => "executed, then killed".to_owned(),
            Self::Kill { executed: false, .. } => "killed before it arrived".to_owned(),
            other => other.told().to_owned(),
        }
    }

    /// Its name in the timeline.
    pub(crate) const fn told(self) -> &'static str {
        match self {
            Self::DropRequest => "request lost, connection closed",
            Self::CutAfterHead => "connection closed before the body arrived",
            Self::DropReply => "executed, reply lost",
            Self::Outage => "executed, reply lost, and from now on the service is down",
            Self::Hold => "executed, reply held back until the caller gives up",
            Self::Late(_) => "request held back",
            Self::Twice { .. } => "delivered twice",
            Self::Slow(_) => "executed, slow reply",
            Self::Kill { .. } => "the integration is killed here",
            Self::Answer { executed: true, .. } => "executed, another reply sent",
            Self::Answer { executed: false, .. } => "not executed, another reply sent",
            Self::Edit(_) => "executed, reply altered",
            Self::Silence { charged: true } => "the bank charges, and its reply is lost: 119",
            Self::Silence { charged: false } => "the bank does not answer: 119",
        }
    }

    /// Whether the fault is in the reply, after the service has executed the request.
    pub(crate) const fn comes_after(self) -> bool {
        matches!(
            self,
            Self::DropReply
                | Self::Outage
                | Self::Hold
                | Self::Slow(_)
                | Self::Edit(_)
                | Self::Answer { executed: true, .. }
                | Self::Kill { executed: true, .. }
        )
    }

    /// Whether the caller learns the service's result.
    pub(crate) const fn is_honest(self) -> bool {
        matches!(
            self,
            Self::Slow(_)
                | Self::Twice { .. }
                | Self::Edit(Edit::MoreFields | Edit::Numbers | Edit::EntryTwice)
                | Self::Kill { answered: true, .. }
        )
    }
}
