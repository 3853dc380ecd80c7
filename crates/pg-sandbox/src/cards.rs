//! Test cards and their scenarios (A137), and the scheme and type of a card number.

pub use pg_model::format::luhn_valid;
use serde_json::{Value, json};

/// How the simulated bank, issuer or scheme responds to a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scenario {
    /// Every payment is approved.
    Approved,
    /// Every payment is declined.
    Declined,
    /// Every payment is declined for lack of funds.
    InsufficientFunds,
    /// The bank does not answer: error 119 (spec 2 §7).
    NoResponse,
    /// The bank approves and its answer is lost: error 119, and the payment is recorded.
    NoResponseCharged,
    /// 3-D Secure asks the customer, who can pass; payments are approved.
    Challenge,
    /// 3-D Secure asks the customer and always fails; payments are approved.
    ChallengeFailed,
    /// 3-D Secure asks the customer, who can pass; a payment after a challenge that was not passed is declined.
    ChallengeRequired,
    /// The card does not support 3-D Secure; payments are approved.
    NotEnrolled,
    /// The account updater answers 700 with the number of [`Scenario::Updater700B`] (spec 1 §2.4).
    Updater700A,
    /// The account updater answers 700 with the number of [`Scenario::Updater700A`] (spec 1 §2.4).
    Updater700B,
    /// The account updater answers 702 with an expiry date one month later (spec 1 §2.4).
    Updater702,
}

impl Scenario {
    /// Returns the name in the control API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::InsufficientFunds => "insufficient-funds",
            Self::NoResponse => "no-response",
            Self::NoResponseCharged => "no-response-charged",
            Self::Challenge => "challenge",
            Self::ChallengeFailed => "challenge-failed",
            Self::ChallengeRequired => "challenge-required",
            Self::NotEnrolled => "not-enrolled",
            Self::Updater700A => "updater-700-a",
            Self::Updater700B => "updater-700-b",
            Self::Updater702 => "updater-702",
        }
    }

    /// Returns the scenario of the card with this number; approved by default.
    #[must_use]
    pub fn of(number: &str) -> Self {
        CARDS.iter().find(|card| card.number == number).map_or(Self::Approved, |card| card.scenario)
    }
}

/// A card scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// Visa.
    Visa,
    /// Mastercard.
    Mastercard,
    /// American Express.
    Amex,
    /// Maestro.
    Maestro,
    /// Discover.
    Discover,
    /// Diners Club.
    Diners,
    /// JCB.
    Jcb,
    /// UnionPay.
    UnionPay,
}

impl Scheme {
    /// Returns the scheme whose number ranges (ISO/IEC 7812) the number falls into, if any.
    #[must_use]
    pub fn of(number: &str) -> Option<Self> {
        let prefix: u32 = number.get(..6)?.parse().ok()?;
        Some(match prefix {
            400_000..=499_999 => Self::Visa,
            510_000..=559_999 | 222_100..=272_099 => Self::Mastercard,
            340_000..=349_999 | 370_000..=379_999 => Self::Amex,
            300_000..=305_999 | 360_000..=369_999 | 380_000..=399_999 => Self::Diners,
            352_800..=358_999 => Self::Jcb,
            601_100..=601_199 | 644_000..=659_999 => Self::Discover,
            620_000..=629_999 => Self::UnionPay,
            500_000..=509_999 | 560_000..=589_999 | 600_000..=699_999 => Self::Maestro,
            _ => return None,
        })
    }

    /// Returns the name in the control API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Visa => "visa",
            Self::Mastercard => "mastercard",
            Self::Amex => "amex",
            Self::Maestro => "maestro",
            Self::Discover => "discover",
            Self::Diners => "diners",
            Self::Jcb => "jcb",
            Self::UnionPay => "unionpay",
        }
    }

    /// Returns the text of `cardScheme` in a card record (spec 1 §2.1).
    #[must_use]
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Visa => "VISA",
            Self::Mastercard => "MASTERCARD",
            Self::Amex => "AMEX",
            Self::Maestro => "MAESTRO",
            Self::Discover => "DISCOVER",
            Self::Diners => "DINERS",
            Self::Jcb => "JCB",
            Self::UnionPay => "UNIONPAY",
        }
    }
}

/// One published test card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TestCard {
    /// The number, Luhn-valid, and not issued to a person.
    pub number: &'static str,
    /// Its scenario.
    pub scenario: Scenario,
}

