//! Whether a reply answers the request: all fields that both have are equal. A field that the reply lacks does not
//! count as a difference, since the documents promise few fields (spec 2 §4.3, 3 §2.2).

use pg_model::{
    ApiRequest, ListShape, ParameterSink, Parameters, Record, RecordWriter, SystemAction, TransactionKey,
    TransactionType, Value, field::Field, method::MethodInfo,
};

use crate::machine::settlement::{Expected, Money};

/// The content of a request or reply that the other side repeats.
#[derive(Debug, Default)]
struct Echo {
    reference: String,
    /// The key of the payment that an operation of version 5 changes or repeats.
    original: String,
    kind: String,
    action: String,
    currency: String,
    value: String,
    status: String,
    /// The key of the transaction that the reply describes.
    key: String,
}

/// Returns the status of a reply that describes a transaction; empty if it has none.
pub(super) fn status(reply: &impl Record) -> String {
    let mut echo = Echo::default();
    reply.write(&mut echo);
    echo.status
}

/// Returns the key of the transaction that a reply describes, by which the operator of the service can find it; empty if it
/// names none.
#[must_use]
pub fn described(reply: &dyn Record) -> TransactionKey {
    let mut echo = Echo::default();
    reply.write(&mut echo);
    echo.key.into()
}

/// Returns the field in which the reply differs from the request. Only replies that describe a transaction are compared.
pub fn differs<M: ApiRequest>(request: &M, reply: &M::Reply) -> Option<&'static str> {
    let mut theirs = Echo::default();
    reply.write(&mut theirs);
    if M::INFO.service.version == 3 && theirs.repeats_only_its_type() {
        // The usual reply: the request need not be read.
        return Repeated { info: M::INFO, ours: Echo::default(), expected: Expected::default() }.differs_from(&theirs);
    }
    Repeated::of(request).differs_from(&theirs)
}

/// What a request states and its reply may repeat, to notice the reply to another request.
///
/// ```
/// use pg_proto::{machine::retry::Repeated, model::{Refund, Transaction}};
///
/// let refund = Repeated::of(&Refund::new("0123456789abcdef0123456789abcdef"));
/// let payment = Transaction::default().with(|reply| {
///     reply.transaction_type = "Auth".into();
/// });
/// assert_eq!(refund.differs(&payment), Some("type"));
/// ```
#[derive(Debug)]
pub struct Repeated {
    info: &'static MethodInfo,
    ours: Echo,
    expected: Expected,
}

impl Repeated {
    /// Reads a typed request.
    #[must_use]
    pub fn of<M: ApiRequest>(request: &M) -> Self {
        let mut ours = Echo::default();
        request.visit(&mut ours);
        Self { info: M::INFO, ours, expected: Expected::of(request) }
    }

    /// Reads the parameters of a method that is known only at run time.
    #[must_use]
    pub fn of_parameters(info: &'static MethodInfo, parameters: &Parameters) -> Self {
        let mut ours = Echo::default();
        parameters.iter().for_each(|(name, value)| ours.take(name, value));
        Self { info, ours, expected: Expected::of_parameters(info, parameters) }
    }

    /// Returns the field in which the reply differs. Only replies that describe a transaction are compared, and a field that
    /// either side lacks does not differ.
    #[must_use]
    pub fn differs(&self, reply: &dyn Record) -> Option<&'static str> {
        let mut theirs = Echo::default();
        reply.write(&mut theirs);
        self.differs_from(&theirs)
    }

    fn differs_from(&self, theirs: &Echo) -> Option<&'static str> {
        match self.info.reply {
            "Transaction" => version_3(self.info, &self.ours, theirs, &self.expected),
            "EnterpriseResult" => version_5(self.info, &self.ours, theirs),
            _ => None,
        }
    }
}

fn version_3(info: &MethodInfo, ours: &Echo, theirs: &Echo, expected: &Expected) -> Option<&'static str> {
    let kind = match info.name {
        "capturepreauth" => TransactionType::CAPTURE,
        "cancelpreauth" => TransactionType::CANCEL_PRE_AUTH,
        "refund" => TransactionType::REFUND,
        name if name.starts_with("preauth") => TransactionType::PRE_AUTH,
        name if name.starts_with("auth") => TransactionType::AUTH,
        _ => return None,
    };
    let total = expected.total.or_else(|| ours.value.parse().ok());
    let money = Money { currency: &expected.currency, total };
    if is_other(kind.as_str(), &theirs.kind) {
        Some("type")
    } else if is_another(&ours.reference, &theirs.reference) {
        Some("uniqueMerchantReference")
    } else {
        let currency = if expected.currency.is_empty() { "" } else { theirs.currency.as_str() };
        money.differs_from_text(currency, &theirs.value)
    }
}

