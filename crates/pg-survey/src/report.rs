//! The result of a survey.

use std::fmt;

use pg_proto::{machine::throttle::StopReason, model::Dialect};
use serde::{Serialize, Serializer};

use crate::{
    answer::Evidence,
    cards::Role,
    confirmation, dialect,
    notes::Notes,
    point::{CHARGED_AGAIN, EARLIER_TRANSACTION, Point, Seen, points},
    probes,
};

const CHARGES_AGAIN: &str = "this service charges a used uniqueMerchantReference again (two transactionKeys for one reference), so no \
    client may resend a payment to it. `charge` is not safe here: after a lost reply and an empty lookup it resends, because spec \
    2 §4.3 says that a reference is accepted once. Tell the operator; until then use ChargeBounds::attempts(1), which never \
    resends and ends such a payment as unknown";

/// The result of a survey: one finding for every open point.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// How the survey ended.
    pub ending: Ending,
    /// How many requests were sent.
    pub requests: usize,
    /// Whether a test payment was sent and has no reply: it may have been executed.
    pub unanswered_payment: bool,
    /// Test cards that did not do what their role says. Points that need them are not decided.
    pub unusable_cards: Vec<UnusableCard>,
    /// The findings, in the order of [`points`].
    pub findings: Vec<Finding>,
}

/// A test card that did not do what its role says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnusableCard {
    /// The role.
    #[serde(serialize_with = "role")]
    pub role: Role,
    /// What happened instead.
    pub why: String,
}

/// How a survey ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Ending {
    /// Every request of the plan was sent, or could not be sent.
    Complete,
    /// The service refused the valid credentials with this code. The code is empty after an HTTP 401 without a code,
    /// which may mean something else. Nothing was sent after that.
    CredentialsRefused(String),
    /// The service refused these credentials with this code in an earlier survey. Nothing was sent with them.
    CredentialsRefusedEarlier(String),
    /// The service has locked the address out, with this code. Nothing was sent after that.
    LockedOut(String),
    /// The control request failed several times; this is the last failure.
    Unavailable(String),
    /// The address does not answer like the service: the first reply had this status and content type. Nothing was sent
    /// after that.
    NotTheService(String),
    /// The service could not be reached, or stopped replying.
    NotReachable,
    /// Too many requests have had no reply, in earlier surveys too: one more could lock the address out if the
    /// credentials are wrong. Nothing was sent after that.
    Unanswered,
    /// The survey was interrupted before its end.
    Interrupted,
    /// The survey was interrupted before its end, and a test payment that was sent has no reply: it may have been
    /// executed.
    InterruptedInPayment,
}

impl Ending {
    /// Whether the service ended the survey early: it refused, locked out, failed, or did not reply.
    #[must_use]
    pub const fn is_of_the_service(&self) -> bool {
        !matches!(self, Self::Complete | Self::Interrupted | Self::InterruptedInPayment)
    }
}

/// The finding about one open point.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// The point.
    #[serde(serialize_with = "name")]
    pub point: &'static Point,
    /// The number of its assumption.
    pub assumption: u16,
    /// The entry of the dialect used for comparison.
    #[serde(serialize_with = "shown")]
    pub ours: Option<Seen>,
    /// The observation.
    #[serde(serialize_with = "shown")]
    pub seen: Option<Seen>,
    /// The conclusion.
    pub conclusion: Conclusion,
    /// The confidence; `None` without an observation.
    pub confidence: Option<Confidence>,
    /// The request that shows it.
    pub evidence: Option<Evidence>,
    /// Why it was not decided, or is not certain; empty otherwise.
    pub remark: String,
}

/// The conclusion from an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Conclusion {
    /// The service behaves as the dialect says.
    Agrees,
    /// The service behaves differently.
    Differs,
    /// The service breaks a rule of the documents on which payments rely. [`Finding::remark`] says what is not safe.
    Error,
    /// The behaviour was observed, but dialects have no entry for it.
    Seen,
    /// The survey did not check the point, or could not observe it.
    NotDecided,
    /// No request can decide it: ask the operator.
    Undecidable,
}

