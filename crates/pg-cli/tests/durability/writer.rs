//! A writer that pays, captures and refunds, and remembers what was acknowledged.

use serde_json::Value;

use pg_support::Dice;

use crate::durability::caller::{Caller, Reply};

const APPROVED_CARD: &str = "4000000000001000";
const DECLINED_CARD: &str = "4000000000002008";
/// The sandbox's code of a unique reference that was used before (A92).
const REFERENCE_USED: &str = "950";

/// One request that changes the sandbox's records.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    method: &'static str,
    parameters: Vec<(&'static str, String)>,
    /// As transactions call it.
    pub(crate) kind: &'static str,
    pub(crate) amount: u64,
    /// Payments have one, operations on them do not.
    pub(crate) reference: Option<String>,
    /// The transaction that is captured or refunded.
    pub(crate) parent: Option<String>,
    declined: bool,
}

/// A write whose reply has come.
#[derive(Debug, Clone)]
pub(crate) struct Acknowledged {
    pub(crate) write: Write,
    pub(crate) key: String,
    pub(crate) status: String,
}

/// A transaction that something can still be done to.
#[derive(Debug, Clone)]
struct Open {
    key: String,
    left: u64,
}

/// One of those who write at the same time, with a memory that outlives the sandbox.
pub(crate) struct Writer {
    number: usize,
    dice: Dice,
    payments: u64,
    card_key: String,
    reserved: Vec<Open>,
    debited: Vec<Open>,
    /// In the order of the replies.
    pub(crate) acknowledged: Vec<Acknowledged>,
    /// Sent, and never answered.
    pub(crate) unanswered: Vec<Write>,
    /// How many of both lists were checked after a restart.
    checked: (usize, usize),
}

impl Writer {
    /// A writer who also pays with a card key.
    pub(crate) fn new(number: usize, dice: Dice, card_key: &str) -> Self {
        Self {
            number,
            dice,
            payments: 0,
            card_key: card_key.to_owned(),
            reserved: Vec::new(),
            debited: Vec::new(),
            acknowledged: Vec::new(),
            unanswered: Vec::new(),
            checked: (0, 0),
        }
    }

    /// Writes until the connection breaks, telling after each request that it was sent, and after each reply that it
    /// has come.
    pub(crate) fn write(&mut self, caller: &mut Caller, sent: impl Fn(), replied: impl Fn()) {
        loop {
            let write = self.next();
            let answer = caller.send(write.method, &write.parameters).and_then(|()| {
                sent();
                caller.receive()
            });
            match answer {
                Ok(reply) => {
                    self.acknowledge(write, &reply);
                    replied();
                }
                Err(_) => {
                    // The remaining amount of its parent is unknown now.
                    let parent = write.parent.clone();
                    let unclear = |open: &Open| Some(&open.key) != parent.as_ref();
                    self.reserved.retain(unclear);
                    self.debited.retain(unclear);
                    self.unanswered.push(write);
                    return;
                }
            }
        }
    }

    /// One payment by card; or what was refused, and how.
    pub(crate) fn pay(&mut self, caller: &mut Caller) -> Result<(), Box<(Write, Reply)>> {
        let write = self.payment("transaction/auth", "Auth", &card(APPROVED_CARD), false);
        self.attempt(write, caller)
    }

    /// One write that was refused before; or how it is refused again.
    pub(crate) fn attempt(&mut self, write: Write, caller: &mut Caller) -> Result<(), Box<(Write, Reply)>> {
        let reply = caller.call(write.method, &write.parameters);
        if reply.status != 200 {
            return Err(Box::new((write, reply)));
        }
        self.acknowledge(write, &reply);
        Ok(())
    }

    /// Missing or wrong records after a restart, among those written since the last one.
    pub(crate) fn check(&mut self, caller: &mut Caller) -> Vec<String> {
        let mut wrong = Vec::new();
        for acknowledged in &self.acknowledged[self.checked.0..] {
            wrong.extend(acknowledged.missing(caller));
        }
        for write in self.unanswered.split_off(self.checked.1) {
            match &write.reference {
                Some(_) => wrong.extend(self.repeat(write, caller)),
                None => self.unanswered.push(write),
            }
        }
        self.checked = (self.acknowledged.len(), self.unanswered.len());
        wrong
    }

    /// Lets the next check look at everything.
    pub(crate) fn check_again(&mut self) {
        self.checked = (0, 0);
    }

    /// Resends an unanswered payment twice: whatever became of the first, there is one.
    fn repeat(&mut self, write: Write, caller: &mut Caller) -> Option<String> {
        let first = caller.call(write.method, &write.parameters);
        if first.body["errorCode"] != REFERENCE_USED && first.status != 200 {
            return Some(format!("{write:?} was sent again: {first:?}"));
        }
        let second = caller.call(write.method, &write.parameters);
        if second.body["errorCode"] != REFERENCE_USED {
            return Some(format!("{write:?} was sent a third time: {second:?}"));
        }
        let found = caller.lookup("uniqueMerchantReference", write.reference.as_ref()?);
        let [one] = found.as_slice() else { return Some(format!("{write:?} is there {} times", found.len())) };
        let status = text(one, "transactionStatusCode");
        let now = Acknowledged { key: text(one, "transactionKey"), status, write };
        let wrong = now.missing(caller);
        self.acknowledged.push(now);
        wrong
    }

