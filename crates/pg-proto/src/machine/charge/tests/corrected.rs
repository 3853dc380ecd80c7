//! A dialect or a rule that was corrected between two runs.

use super::*;

#[test]
fn what_an_earlier_dialect_said_of_a_refusal_does_not_count_after_its_correction() {
    let speaking = |scope| {
        let mut dialect = (*crate::spoken::sandbox()).clone();
        let mut entry = pg_model::dialect::ErrorEntry::new("777", 141);
        entry.remedy = Some(pg_model::Remedy::FixRequest);
        entry.scope = scope;
        dialect.errors.push(entry);
        account().with_dialect(dialect)
    };
    let wrong = speaking(Some(RefusalScope::Always));
    let begun = Drive::of(Charge::new(wrong, request(), ChargeBounds::default()).unwrap(), NOW).sends("auth");
    let drive = begun.then(Event::Failed(Failure::MaybeSent)).pauses(0).then(ok(EMPTY)).sends("auth");
    let drive = drive.then(refused("777")).sends("lookup");
    let saved = SavedState::from_text(drive.charge.save().text());
    let resumed = Charge::resume(&saved, speaking(None), None).unwrap();
    let why = Drive::of(resumed, drive.now).sends("lookup").then(ok(EMPTY)).doubts();
    assert!(matches!(why, UnknownReason::Refused(_)), "{why}");
}

/// An earlier version accepted currencies in small letters.
#[test]
fn a_charge_is_looked_up_although_its_request_breaks_a_newer_rule() {
    let drive = Drive::begin(ChargeBounds::default()).sends("auth").then(Event::Failed(Failure::MaybeSent)).pauses(0);
    let saved = drive.sends("lookup").charge.save().text().replace("GBP", "gbp");
    let order = Order::new("gbp").item(Item::new("Tea", 499).quantity(2)).unique_merchant_reference("order-7");
    let request = Auth::new(CardDetails::new(PAN, "12", "30").cv2(CV2), order);
    let resumed = Charge::resume(&SavedState::from_text(saved), account(), Some(request)).unwrap();
    let paid = list(&[transaction("600")]);
    assert!(matches!(Drive::of(resumed, NOW).sends("lookup").then(ok(&paid)).ends(), ChargeOutcome::Approved(_)));
}
