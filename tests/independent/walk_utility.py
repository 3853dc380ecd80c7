"""What version 5 does with earlier transactions, and its utilities (spec 3 §2.2 to §2.4, §3.2, §4.2 to §4.8)."""

from checks import Walk
from shop import card, order, paid, posted, preauthorised, transactions

walk = Walk()

DAY = 24 * 3600


def approved(sandbox, reply, kind, action, value, what):
    """A transaction result (spec 3 §2.2)."""
    names = ["trans_type", "trans_value", "prev_trans_key", "system_action", "status", "trans_key"]
    shown = {name: reply.get(name) for name in ["trans_type", "trans_value", "system_action", "status"]}
    expected = {"trans_type": kind, "trans_value": value, "system_action": action, "status": "1"}
    sandbox.same((reply.status, shown), (200, expected), what)
    sandbox.holds(set(names) <= set(reply.data), f"{what}: fields", list(reply.data))
    sandbox.matches(reply.get("trans_key"), "[A-Za-z0-9]{32}", f"{what}: trans_key")
    return reply.get("trans_key")


# spec: 3 §2.2; 3 §4.2, A123; method enterprise/repeat
@walk.step
def earlier_cards_are_charged_again(sandbox):
    account = sandbox.account()
    original = paid(sandbox, account, 1000)
    reply = account.checkout(
        "repeat", prev_trans_key=original, trans_type="Auth", trans_value="7.5", trans_class="club"
    )
    again = approved(sandbox, reply, "auth", "REPEAT", "7.50", "repeat")
    sandbox.same((reply["prev_trans_key"], reply["trans_class"]), (original, "club"), "what is echoed")
    sandbox.matches(reply.get("auth_code"), r"\d{6}", "auth_code (A124)")
    (record,) = transactions(account, transactionKey=again)
    sandbox.same((record["transactionType"], record["transactionValue"]), ("Auth", "750"), "seen by version 3 (A100)")
    reply = account.checkout("repeat", prev_trans_key=again, trans_type="PreAuth", trans_value="3")
    reserved = approved(sandbox, reply, "preauth", "REPEAT", "3.00", "repeat as a reservation")
    reply = account.checkout("capture", prev_trans_key=reserved, trans_value="3.00")
    approved(sandbox, reply, "capture", "CAPTURE", "3.00", "its capture")
    sandbox.same("trans_class" in reply.data, False, "trans_class is echoed only when supplied")
    good = {"prev_trans_key": original, "trans_type": "Auth", "trans_value": "1"}
    for change, code in [
        ({"prev_trans_key": None}, "938"),
        ({"prev_trans_key": "0" * 32}, "943"),
        ({"trans_type": None}, "938"),
        ({"trans_type": "Refund"}, "937"),
        ({"trans_value": None}, "107"),
        ({"trans_value": "0"}, "107"),
        ({"trans_value": "1.001"}, "107"),
        ({"trans_value": "-1"}, "107"),
        ({"trans_value": "1,5"}, "107"),
        ({"trans_class": "x" * 33}, "937"),
    ]:
        reply = account.checkout("repeat", **{**good, **change})
        sandbox.refused_by_checkout(reply, 400, code, f"repeat with {change}")
    session = posted(sandbox, account, "declined")
    declined = account.call("transaction/authSessionKey", sessionKey=session, **order())["transactionKey"]
    reply = account.checkout("repeat", **{**good, "prev_trans_key": declined})
    sandbox.refused_by_checkout(reply, 400, "951", "repeat of a decline (A123)")
    reply = sandbox.account("other").checkout("repeat", **good)
    sandbox.refused_by_checkout(reply, 400, "943", "repeat of another account's payment")


