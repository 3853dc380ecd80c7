//! Random captures, cancellations and refunds against a model that only adds up.

use proptest::prelude::*;

use super::*;

/// A call that may or may not be allowed; operations on a capture name it by number.
#[derive(Debug, Clone)]
enum Step {
    Capture(Option<u64>),
    Cancel(Option<u64>),
    Refund(usize, Option<u64>),
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let value =
        || prop_oneof![1 => Just(None), 1 => Just(Some(0)), 1 => Just(Some(u64::MAX)), 9 => (1..60_u64).prop_map(Some)];
    let step = prop_oneof![
        4 => value().prop_map(Step::Capture),
        3 => value().prop_map(Step::Cancel),
        4 => (0..4_usize, value()).prop_map(|(which, value)| Step::Refund(which, value)),
        1 => (0..4_u64).prop_map(|days| Step::Wait(days * 24 * 60 * 60)),
    ];
    proptest::collection::vec(step, 0..20)
}

/// The documented result of `value` out of `left`: the amount, or the code of the refusal.
fn promised(value: Option<u64>, left: u64, none_left: &'static str) -> Result<u64, &'static str> {
    match value {
        Some(0) => Err("107"),
        _ if left == 0 => Err(none_left),
        Some(value) if value > left => Err("107"),
        value => Ok(value.unwrap_or(left)),
    }
}

/// A debit, its amount, and the refunded amount.
struct Debit {
    key: String,
    amount: u64,
    refunded: u64,
}

struct Model {
    shop: Shop,
    preauth: String,
    reserved: u64,
    /// One capture ends a preauth.
    ended: bool,
    ends: Timestamp,
    debits: Vec<Debit>,
}

impl Model {
    fn new(amount: u64) -> Self {
        let mut shop = Shop::open();
        let auth = pay(&mut shop, amount);
        let preauth = reserve(&mut shop, amount);
        let ends = shop.at.plus(std::time::Duration::from_secs(5 * 24 * 60 * 60));
        let debits = vec![Debit { key: auth, amount, refunded: 0 }];
        Self { shop, preauth, reserved: amount, ended: false, ends, debits }
    }

    /// Performs a step and compares its reply with the model.
    fn step(&mut self, step: &Step) {
        let left = if self.shop.at < self.ends && !self.ended { self.reserved } else { 0 };
        match *step {
            Step::Wait(seconds) => self.shop.wait(seconds),
            Step::Capture(value) => {
                if let Some((key, amount)) = self.ask("capturepreauth", None, value, promised(value, left, "952")) {
                    self.reserved -= amount;
                    self.ended = true;
                    self.debits.push(Debit { key, amount, refunded: 0 });
                }
            }
            Step::Cancel(value) => {
                if let Some((_, amount)) = self.ask("cancelpreauth", None, value, promised(value, left, "952")) {
                    self.reserved -= amount;
                }
            }
            Step::Refund(which, value) => {
                let at = which % self.debits.len();
                let left = self.debits[at].amount - self.debits[at].refunded;
                if let Some((_, amount)) = self.ask("refund", Some(at), value, promised(value, left, "953")) {
                    self.debits[at].refunded += amount;
                }
            }
        }
    }

    fn ask(
        &mut self,
        method: &str,
        debit: Option<usize>,
        value: Option<u64>,
        promised: Result<u64, &str>,
    ) -> Option<(String, u64)> {
        let key = debit.map_or(&self.preauth, |at| &self.debits[at].key).clone();
        let answer = self.shop.operate(method, &key, value);
        match promised {
            Ok(amount) => {
                let key = answer.key();
                assert_eq!(self.shop.payment(&key).amount, amount);
                Some((key, amount))
            }
            Err(code) => {
                assert_eq!(answer.code(), code, "{method} {value:?}");
                None
            }
        }
    }

    /// Adds up the recorded amounts, from the rows alone.
    fn check(&mut self, amount: u64) {
        let payments = self.shop.payments();
        let sum = |parent: &str, kinds: &[&str]| -> u64 {
            let of =
                |payment: &&Payment| payment.parent.as_deref() == Some(parent) && kinds.contains(&payment.kind.wire());
            payments.iter().filter(of).map(|payment| payment.amount).sum()
        };
        let taken = sum(&self.preauth, &["Capture", "CancelPreAuth"]);
        assert!(taken <= amount && taken == amount - self.reserved, "{taken} of {amount}");
        for debit in &self.debits {
            let refunded = sum(&debit.key, &["Refund"]);
            assert!(refunded <= debit.amount && refunded == debit.refunded, "{refunded} of {}", debit.amount);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    // spec: 2 §3.2
    #[test]
    fn operations_never_exceed_what_they_work_on(amount in 1..120_u64, steps in steps()) {
        let mut model = Model::new(amount);
        for step in &steps {
            model.step(step);
            model.check(amount);
        }
    }
}