fn version_5(info: &MethodInfo, ours: &Echo, theirs: &Echo) -> Option<&'static str> {
    let is_repeat = info.name == "repeat";
    let action = match info.name {
        "repeat" => SystemAction::REPEAT,
        "refund" => SystemAction::REFUND,
        "capture" => SystemAction::CAPTURE,
        _ => SystemAction::CANCEL,
    };
    let is_other_kind =
        if is_repeat { is_other_repeat(&ours.kind, &theirs.kind) } else { is_other(info.name, &theirs.kind) };
    if is_other(action.as_str(), &theirs.action) {
        Some("system_action")
    } else if is_other_kind {
        Some("trans_type")
    } else if is_another(&ours.original, &theirs.original) {
        Some("prev_trans_key")
    } else {
        let amounts = plain(&ours.value).zip(plain(&theirs.value));
        amounts.filter(|(ours, theirs)| ours != theirs).map(|_| "trans_value")
    }
}

/// Whether a repeat gets the word of another request, in any spelling. A debit gets its own word (spec 3 §2.2). The documents do
/// not say which word a reservation gets (assumption A124), so it may be any that is not one of another operation.
fn is_other_repeat(ours: &str, theirs: &str) -> bool {
    let [ours, theirs] = [ours, theirs].map(|word| word.replace(['-', '_', ' '], "").to_ascii_lowercase());
    if ours.is_empty() || ours == "preauth" {
        ["refund", "capture", "cancel"].contains(&theirs.as_str())
    } else {
        is_other(&ours, &theirs)
    }
}

/// Whether both sides have a word, and the words differ.
fn is_other(ours: &str, theirs: &str) -> bool {
    !ours.is_empty() && !theirs.is_empty() && !ours.eq_ignore_ascii_case(theirs)
}

/// Whether both sides have a key or reference, and these differ.
fn is_another(ours: &str, theirs: &str) -> bool {
    !ours.is_empty() && !theirs.is_empty() && ours != theirs
}

/// Returns the digits of a decimal before and after the point, without zeros that change nothing. `None` for other
/// text.
fn plain(decimal: &str) -> Option<(&str, &str)> {
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (!decimal.is_empty() && digits(whole) && digits(fraction))
        .then(|| (whole.trim_start_matches('0'), fraction.trim_end_matches('0')))
}

impl Echo {
    fn repeats_only_its_type(&self) -> bool {
        [&self.reference, &self.original, &self.action, &self.currency, &self.value].into_iter().all(String::is_empty)
    }

    fn take(&mut self, name: &str, value: &str) {
        let field = match name {
            "uniqueMerchantReference" => &mut self.reference,
            "prev_trans_key" => &mut self.original,
            "transactionType" | "trans_type" => &mut self.kind,
            "system_action" => &mut self.action,
            "currency" => &mut self.currency,
            "transactionValue" | "trans_value" => &mut self.value,
            "transactionStatusCode" | "status" => &mut self.status,
            "transactionKey" | "trans_key" => &mut self.key,
            _ => return,
        };
        value.clone_into(field);
    }
}

impl ParameterSink for Echo {
    fn credentials(&mut self) {}

    fn parameter(&mut self, _: &'static Field, name: &str, value: &str) {
        self.take(name, value);
    }

    fn list(&mut self, _: &'static Field, _: &str, _: &mut dyn Iterator<Item = &str>) {}
}

impl RecordWriter for Echo {
    fn text(&mut self, name: &str, value: &str) {
        self.take(name, value);
    }

    fn number(&mut self, name: &str, value: &str) {
        self.take(name, value);
    }

    fn record(&mut self, _: &str, _: &dyn Record) {}

    fn list(&mut self, _: &str, _: &str, _: ListShape, _: &mut dyn Iterator<Item = &dyn Record>) {}

    fn map(&mut self, _: &str, _: &mut dyn Iterator<Item = (&str, &dyn Record)>) {}

    fn value(&mut self, _: &str, _: &Value) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_compared_by_their_digits() {
        for (one, other) in [("10", "10.00"), ("010.0", "10"), ("0.5", ".50"), ("0", "0.00")] {
            assert_eq!(plain(one), plain(other), "{one} {other}");
        }
        for (one, other) in [("10.00", "100.00"), ("10", "1"), ("1.05", "1.5"), ("0.10", "10")] {
            assert_ne!(plain(one), plain(other), "{one} {other}");
        }
        for text in ["", "1,00", "-1", "1.0.0", "1e2"] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn a_repeat_has_no_word_of_another_operation() {
        for ours in ["", "preauth", "Pre-Auth"] {
            assert!(["Refund", "CAPTURE", "can_cel"].iter().all(|theirs| is_other_repeat(ours, theirs)), "{ours}");
            assert!(["", "auth", "preauth", "debit"].iter().all(|theirs| !is_other_repeat(ours, theirs)), "{ours}");
        }
        assert!(
            is_other_repeat("debit", "refund")
                && is_other_repeat("debit", "auth")
                && !is_other_repeat("debit", "Debit")
        );
    }
}
