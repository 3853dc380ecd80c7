//! What a request meets on its way.

/// Which requests, and what happens to them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) on: On,
    /// The first of them that meets it, counted from 1.
    pub(crate) from: u32,
    /// How many in a row meet it.
    pub(crate) times: u32,
    pub(crate) act: Act,
}

impl Rule {
    /// The first one.
    pub(crate) const fn first(on: On, act: Act) -> Self {
        Self { on, from: 1, times: 1, act }
    }

    /// All of them.
    pub(crate) const fn all(on: On, act: Act) -> Self {
        Self { on, from: 1, times: u32::MAX, act }
    }

    /// All from this one on.
    pub(crate) const fn from(on: On, from: u32, act: Act) -> Self {
        Self { on, from, times: u32::MAX, act }
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
    /// One that may charge.
    Payment,
    /// One that asks what became of a payment.
    Lookup,
    /// A capture, a cancellation or a refund.
    Later,
    /// Card keys for the account updater.
    Submission,
    /// The result of an account updater batch.
    Retrieval,
}

/// When a request arrives that was kept back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LateAt {
    /// As soon as the integration has looked the payment up and was told that there is none.
    AfterLookup,
    /// When the integration has made up its mind.
    AfterClaim,
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// It is lost; the connection is closed.
    DropRequest,
    /// The connection is closed as soon as the head of the request has come.
    CutAfterHead,
    /// It is executed; the connection is closed without an answer.
    DropReply,
    /// It is executed, and nothing is said until the caller gives up.
    Hold,
    /// It is not executed, and nothing is said until the caller gives up; then it arrives.
    Late(LateAt),
    /// It is executed twice. Whether the second answer is the one that is sent.
    Twice { second: bool },
    /// It is executed, and the answer comes so many milliseconds later.
    Slow(u64),
    /// The integration is killed; whether the request is executed, and whether it is answered first.
    Kill { executed: bool, answered: bool },
    /// It is executed or not, and this is answered.
    Answer { executed: bool, answer: Answer },
    /// It is executed, and its answer is altered.
    Edit(Edit),
    /// The bank of the sandbox says nothing; whether it has charged.
    Silence { charged: bool },
}

/// An answer that the service did not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An error of a server in between.
    Gateway(u16),
    /// An error of the service: HTTP status, code, message.
    Error(u16, &'static str, &'static str),
    /// Success with nothing in it.
    Empty,
    /// The login page of a network in between.
    Html,
    /// A lookup that finds nothing.
    NothingFound,
    /// Somewhere else, with this status.
    Elsewhere(u16),
}

/// What is done to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Bytes that are no text, half way.
    Garble,
    /// The second half does not come.
    Truncate,
    /// The head comes and nothing else.
    HeadOnly,
    /// More fields than documented.
    MoreFields,
    /// A status code that no document has.
    UnknownStatus,
    /// Numbers where texts were, or the other way round.
    Numbers,
    /// The first entry of a batch stands in it twice.
    EntryTwice,
}

impl Act {
    /// What the time line calls it.
    pub(crate) const fn told(self) -> &'static str {
        match self {
            Self::DropRequest => "request lost, connection closed",
            Self::CutAfterHead => "connection cut before the body came",
            Self::DropReply => "executed, reply lost",
            Self::Hold => "executed, reply held back until the caller gives up",
            Self::Late(_) => "request kept back",
            Self::Twice { .. } => "delivered twice",
            Self::Slow(_) => "executed, slow reply",
            Self::Kill { .. } => "the integration is killed here",
            Self::Answer { executed: true, .. } => "executed, another answer given",
            Self::Answer { executed: false, .. } => "not executed, another answer given",
            Self::Edit(_) => "executed, reply altered",
            Self::Silence { charged: true } => "the bank charges and its answer is lost: 119",
            Self::Silence { charged: false } => "the bank does not answer: 119",
        }
    }

    /// Whether it happens to the reply, after the service has executed the request.
    pub(crate) const fn comes_after(self) -> bool {
        matches!(
            self,
            Self::DropReply
                | Self::Hold
                | Self::Slow(_)
                | Self::Edit(_)
                | Self::Answer { executed: true, .. }
                | Self::Kill { executed: true, .. }
        )
    }

    /// Whether its caller learns from it what the service did.
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