/// The confidence of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Confidence {
    /// The reply fits only this point.
    High,
    /// Other points have the same error code: an earlier check of the service may have replied. Or the status of an
    /// authentication was not compared with that of another one. Or two cards for different declines got one status.
    Medium,
}

impl Report {
    pub(crate) fn of(
        ending: Ending,
        (requests, unanswered_payment): (usize, bool),
        notes: &Notes,
        ours: &Dialect,
    ) -> Self {
        let written = dialect::written("", notes);
        let findings = points().map(|point| finding(point, &ending, notes, ours, &written)).collect();
        let unusable_cards =
            notes.unusable_cards().map(|(role, why)| UnusableCard { role, why: why.to_owned() }).collect();
        Self { ending, requests, unanswered_payment, unusable_cards, findings }
    }

    /// Returns the findings with this conclusion.
    pub fn with(&self, conclusion: Conclusion) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.conclusion == conclusion)
    }

    /// Returns the finding about the point with this name.
    #[must_use]
    pub fn finding(&self, point: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.point.name == point)
    }
}

fn finding(point: &'static Point, ending: &Ending, notes: &Notes, ours: &Dialect, written: &Dialect) -> Finding {
    let said = point.said_by(ours);
    let mut finding = Finding {
        point,
        assumption: point.assumption,
        ours: said.clone(),
        seen: None,
        conclusion: Conclusion::NotDecided,
        confidence: None,
        evidence: None,
        remark: String::new(),
    };
    let Some(sighting) = notes.sighting(point.name) else {
        let why = notes.reason(point.name).map(str::to_owned);
        finding.remark = why.or(point.undecidable.map(str::to_owned)).unwrap_or_else(|| not_looked(point, ending));
        if point.undecidable.is_some() {
            finding.conclusion = Conclusion::Undecidable;
        }
        return finding;
    };
    if let Some(why) = left_out(point, &sighting.seen, written) {
        finding.remark = why;
        return finding;
    }
    let shared = shared_with(point, &sighting.seen, notes);
    finding.seen = Some(sighting.seen.clone());
    finding.evidence = Some(sighting.evidence.clone());
    finding.confidence = Some(if shared == 0 { Confidence::High } else { Confidence::Medium });
    if shared > 0 {
        let points = if shared == 1 { "point has" } else { "points have" };
        finding.remark =
            format!("{shared} other {points} the same code: an earlier check of the service may have replied");
    }
    if let Some(why) = not_compared(point, ending, notes).or_else(|| same_decline(point, &sighting.seen, ending, notes))
    {
        finding.confidence = Some(Confidence::Medium);
        finding.remark = why;
    }
    if sighting.seen == CHARGED_AGAIN {
        CHARGES_AGAIN.clone_into(&mut finding.remark);
    }
    finding.conclusion = match (&sighting.seen, said) {
        (seen, _) if *seen == CHARGED_AGAIN => Conclusion::Error,
        _ if point.entry.is_empty() => Conclusion::Seen,
        // Without an error code, a dialect has nothing to say.
        (Seen::Accepted | Seen::Page(_), None) => Conclusion::Agrees,
        (seen, None) if *seen == EARLIER_TRANSACTION => Conclusion::Agrees,
        (seen, Some(said)) if seen.agrees(&said) => Conclusion::Agrees,
        _ => Conclusion::Differs,
    };
    finding
}

/// Returns why the status of an authentication was not compared with that of another one, which may have the same.
fn not_compared(point: &Point, ending: &Ending, notes: &Notes) -> Option<String> {
    let (other, _) = confirmation::compared_with(point.name).filter(|(_, probe)| !notes.succeeded(probe))?;
    let other = points().find(|point| point.name == other)?;
    let why = notes.reason(other.name).map_or_else(|| not_looked(other, ending), str::to_owned);
    Some(format!("not compared with the status of {}: {why}", other.name))
}

