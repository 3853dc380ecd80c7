//! A drill: its number, scenario, basis and remedy.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use crate::plan::Job;

/// The rehearsal of one fault.
#[derive(Debug)]
#[non_exhaustive]
pub struct Drill {
    /// Its number, such as `M04`.
    pub id: &'static str,
    /// Its family.
    pub family: Family,
    /// The title.
    pub title: &'static str,
    /// The severity of a failure.
    pub severity: Severity,
    /// The section of the documents, or the assumption.
    pub basis: &'static str,
    /// A description of the scenario.
    pub imitates: &'static str,
    /// How to fix a failure.
    pub mend: &'static str,
    pub(crate) job: Job,
}

impl Drill {
    /// Returns the job that the integration has to provide.
    #[must_use]
    pub const fn job(&self) -> Job {
        self.job
    }
}

/// The form in which `pg rehearse drills --json` lists a drill.
impl Serialize for Drill {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown {
            id: &'static str,
            family: &'static str,
            title: &'static str,
            severity: &'static str,
            basis: &'static str,
            job: &'static str,
            imitates: &'static str,
            mend: &'static str,
        }
        Shown {
            id: self.id,
            family: self.family.name(),
            title: self.title,
            severity: self.severity.name(),
            basis: self.basis,
            job: self.job().name(),
            imitates: self.imitates,
            mend: self.mend,
        }
        .serialize(serializer)
    }
}

/// The drills that charge in each form that the integration supports: its amount, its currency, and what it repeats. The others use
/// the first form unless they need a card.
pub(crate) const EACH_FORM: [&str; 2] = ["M04", "M46"];

/// A family of drills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Double, missing and unreported charges.
    Money,
    /// Refused credentials, lockouts, the throttle.
    Credentials,
    /// Redirect data of the card form.
    Redirect,
    /// Callbacks to the shop.
    Callbacks,
    /// The hosted checkout.
    Checkout,
    /// Authentication of the customer.
    ThreeDSecure,
    /// The account updater.
    StoredCards,
    /// TLS certificates.
    Tls,
    /// Secrets in wrong places.
    Hygiene,
}

impl Family {
    /// All families, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::Money,
        Self::Credentials,
        Self::Redirect,
        Self::Callbacks,
        Self::Checkout,
        Self::ThreeDSecure,
        Self::StoredCards,
        Self::Tls,
        Self::Hygiene,
    ];

    /// Its name in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Money => "money",
            Self::Credentials => "credentials-and-limits",
            Self::Redirect => "redirect",
            Self::Callbacks => "callbacks-and-returns",
            Self::Checkout => "checkout",
            Self::ThreeDSecure => "3-d-secure",
            Self::StoredCards => "stored-cards",
            Self::Tls => "tls",
            Self::Hygiene => "hygiene",
        }
    }

    /// Returns the title of the family.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Money => "Money: lost, late and double messages",
            Self::Credentials => "Credentials and limits",
            Self::Redirect => "Redirect data: tampering and oracles",
            Self::Callbacks => "Callbacks: forged, repeated, oversized",
            Self::Checkout => "Hosted checkout and success pages",
            Self::ThreeDSecure => "3-D Secure",
            Self::StoredCards => "Stored cards: the account updater",
            Self::Tls => "TLS: certificates that must be refused",
            Self::Hygiene => "Hygiene: secrets where they do not belong",
        }
    }
}

/// The severity of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A nuisance.
    Low,
    /// Costs sales or support.
    Medium,
    /// Costs money or leaks data, under conditions.
    High,
    /// Costs money, or exposes cards or keys.
    Critical,
}

impl Severity {
    /// Its name in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Severity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Low, Self::Medium, Self::High, Self::Critical];
        all.into_iter()
            .find(|severity| severity.name() == text)
            .ok_or_else(|| "give low, medium, high or critical".to_owned())
    }
}