# spec: 3 §7, A113: status shows success or failure.
# spec: 3 §2.2, A113, A124
@walk.step
def a_repeat_may_be_declined(sandbox):
    """A card that expires between two payments: status 0, a key, and no auth_code (A113)."""
    account = sandbox.account()
    sandbox.service.post_json("/_sandbox/clock", {"set": "2030-05-31T12:00:00Z"})
    raw = card(sandbox.card("approved"), cardExpiryMonth="05", cardExpiryYear="30")
    original = account.call("transaction/auth", **raw, **order())["transactionKey"]
    sandbox.service.advance(DAY)
    reply = account.checkout("repeat", prev_trans_key=original, trans_type="Auth", trans_value="1")
    sandbox.same((reply.status, reply.get("status"), "auth_code" in reply.data), (200, "0", True), "declined")
    lookup = account.checkout("transaction_lookup", trans_key=reply["trans_key"])
    sandbox.same(lookup.get("status"), "Failed", "its status (A125)")


# spec: 3 §3.2, A97; 3 §4.3, A97; method enterprise/refund
@walk.step
def refunds_are_bounded_by_the_original(sandbox):
    account = sandbox.account()
    original = paid(sandbox, account, 1000)

    def refund(value, **more):
        return account.checkout("refund", prev_trans_key=original, trans_value=value, **more)

    for value in ["10.01", "0", "-1", "x", "1.001"]:
        sandbox.refused_by_checkout(refund(value), 400, "107", f"refund of {value} of 10.00")
    sandbox.refused_by_checkout(account.checkout("refund", prev_trans_key=original), 400, "107", "no value")
    sandbox.refused_by_checkout(refund("1", currency="EUR"), 400, "111", "another currency (A16)")
    first = approved(sandbox, refund("4", currency="GBP", trans_class="c"), "refund", "REFUND", "4.00", "a part")
    sandbox.refused_by_checkout(refund("6.01"), 400, "107", "more than what is left")
    reply = account.call("transaction/refund", transactionKey=original, transactionValue="100")
    sandbox.approved(reply, "Refund", "version 3 refunds the same payment (A100)")
    approved(sandbox, refund("5"), "refund", "REFUND", "5.00", "the rest")
    sandbox.refused_by_checkout(refund("0.01"), 400, "953", "nothing left")
    sandbox.refused_by_checkout(
        account.checkout("refund", prev_trans_key=first, trans_value="1"), 400, "951", "a refund of a refund"
    )
    lookup = account.checkout("transaction_lookup", trans_key=original)
    sandbox.same(lookup.get("status"), "Refunded", "the status of the original (A125)")


# spec: 3 §3.2; method enterprise/capture; method enterprise/cancel
@walk.step
def reservations_are_captured_and_cancelled(sandbox):
    account = sandbox.account()
    reserved = preauthorised(sandbox, account, 1000)
    for method in ["capture", "cancel"]:
        for value in ["10.01", "0", "-1", "x"]:
            reply = account.checkout(method, prev_trans_key=reserved, trans_value=value)
            sandbox.refused_by_checkout(reply, 400, "107", f"{method} of {value} of 10.00")
        sandbox.refused_by_checkout(
            account.checkout(method, prev_trans_key="0" * 32, trans_value="1"), 400, "943", f"{method} of nothing"
        )
        sandbox.refused_by_checkout(account.checkout(method, trans_value="1"), 400, "938", f"{method} without a key")
        reply = account.checkout(method, prev_trans_key=paid(sandbox, account), trans_value="1")
        sandbox.refused_by_checkout(reply, 400, "951", f"{method} of a payment")
    captured = approved(
        sandbox,
        account.checkout("capture", prev_trans_key=reserved, trans_value="4"),
        "capture",
        "CAPTURE",
        "4.00",
        "4",
    )
    released = preauthorised(sandbox, account, 1000)
    approved(
        sandbox, account.checkout("cancel", prev_trans_key=released, trans_value="1"), "cancel", "CANCEL", "1.00", "1"
    )
    for key, method in [(reserved, "capture"), (reserved, "cancel"), (released, "capture"), (released, "cancel")]:
        reply = account.checkout(method, prev_trans_key=key, trans_value="1")
        sandbox.refused_by_checkout(reply, 400, "952", f"{method} afterwards (A96)")
    approved(
        sandbox, account.checkout("refund", prev_trans_key=captured, trans_value="4"), "refund", "REFUND", "4.00", "4"
    )
    all_of_it = preauthorised(sandbox, account, 1000)
    account.checkout("cancel", prev_trans_key=all_of_it, trans_value="10")
    sandbox.same(
        account.checkout("transaction_lookup", trans_key=all_of_it).get("status"), "Cancelled", "status (A125)"
    )


