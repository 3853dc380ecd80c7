//! The test cards of the staging environment.

use pg_proto::model::{CardNumber, Cv2, format::luhn_valid};

/// The behaviour of a test card, as described by the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Payments are approved.
    Approved,
    /// Payments are declined.
    Declined,
    /// Payments are declined for lack of funds.
    InsufficientFunds,
    /// 3-D Secure requires a challenge.
    Challenge,
    /// The card has no 3-D Secure; payments are approved.
    NotEnrolled,
}

impl Role {
    /// All roles.
    pub const ALL: &'static [Self] =
        &[Self::Approved, Self::Declined, Self::InsufficientFunds, Self::Challenge, Self::NotEnrolled];

    /// Returns the role's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::InsufficientFunds => "insufficient-funds",
            Self::Challenge => "challenge",
            Self::NotEnrolled => "not-enrolled",
        }
    }

    /// Returns the role with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }
}

/// A test card. `Debug` shows no number.
#[derive(Clone, Debug)]
pub struct Card {
    pub(crate) number: CardNumber,
    pub(crate) month: String,
    /// Two digits.
    pub(crate) year: String,
    pub(crate) cv2: Option<Cv2>,
}

/// The test cards by role.
#[derive(Clone, Debug, Default)]
pub struct Cards(Vec<(Role, Card)>);

/// Why a text is not a test card. The message does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CardError {
    /// It has another form.
    #[error(
        "not a test card: write the number, the expiry date as MM/YY, and the CV2 if the card needs one, separated by spaces"
    )]
    Form,
    /// The check digit of the number is wrong.
    #[error("the card number has a wrong check digit")]
    CheckDigit,
    /// The expiry date has no such month.
    #[error("the month of the expiry date is not 01 to 12")]
    Month,
}

impl Card {
    /// Reads `NUMBER MM/YY` or `NUMBER MM/YY CV2`.
    ///
    /// ```
    /// let card = pg_survey::Card::parse("4000000000001000 12/49 123")?;
    /// assert!(!format!("{card:?}").contains("4000000000001000"));
    /// assert_eq!(pg_survey::Card::parse("4000000000001001 12/49").unwrap_err(), pg_survey::CardError::CheckDigit);
    /// # Ok::<(), pg_survey::CardError>(())
    /// ```
    ///
    /// # Errors
    /// If the text has another form, or a digit of the number or the month is wrong.
    pub fn parse(text: &str) -> Result<Self, CardError> {
        let mut words = text.split_ascii_whitespace();
        let digits = |word: &str, least: usize, most: usize| {
            (least..=most).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
        };
        let number = words.next().filter(|word| digits(word, 12, 19)).ok_or(CardError::Form)?;
        let (month, year) = words.next().and_then(|word| word.split_once('/')).ok_or(CardError::Form)?;
        let cv2 = words.next();
        let fits = digits(month, 2, 2) && digits(year, 2, 2) && cv2.is_none_or(|cv2| digits(cv2, 3, 4));
        if !fits || words.next().is_some() {
            return Err(CardError::Form);
        }
        if !luhn_valid(number) {
            return Err(CardError::CheckDigit);
        }
        if !("01"..="12").contains(&month) {
            return Err(CardError::Month);
        }
        Ok(Self {
            number: number.into(),
            month: month.to_owned(),
            year: year.to_owned(),
            cv2: cv2.map(|cv2| Cv2::from(cv2.to_owned())),
        })
    }
}

impl Cards {
    /// Sets the card of a role. A later card replaces an earlier one.
    #[must_use]
    pub fn with(mut self, role: Role, card: Card) -> Self {
        self.0.retain(|(other, _)| *other != role);
        self.0.push((role, card));
        self
    }

    /// Returns the card of a role.
    #[must_use]
    pub fn of(&self, role: Role) -> Option<&Card> {
        self.0.iter().find(|(other, _)| *other == role).map(|(_, card)| card)
    }

    /// Whether there are no cards.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
