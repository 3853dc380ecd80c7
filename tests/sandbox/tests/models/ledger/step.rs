//! What merchants do.

use proptest::{option, prelude::*, sample::select};

use super::{DAY, END_OF_MAY, MOST};
use crate::models::service::{ANOTHER, APPROVED, DECLINED, POOR, SILENT, UNHEARD, Who};

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Pay(Payment),
    Operate {
        who: Who,
        version: Version,
        what: Kind,
        which: usize,
        value: Value,
        /// The references of the operation itself; version 5 has none.
        unique: Option<u8>,
        reference: Option<u8>,
    },
    /// Charges the card of an earlier payment again.
    Repeat {
        who: Who,
        kind: Kind,
        which: usize,
        value: u64,
    },
    LookUp {
        who: Who,
        which: Option<usize>,
        unique: Option<u8>,
        reference: Option<u8>,
    },
    /// The status in version 5.
    Status {
        who: Who,
        which: usize,
    },
    Wait(u64),
}

#[derive(Debug, Clone)]
pub(crate) struct Payment {
    pub(crate) who: Who,
    pub(crate) kind: Kind,
    pub(crate) card: Card,
    pub(crate) price: u64,
    pub(crate) quantity: u64,
    pub(crate) currency: &'static str,
    pub(crate) unique: Option<u8>,
    pub(crate) reference: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Auth,
    PreAuth,
    Capture,
    Cancel,
    Refund,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Three,
    Five,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Card {
    Good,
    /// Good until the end of May.
    Short,
    Declined,
    Poor,
    Silent,
    /// Charges, and the answer is lost.
    Unheard,
}

impl Card {
    pub(crate) const fn number(self) -> &'static str {
        match self {
            Self::Good => APPROVED,
            Self::Short => ANOTHER,
            Self::Declined => DECLINED,
            Self::Poor => POOR,
            Self::Silent => SILENT,
            Self::Unheard => UNHEARD,
        }
    }
}

/// How much an operation is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value {
    /// Not said, which version 5 has to.
    All,
    Left,
    OneMore,
    Of(u64),
}

/// Any step, if there are this many transactions.
pub(super) fn steps(entries: usize) -> BoxedStrategy<Step> {
    // Before the first there is a key that nothing has.
    let which = || 0..=entries;
    let who = || prop_oneof![5 => Just(Who::Main), 1 => Just(Who::Other)];
    let reference = || option::of(0..3_u8);
    let charges = || select(vec![Kind::Auth, Kind::PreAuth]);
    let (version, what) =
        (select(vec![Version::Three, Version::Five]), select(vec![Kind::Capture, Kind::Cancel, Kind::Refund]));
    let value = prop_oneof![
        2 => Just(Value::Left), 2 => Just(Value::All), 2 => Just(Value::OneMore), 6 => (1..60_u64).prop_map(Value::Of),
        1 => select(vec![0, MOST, MOST + 1, u64::MAX]).prop_map(Value::Of),
    ];
    let pay = (who(), charges(), card(), price(), 0..4_u64, currency(), reference(), reference());
    let pay = pay.prop_map(|(who, kind, card, price, quantity, currency, unique, reference)| {
        Step::Pay(Payment { who, kind, card, price, quantity, currency, unique, reference })
    });
    prop_oneof![
        6 => pay,
        9 => (who(), version, what, which(), value, reference(), reference())
            .prop_map(|(who, version, what, which, value, unique, reference)| Step::Operate { who, version, what, which, value, unique, reference }),
        3 => (who(), charges(), which(), price())
            .prop_map(|(who, kind, which, value)| Step::Repeat { who, kind, which, value }),
        3 => (who(), option::of(which()), reference(), reference())
            .prop_map(|(who, which, unique, reference)| Step::LookUp { who, which, unique, reference }),
        1 => (who(), which()).prop_map(|(who, which)| Step::Status { who, which }),
        2 => select(vec![1, DAY, 5 * DAY - 1, 5 * DAY, 10 * DAY - 1, 10 * DAY, END_OF_MAY, END_OF_MAY]).prop_map(Step::Wait),
    ]
    .boxed()
}

fn card() -> impl Strategy<Value = Card> {
    prop_oneof![
        5 => Just(Card::Good), 4 => Just(Card::Short), 1 => Just(Card::Declined), 1 => Just(Card::Poor), 1 => Just(Card::Silent),
        1 => Just(Card::Unheard),
    ]
}

fn price() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 1..120_u64, 1 => select(vec![0, MOST, MOST + 1])]
}

fn currency() -> impl Strategy<Value = &'static str> {
    select(vec!["GBP", "JPY", "BHD"])
}