/// Returns why the status of a declined card may be that of another decline: the other card got it too, or no card of the role
/// declined was declined.
fn same_decline(point: &Point, seen: &Seen, ending: &Ending, notes: &Notes) -> Option<String> {
    let [declined, insufficient] = [Role::Declined, Role::InsufficientFunds].map(Role::name);
    let other = match point.name {
        name if name == declined => insufficient,
        name if name == insufficient => declined,
        _ => return None,
    };
    match notes.sighting(other) {
        Some(same) if same.seen == *seen => Some(format!(
            "the cards {declined} and {insufficient} got the same status: the service may have one for both, or one of the cards \
             may be the wrong one"
        )),
        None if other == declined => {
            let other = points().find(|point| point.name == other)?;
            let why = notes.reason(other.name).map_or_else(|| not_looked(other, ending), str::to_owned);
            Some(format!("not compared with the status of the card {declined}: {why}"))
        }
        _ => None,
    }
}

/// Returns why the written dialect does not contain an observation for which dialects have an entry.
fn left_out(point: &Point, seen: &Seen, written: &Dialect) -> Option<String> {
    let why = match seen {
        _ if point.entry.is_empty() => return None,
        Seen::Refused { code, .. } | Seen::Status(code) => dialect::unwritable(code)?,
        Seen::Word("error") => "a dialect would need the code of that error, but cannot contain it",
        _ => return None,
    };
    let is_written = point.said_by(written).is_some_and(|said| seen.agrees(&said));
    (!is_written).then(|| format!("{seen}: {why}"))
}

/// Returns how many other points have the same error code.
fn shared_with(point: &Point, seen: &Seen, notes: &Notes) -> usize {
    let Seen::Refused { code, .. } = seen else { return 0 };
    let same = |other: &Seen| matches!(other, Seen::Refused { code: another, .. } if another == code);
    notes.sightings().filter(|(name, other)| *name != point.name && same(&other.seen)).count()
}

/// Returns why no request has checked a point.
fn not_looked(point: &Point, ending: &Ending) -> String {
    if *ending != Ending::Complete {
        return "the survey ended before this point".to_owned();
    }
    match probes::deciding(point.name) {
        Some((_, probe)) if probe.request.is_of_version_5() && !probe.cost.is_money() => {
            "needs the credentials of version 5".to_owned()
        }
        Some((Some(role), _)) => format!("needs payments and the test card {}", role.name()),
        Some((None, probe)) if probe.cost.is_money() && probe.request.is_of_version_5() => {
            "needs payments and the credentials of version 5".to_owned()
        }
        _ => "was not requested".to_owned(),
    }
}

fn name<S: Serializer>(point: &Point, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(point.name)
}

// Serde passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn role<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role.name())
}

fn shown<S: Serializer>(seen: &Option<Seen>, serializer: S) -> Result<S::Ok, S::Error> {
    seen.as_ref().map(ToString::to_string).serialize(serializer)
}

impl fmt::Display for UnusableCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the test card {} did not work: {}", self.role.name(), self.why)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("complete"),
            Self::CredentialsRefused(code) if code.is_empty() => f.write_str(
                "the reply was HTTP 401 without an error code: the service may have refused the credentials, or a proxy \
                 answered; nothing was sent after that",
            ),
            Self::CredentialsRefused(code) => {
                write!(f, "the service refused the credentials ({code}); nothing was sent after that")
            }
            Self::CredentialsRefusedEarlier(code) => {
                write!(f, "the service refused these credentials ({code}) in an earlier survey, so they were not sent again")
            }
            Self::LockedOut(code) => {
                write!(f, "the service has locked this address out ({code}); nothing was sent after that")
            }
            Self::Unavailable(what) => write!(f, "session/initiate does not work: {what}"),
            Self::NotTheService(what) => {
                write!(
                    f,
                    "the address does not answer like the service: session/initiate got {what}; check the base URL"
                )
            }
            Self::NotReachable => f.write_str("the service did not reply"),
            Self::Unanswered => StopReason::Unanswered.fmt(f),
            Self::Interrupted => f.write_str("interrupted; the report covers what was found until then"),
            Self::InterruptedInPayment => f.write_str(
                "interrupted, and a test payment without a reply may have been made; the report covers what was found until \
                 then",
            ),
        }
    }
}