# spec: 3 §4.2: Auth debits; PreAuth reserves for 10 days.
# spec: 3 §3.2, A96
@walk.step
def reservations_are_void_after_ten_days(sandbox):
    account = sandbox.account()
    original = paid(sandbox, account, 1000)
    for late, code in [(0, None), (1, "952")]:
        reply = account.checkout("repeat", prev_trans_key=original, trans_type="PreAuth", trans_value="5")
        sandbox.service.advance(10 * DAY - 1 + late)
        lookup = account.checkout("transaction_lookup", trans_key=reply["trans_key"])
        sandbox.same(lookup.get("status"), "Voided" if late else "Success", "its status (A125)")
        captured = account.checkout("capture", prev_trans_key=reply["trans_key"], trans_value="5")
        sandbox.same(captured.get("errorcode"), code, f"capture 10 days less {1 - late} seconds later")


# spec: 2 §8, A96; 3 §3.2, A100
@walk.step
def each_reservation_keeps_the_life_of_its_version(sandbox):
    """One account has one set of transactions, whichever version asks (A96, A100)."""
    account = sandbox.account()
    ours, theirs = (preauthorised(sandbox, account, 1000) for _ in range(2))
    original = paid(sandbox, account, 1000)
    long, longer = (
        account.checkout("repeat", prev_trans_key=original, trans_type="PreAuth", trans_value="5")["trans_key"]
        for _ in range(2)
    )
    sandbox.service.advance(5 * DAY)
    sandbox.refused(account.call("transaction/capturepreauth", transactionKey=ours), 400, "952", "after 5 days")
    reply = account.checkout("capture", prev_trans_key=theirs, trans_value="1")
    sandbox.refused_by_checkout(reply, 400, "952", "after 5 days, by version 5")
    sandbox.approved(account.call("transaction/capturepreauth", transactionKey=long), "Capture", "5 of 10 days")
    sandbox.service.advance(5 * DAY)
    sandbox.refused(account.call("transaction/cancelpreauth", transactionKey=longer), 400, "952", "after 10 days")


# spec: 3 §2, A13
@walk.step
def amounts_have_the_decimals_of_their_currency(sandbox):
    account = sandbox.account()
    raw = card(sandbox.card("approved"))
    for currency, minor, whole, finest, too_fine, shown in [
        ("JPY", 123456, "100", "1", "1.5", "123,456"),
        ("BHD", 1234567, "100.000", "0.001", "0.0001", "1,234.567"),
        ("GBP", 123456, "100.00", "0.01", "0.001", "1,234.56"),
        ("EUR", 123456, "100.00", "0.01", "0.001", "1.234,56"),
        ("USD", 123456, "100.00", "0.01", "0.001", "1,234.56"),
    ]:
        original = account.call("transaction/auth", **raw, **order(minor, currency))["transactionKey"]
        lookup = account.checkout("transaction_lookup", trans_key=original)
        expected = (200, "Success", shown, currency)
        sandbox.same(
            (lookup.status, *(lookup.get(name) for name in ["status", "value", "currency"])),
            expected,
            f"lookup of {currency} (spec 3 §4.8)",
        )
        reply = account.checkout("repeat", prev_trans_key=original, trans_type="Auth", trans_value="100")
        approved(sandbox, reply, "auth", "REPEAT", whole, f"100 {currency}")
        reply = account.checkout("refund", prev_trans_key=original, trans_value=finest)
        approved(sandbox, reply, "refund", "REFUND", finest, f"{finest} {currency}")
        reply = account.checkout("refund", prev_trans_key=original, trans_value=too_fine)
        sandbox.refused_by_checkout(reply, 400, "107", f"{too_fine} {currency} (A13)")