/// The published test cards; prefer the first of each scenario.
pub const CARDS: &[TestCard] = &[
    card("4000000000001000", Scenario::Approved),
    card("5200000000001005", Scenario::Approved),
    card("2223000000001005", Scenario::Approved),
    card("340000000001007", Scenario::Approved),
    card("6799990000000001001", Scenario::Approved),
    card("6011000000001002", Scenario::Approved),
    card("36000000001006", Scenario::Approved),
    card("3528000000001005", Scenario::Approved),
    card("6200000000001003", Scenario::Approved),
    card("4000000000002008", Scenario::Declined),
    card("5200000000002003", Scenario::Declined),
    card("4000000000003006", Scenario::InsufficientFunds),
    card("5200000000003001", Scenario::InsufficientFunds),
    card("4000000000004004", Scenario::NoResponse),
    card("4000000000011009", Scenario::NoResponseCharged),
    card("4000000000005001", Scenario::Challenge),
    card("5200000000005006", Scenario::Challenge),
    card("4000000000006009", Scenario::ChallengeFailed),
    card("5200000000006004", Scenario::ChallengeFailed),
    card("4000000000012007", Scenario::ChallengeRequired),
    card("4000000000007007", Scenario::NotEnrolled),
    card("4000000000008005", Scenario::Updater700A),
    card("4000000000009003", Scenario::Updater700B),
    card("4000000000010001", Scenario::Updater702),
];

const fn card(number: &'static str, scenario: Scenario) -> TestCard {
    TestCard { number, scenario }
}

/// Returns the test cards as `GET /_sandbox/cards` shows them.
#[must_use]
pub fn view() -> Value {
    let shown = CARDS.iter().map(|card| {
        json!({
            "number": card.number,
            "scheme": Scheme::of(card.number).map(Scheme::name),
            "scenario": card.scenario.name(),
        })
    });
    Value::Array(shown.collect())
}

/// `CREDIT` or `DEBIT`, the text of `cardType` (spec 1 §2.1); `None` if unknown.
#[must_use]
pub fn card_type(number: &str) -> Option<&'static str> {
    match Scheme::of(number)? {
        Scheme::Maestro | Scheme::UnionPay => Some("DEBIT"),
        // The second test bank issues debit cards; see BANKS.
        Scheme::Visa if bank(number) == Some("Second Test Bank") => Some("DEBIT"),
        _ => Some("CREDIT"),
    }
}

/// Returns the text of `cardBank` (spec 1 §2.1): a fictional bank by number range; `None` if unknown.
#[must_use]
pub fn bank(number: &str) -> Option<&'static str> {
    BANKS.iter().find(|(prefix, _)| number.starts_with(prefix)).map(|&(_, name)| name)
}

const BANKS: &[(&str, &str)] = &[
    ("400000", "First Test Bank"),
    ("411111", "Second Test Bank"),
    ("520000", "Third Test Bank"),
    ("222300", "Third Test Bank"),
    ("340000", "Fourth Test Bank"),
    ("679999", "Second Test Bank"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    // spec: 1 §2.4, A137
    #[test]
    fn every_test_card_is_valid_unique_and_of_a_scheme() {
        let mut seen = HashSet::new();
        for card in CARDS {
            assert!(luhn_valid(card.number), "{}", card.number);
            assert!((12..=19).contains(&card.number.len()), "{}", card.number);
            assert!(Scheme::of(card.number).is_some(), "{}", card.number);
            assert!(seen.insert(card.number), "{}", card.number);
            assert_eq!(Scenario::of(card.number), card.scenario);
        }
    }

    // spec: 1 §1, A87; 1 §2.4, A137
    #[test]
    fn a_number_without_a_scenario_is_approved() {
        assert_eq!(Scenario::of("4111111111111111"), Scenario::Approved);
    }

    // spec: 1 §2.1
    #[test]
    fn schemes_by_range() {
        for (number, scheme) in [
            ("4111111111111111", Some(Scheme::Visa)),
            ("5555555555554444", Some(Scheme::Mastercard)),
            ("2720990000000007", Some(Scheme::Mastercard)),
            ("378282246310005", Some(Scheme::Amex)),
            ("6759649826438453", Some(Scheme::Maestro)),
            ("6011111111111117", Some(Scheme::Discover)),
            ("30569309025904", Some(Scheme::Diners)),
            ("3530111333300000", Some(Scheme::Jcb)),
            ("9999999999999995", None),
            ("41", None),
        ] {
            assert_eq!(Scheme::of(number), scheme, "{number}");
        }
    }

    // spec: 1 §2.4, A137: The listed test cards have fixed results; any other card is approved.
    // spec: 2 §4.3, A137: Each test card has a scenario.
    #[test]
    fn the_view_lists_number_scheme_and_scenario() {
        let view = view();
        let first = &view.as_array().unwrap()[0];
        assert_eq!(first["number"], "4000000000001000");
        assert_eq!(first["scheme"], "visa");
        assert_eq!(first["scenario"], "approved");
    }
}
