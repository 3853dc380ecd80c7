//! Amounts of replies, with the type of amounts in requests.

use crate::{Amount, Currency, EnterpriseResult, EnterpriseTransaction, Transaction};

impl Transaction {
    /// Returns the amount in whole minor units of its currency; `None` if the reply lacks amount or currency. A lookup
    /// of the sandbox has both (assumption A21); the documents show neither.
    ///
    /// ```
    /// use pg_model::{Amount, Currency, Transaction};
    /// let mut found = Transaction::default();
    /// (found.transaction_value, found.currency) = ("499".into(), "GBP".into());
    /// assert_eq!(found.amount(), Some(Amount::new(499, Currency::GBP)));
    /// assert_eq!(Transaction::default().amount(), None);
    /// ```
    #[must_use]
    pub fn amount(&self) -> Option<Amount> {
        let minor = self.transaction_value.parse().ok()?;
        (!self.currency.is_empty()).then(|| Amount::new(minor, Currency::from(self.currency.as_str())))
    }
}

impl EnterpriseResult {
    /// `trans_value` in this currency, which the reply does not name (spec 3 §2.2); `None` if the text is not an amount
    /// of this currency.
    #[must_use]
    pub fn amount(&self, currency: &Currency) -> Option<Amount> {
        Amount::parse(self.trans_value.as_str(), currency).ok()
    }
}

impl EnterpriseTransaction {
    /// `value`, written with the separators of its currency (spec 3 §4.8); `None` if the text is not an amount of this
    /// currency.
    ///
    /// ```
    /// use pg_model::{Amount, Currency, EnterpriseTransaction};
    /// let mut found = EnterpriseTransaction::default();
    /// (found.value, found.currency) = ("1.000,00".into(), "EUR".into());
    /// assert_eq!(found.amount(), Some(Amount::new(100_000, Currency::EUR)));
    /// ```
    #[must_use]
    pub fn amount(&self) -> Option<Amount> {
        let currency = Currency::from(self.currency.as_str());
        if currency.is_empty() { None } else { Amount::parse_grouped(&self.value, &currency).ok() }
    }
}