    fn next(&mut self) -> Write {
        match self.dice.between(0, 9) {
            0..=1 if !self.reserved.is_empty() => {
                self.follow_up("transaction/capturepreauth", "Capture", |writer| &mut writer.reserved)
            }
            2..=3 if !self.debited.is_empty() => {
                self.follow_up("transaction/refund", "Refund", |writer| &mut writer.debited)
            }
            4 => self.payment("transaction/auth", "Auth", &card(DECLINED_CARD), true),
            5..=6 => self.payment("transaction/preauth", "PreAuth", &card(APPROVED_CARD), false),
            7 => {
                let token = [("cardKey", self.card_key.clone())];
                self.payment("transaction/authCardKey", "Auth", &token, false)
            }
            _ => self.payment("transaction/auth", "Auth", &card(APPROVED_CARD), false),
        }
    }

    fn payment(
        &mut self,
        method: &'static str,
        kind: &'static str,
        source: &[(&'static str, String)],
        declined: bool,
    ) -> Write {
        self.payments += 1;
        let amount = self.dice.between(1, 99_999);
        let reference = format!("writer-{}-payment-{}", self.number, self.payments);
        let mut parameters = vec![
            ("currency", "GBP".to_owned()),
            ("itemName0", "Tea".to_owned()),
            ("itemPrice0", amount.to_string()),
            ("uniqueMerchantReference", reference.clone()),
        ];
        parameters.extend_from_slice(source);
        Write { method, parameters, kind, amount, reference: Some(reference), parent: None, declined }
    }

    /// A part of a transaction, never all that is left but for the last unit.
    fn follow_up(&mut self, method: &'static str, kind: &'static str, of: fn(&mut Self) -> &mut Vec<Open>) -> Write {
        let count = u64::try_from(of(self).len()).unwrap();
        let at = usize::try_from(self.dice.between(0, count - 1)).unwrap();
        let left = of(self)[at].left;
        let amount = self.dice.between(1, left);
        // One capture ends a reservation, whatever its value.
        let parent = if amount == left || kind == "Capture" {
            of(self).swap_remove(at).key
        } else {
            let open = &mut of(self)[at];
            open.left -= amount;
            open.key.clone()
        };
        let parameters = vec![("transactionKey", parent.clone()), ("transactionValue", amount.to_string())];
        Write { method, parameters, kind, amount, reference: None, parent: Some(parent), declined: false }
    }

    fn acknowledge(&mut self, write: Write, reply: &Reply) {
        let status = text(&reply.body, "transactionStatusCode");
        let as_expected = (status == "600") != write.declined;
        assert!(reply.status == 200 && as_expected, "{write:?}: {reply:?}");
        let key = text(&reply.body, "transactionKey");
        let open = Open { key: key.clone(), left: write.amount };
        match write.kind {
            "PreAuth" => self.reserved.push(open),
            "Auth" | "Capture" if !write.declined => self.debited.push(open),
            _ => {}
        }
        self.acknowledged.push(Acknowledged { write, key, status });
    }
}

impl Acknowledged {
    /// What is wrong with it now, by its key and by its reference.
    fn missing(&self, caller: &mut Caller) -> Option<String> {
        let mut ways = vec![("transactionKey", &self.key)];
        ways.extend(self.write.reference.iter().map(|reference| ("uniqueMerchantReference", reference)));
        ways.into_iter().find_map(|(name, value)| {
            let found = caller.lookup(name, value);
            let as_acknowledged = matches!(found.as_slice(), [one] if self.is(one));
            (!as_acknowledged).then(|| format!("{self:?} by {name}: {found:?}"))
        })
    }

    fn is(&self, shown: &Value) -> bool {
        let (write, empty) = (&self.write, String::new());
        text(shown, "transactionKey") == self.key
            && text(shown, "transactionStatusCode") == self.status
            && text(shown, "transactionType") == write.kind
            && text(shown, "transactionValue") == write.amount.to_string()
            && text(shown, "uniqueMerchantReference") == *write.reference.as_ref().unwrap_or(&empty)
            && text(shown, "originalTransactionKey") == *write.parent.as_ref().unwrap_or(&empty)
    }
}

/// A member that may be left out.
pub(crate) fn text(object: &Value, name: &str) -> String {
    object[name].as_str().unwrap_or_default().to_owned()
}

/// The parameters of a card.
pub(crate) fn card(number: &str) -> [(&'static str, String); 3] {
    [("cardNumber", number.to_owned()), ("cardExpiryMonth", "12".to_owned()), ("cardExpiryYear", "49".to_owned())]
}

/// A card key that was made from a payment.
pub(crate) fn card_key(caller: &mut Caller) -> String {
    let mut first = Writer::new(0, Dice::new(0), "").payment("transaction/auth", "Auth", &card(APPROVED_CARD), false);
    first.parameters.retain(|(name, _)| *name != "uniqueMerchantReference");
    let paid = caller.call(first.method, &first.parameters);
    let key = text(&paid.body, "transactionKey");
    let token = caller.call("token/tokeniseTransactionKey", &[("transactionKey", key)]);
    assert_eq!(token.status, 200, "{token:?}");
    let key = text(&token.body["cardKeyDetails"]["0"], "cardKey");
    assert!(!key.is_empty(), "{token:?}");
    key
}