# spec: method enterprise/transaction_lookup
@walk.step
def transactions_are_looked_up(sandbox):
    account = sandbox.account()
    original = paid(sandbox, account, 100_000_000)
    reply = account.checkout("transaction_lookup", trans_key=original)
    sandbox.same(reply.get("value"), "1,000,000.00", "a million")
    sandbox.refused_by_checkout(account.checkout("transaction_lookup"), 400, "938", "no key")
    sandbox.refused_by_checkout(
        account.checkout("transaction_lookup", trans_key="0" * 32), 400, "943", "an unknown key (A125)"
    )
    sandbox.refused_by_checkout(
        account.checkout("transaction_lookup", trans_key="x" * 33), 400, "937", "a key that is too long"
    )
    sandbox.refused_by_checkout(
        sandbox.account("other").checkout("transaction_lookup", trans_key=original), 400, "943", "another's"
    )


# spec: 3 §4.6; method enterprise/sms
@walk.step
def messages_are_kept_and_not_sent(sandbox):
    account = sandbox.account()
    text = "Thanks, your order 7 & more is on its way: £5 é"
    for number, shown in [
        ("447700900123", "447700900123"),
        ("+447700900123", "447700900123"),
        ("00447700900123", "447700900123"),
    ]:
        reply = account.checkout("sms", msisdn=number, message=text)
        sandbox.same((reply.status, list(reply.data)), (200, ["sms"]), "sms")
        told = {name: reply["sms"].get(name) for name in ["msisdn", "message", "status"]}
        sandbox.same(told, {"msisdn": shown, "message": text, "status": "1"}, f"to {number}")
        sandbox.holds(reply["sms"].get("messid"), "messid", reply)
    outbox = str(sandbox.service.get_json("/_sandbox/sms"))
    sandbox.same(outbox.count("447700900123"), 3, "messages in the outbox")
    full = account.checkout("sms", msisdn="447700900123", message="é" * 160)
    sandbox.same(full.error, (200, None), "160 characters")
    for number, message, code in [
        ("447700900123", "x" * 161, "937"),
        ("447700900123", None, "938"),
        (None, "x", "938"),
        ("4" * 16, "x", "937"),
        ("call me", "x", "937"),
        ("+", "x", "937"),
    ]:
        reply = account.checkout("sms", msisdn=number, message=message)
        sandbox.refused_by_checkout(reply, 400, code, f"sms to {number} of {len(message or '')}")
    failed = account.checkout("sms", msisdn="447700900000", message="x")
    sandbox.same(
        (failed.status, failed["sms"]["status"], failed["sms"].get("messid")), (200, "0", ""), "not sent (A127)"
    )


# spec: 3 §4.7, A128; method enterprise/address
@walk.step
def british_addresses_are_found(sandbox):
    account = sandbox.account()
    for known in sandbox.service.get_json("/_sandbox/addresses"):
        for name, postcode in [
            (known["property_name"], known["postcode"]),
            (known["property_name"].lower(), known["postcode"].replace(" ", "").lower()),
        ]:
            reply = account.checkout("address", property_name=name, postcode=postcode)
            sandbox.same((reply.status, list(reply.data)), (200, ["address"]), "address")
            expected = {"status": "1", **{field: known[field] for field in ["address_1", "town", "postcode"]}}
            sandbox.same({field: reply["address"].get(field) for field in expected}, expected, f"{name}, {postcode}")
    for name, postcode, code in [
        ("999", "ZZ1 1AA", "970"),
        ("1", "ZZ99 9ZZ", "970"),
        ("1", "12345", "937"),
        ("1", None, "938"),
        (None, "ZZ1 1AA", "938"),
        ("x" * 33, "ZZ1 1AA", "937"),
    ]:
        reply = account.checkout("address", property_name=name, postcode=postcode)
        sandbox.refused_by_checkout(reply, 400, code, f"address {name}, {postcode}")


if __name__ == "__main__":
    walk.run()
