"""What can be done to a transaction: capture, cancel, refund, update, lookup (spec 2 §3.2, §4.4)."""

import itertools

from checks import Walk
from shop import fresh, paid, preauthorised, transactions

walk = Walk()

DAY = 24 * 3600
CAPTURE, CANCEL, REFUND = "transaction/capturepreauth", "transaction/cancelpreauth", "transaction/refund"
UPDATE = "transaction/update"


def value_of(account, key):
    return transactions(account, transactionKey=key)[0]["transactionValue"]


# spec: method transaction/preauth; method transaction/capturepreauth
@walk.in_both
def a_capture_without_a_value_takes_all(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reserved = preauthorised(sandbox, account, 1000)
    captured = sandbox.approved(account.call(CAPTURE, transactionKey=reserved), "Capture", "capture of all")
    sandbox.same(value_of(account, captured), "1000", "its value")
    record = transactions(account, transactionKey=captured)[0]
    sandbox.same((record["currency"], record["originalTransactionKey"]), ("GBP", reserved), "its origin (A21)")
    for operation in [CAPTURE, CANCEL]:
        sandbox.refused(account.call(operation, transactionKey=reserved), 400, "952", f"{operation} afterwards (A96)")
        reply = account.call(operation, transactionKey=reserved, transactionValue="1")
        sandbox.refused(reply, 400, "952", f"{operation} of 1 afterwards (A96)")


# spec: 2 §3.2, A96
@walk.in_both
def a_smaller_capture_leaves_the_rest_reserved(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reserved = preauthorised(sandbox, account, 1000)
    for value in ["1001", "2000", "0", "-1", "1.0", "x", "9" * 25]:
        reply = account.call(CAPTURE, transactionKey=reserved, transactionValue=value)
        sandbox.refused(reply, 400, "107", f"capture of {value} of 1000")
    sandbox.approved(account.call(CANCEL, transactionKey=reserved, transactionValue="100"), "CancelPreAuth", "100")
    sandbox.refused(account.call(CANCEL, transactionKey=reserved, transactionValue="901"), 400, "107", "901 of 900")
    sandbox.refused(account.call(CAPTURE, transactionKey=reserved, transactionValue="901"), 400, "107", "901 of 900")
    part = sandbox.approved(account.call(CAPTURE, transactionKey=reserved, transactionValue="400"), "Capture", "400")
    sandbox.same(value_of(account, part), "400", "its value")
    for operation in [CAPTURE, CANCEL]:
        reply = account.call(operation, transactionKey=reserved, transactionValue="1")
        sandbox.refused(reply, 400, "952", f"{operation} of the rest, which the bank releases (A96)")


# spec: 2 §3.2, A96; method transaction/cancelpreauth
@walk.in_both
def a_cancellation_releases_the_rest(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reserved = preauthorised(sandbox, account, 1000)
    cancelled = sandbox.approved(account.call(CANCEL, transactionKey=reserved), "CancelPreAuth", "cancel of all")
    sandbox.same(value_of(account, cancelled), "1000", "its value")
    sandbox.refused(account.call(CAPTURE, transactionKey=reserved), 400, "952", "capture after cancelling")
    for key in [reserved, cancelled]:
        sandbox.refused(account.call(REFUND, transactionKey=key), 400, "951", "refund of what was never debited")


# spec: 2 §4.4
@walk.in_both
def an_empty_value_is_refused_and_an_omitted_one_is_all(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reserved = preauthorised(sandbox, account, 1000)
    reply = account.call(CAPTURE, transactionKey=reserved, transactionValue="")
    sandbox.refused(reply, 400, "107", "an empty transactionValue (A151)")
    captured = sandbox.approved(account.call(CAPTURE, transactionKey=reserved), "Capture", "none")
    sandbox.same(value_of(account, captured), "1000", "no transactionValue")


# spec: 2 §3.2, A96
@walk.in_both
def reservations_end_by_themselves(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reserved, late = (preauthorised(sandbox, account, 1000) for _ in range(2))
    sandbox.service.advance(5 * DAY - 1)
    sandbox.approved(account.call(CAPTURE, transactionKey=reserved, transactionValue="1"), "Capture", "the last second")
    sandbox.service.advance(1)
    for operation in [CAPTURE, CANCEL]:
        sandbox.refused(account.call(operation, transactionKey=late), 400, "952", f"{operation} too late (A96)")


# spec: 2 §3.2, A97; method transaction/refund
@walk.in_both
def refunds_never_exceed_the_original(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    charged = paid(sandbox, account, 1000)
    for value in ["1001", "0", "-1", "0.5", "all"]:
        reply = account.call(REFUND, transactionKey=charged, transactionValue=value)
        sandbox.refused(reply, 400, "107", f"refund of {value} of 1000")
    refunded = sandbox.approved(account.call(REFUND, transactionKey=charged, transactionValue="300"), "Refund", "300")
    sandbox.refused(account.call(REFUND, transactionKey=charged, transactionValue="701"), 400, "107", "701 of 700")
    rest = sandbox.approved(account.call(REFUND, transactionKey=charged), "Refund", "the rest")
    sandbox.same(value_of(account, rest), "700", "what was left (A97)")
    sandbox.refused(account.call(REFUND, transactionKey=charged), 400, "953", "nothing left (A97)")
    sandbox.refused(account.call(REFUND, transactionKey=charged, transactionValue="1"), 400, "953", "1 of nothing")
    sandbox.refused(account.call(REFUND, transactionKey=refunded), 400, "951", "refund of a refund (A95)")


@walk.in_both
def captures_are_refunded_each_for_itself(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reserved = preauthorised(sandbox, account, 1000)
    first = account.call(CAPTURE, transactionKey=reserved, transactionValue="300")["transactionKey"]
    second = account.call(CAPTURE, transactionKey=preauthorised(sandbox, account, 700))["transactionKey"]
    sandbox.refused(account.call(REFUND, transactionKey=reserved), 400, "951", "refund of the preauth")
    sandbox.refused(account.call(REFUND, transactionKey=first, transactionValue="301"), 400, "107", "301 of 300")
    sandbox.approved(account.call(REFUND, transactionKey=first), "Refund", "the first capture")
    refund = sandbox.approved(account.call(REFUND, transactionKey=second), "Refund", "the second capture")
    sandbox.same(value_of(account, refund), "700", "its value")


# spec: 2 §3.2, A95
@walk.in_both
def operations_need_their_kind_of_transaction(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    auth = paid(sandbox, account)
    reserved = preauthorised(sandbox, account)
    captured = account.call(CAPTURE, transactionKey=reserved)["transactionKey"]
    refunded = account.call(REFUND, transactionKey=auth, transactionValue="1")["transactionKey"]
    cancelled = account.call(CANCEL, transactionKey=preauthorised(sandbox, account))["transactionKey"]
    for operation, key in itertools.product([CAPTURE, CANCEL], [auth, captured, refunded, cancelled]):
        sandbox.refused(account.call(operation, transactionKey=key), 400, "951", f"{operation} (A95)")
    for operation in [CAPTURE, CANCEL, REFUND]:
        sandbox.refused(account.call(operation), 400, "938", f"{operation} without a key")
        sandbox.refused(account.call(operation, transactionKey="0" * 32), 400, "943", f"{operation} of nothing (A57)")
        for malformed in ["0" * 31, "0" * 33, "-" * 32, "é" * 32]:
            reply = account.call(operation, transactionKey=malformed)
            sandbox.refused(reply, 400, "937", f"{operation} of {malformed} (A03)")


# spec: 2 §3.2
@walk.in_both
def any_order_of_operations_keeps_the_sums(sandbox, encoding):
    """Captures and cancellations of a preauth never exceed it, refunds never exceed their capture."""
    account = sandbox.account(encoding=encoding)
    for operations in itertools.permutations([(CAPTURE, 400), (CANCEL, 400), (CAPTURE, 300)]):
        reserved = preauthorised(sandbox, account, 1000)
        left, captured = 1000, False
        for method, value in operations:
            reply = account.call(method, transactionKey=reserved, transactionValue=str(value))
            if captured:
                sandbox.refused(reply, 400, "952", f"{method} {value} after a capture (A96)")
            elif value <= left:
                sandbox.same(reply.get("transactionStatusCode"), "600", f"{method} {value} of {left}")
                left, captured = left - value, method == CAPTURE
            else:
                sandbox.refused(reply, 400, "107", f"{method} {value} of {left}")


# spec: 2 §4.4; method transaction/update
@walk.in_both
def update_sets_what_is_not_set(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    key = paid(sandbox, account)
    for nothing in [{}, {"merchantReference": ""}, {"merchantReference": "", "merchantCustomerReference": ""}]:
        reply = account.call(UPDATE, transactionKey=key, **nothing)
        sandbox.refused(reply, 400, "955", f"update with {nothing} (A98)")
    first, customer = fresh(), fresh()
    reply = account.call(UPDATE, transactionKey=key, merchantReference=first, merchantCustomerReference="")
    sandbox.same((reply.status, reply.data), (200, {"result": "OK"}), "update of one field")
    for again in [first, "another"]:
        reply = account.call(UPDATE, transactionKey=key, merchantReference=again, merchantCustomerReference=customer)
        sandbox.refused(reply, 400, "954", "a field that has a value (A98)")
    record = transactions(account, transactionKey=key)[0]
    sandbox.same(record.get("merchantReference"), first, "the first value stays")
    sandbox.same(record.get("merchantCustomerReference") or None, None, "a rejected call writes nothing")
    reply = account.call(UPDATE, transactionKey=key, merchantReference="", merchantCustomerReference=customer)
    sandbox.same((reply.status, reply.data), (200, {"result": "OK"}), "a blank field is ignored")
    reply = account.call(UPDATE, transactionKey=key, merchantReference="x" * 33)
    sandbox.refused(reply, 400, "125", "a merchantReference that is too long")
    reply = account.call(UPDATE, transactionKey=key, merchantCustomerReference="x" * 46)
    sandbox.refused(reply, 400, "125", "a merchantCustomerReference that is too long")
    half = paid(sandbox, account)
    reply = account.call(UPDATE, transactionKey=half, merchantReference="x" * 33, merchantCustomerReference=customer)
    sandbox.same((reply.status, reply.data), (200, {"result": "OK"}), "one valid field is enough (A98)")
    sandbox.same(transactions(account, transactionKey=half)[0].get("merchantReference") or None, None, "the other")
    reply = account.call(UPDATE, transactionKey="0" * 32, merchantReference="x")
    sandbox.refused(reply, 400, "943", "an unknown transaction")
    sandbox.refused(account.call(UPDATE, merchantReference="x"), 400, "938", "no transaction")
    made_with = paid(sandbox, account, merchantReference=fresh())
    reply = account.call(UPDATE, transactionKey=made_with, merchantReference=fresh())
    sandbox.refused(reply, 400, "954", "a field that was set at creation")


# spec: 2 §2.3; 2 §4.4, A99; method transaction/lookup
@walk.in_both
def lookup_finds_transactions_created_with_the_reference(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reference, other = fresh(), fresh()
    first = paid(sandbox, account, merchantReference=reference)
    second = paid(sandbox, account, merchantReference=reference)
    third = paid(sandbox, account)
    keys = [one["transactionKey"] for one in transactions(account, merchantReference=reference)]
    sandbox.same(keys, [first, second], "both of a reference, oldest first (A21)")
    both = transactions(account, merchantReference=reference, transactionKey=second)
    sandbox.same([one["transactionKey"] for one in both], [second], "key and reference match both")
    sandbox.same(
        transactions(account, merchantReference=other, transactionKey=second), [], "one of them does not match"
    )
    account.call(UPDATE, transactionKey=third, merchantReference=other)
    sandbox.same(transactions(account, merchantReference=other), [], "a reference that came later does not find (A99)")
    sandbox.same(transactions(account, transactionKey=third)[0].get("merchantReference"), other, "but is shown")
    both = transactions(account, merchantReference=other, transactionKey=third)
    sandbox.same([one["transactionKey"] for one in both], [third], "key and recorded reference match (A99)")
    sandbox.same(transactions(account, transactionKey="0" * 32), [], "nothing found is not an error (A43)")
    sandbox.same(transactions(account, merchantReference=reference.upper()), [], "references are compared exactly")
    reply = account.call("transaction/lookup", merchantReference="x" * 33)
    sandbox.refused(reply, 400, "125", "a reference that is too long")


# spec: 2 §3.2, A94
@walk.in_both
def operations_copy_the_references_of_the_original(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reference, unique = fresh(), fresh("unique")
    reserved = preauthorised(sandbox, account, merchantReference=reference, uniqueMerchantReference=unique)
    captured = account.call(CAPTURE, transactionKey=reserved)["transactionKey"]
    refunded = account.call(REFUND, transactionKey=captured)["transactionKey"]
    keys = [one["transactionKey"] for one in transactions(account, merchantReference=reference)]
    sandbox.same(keys, [reserved, captured, refunded], "found by the merchantReference (A94)")
    keys = [one["transactionKey"] for one in transactions(account, uniqueMerchantReference=unique)]
    sandbox.same(keys, [reserved], "the unique reference is the original's alone (A94)")
    own, again = fresh("refund"), paid(sandbox, account, 1000)
    given = {"transactionKey": again, "transactionValue": "1", "uniqueMerchantReference": own}
    key = sandbox.approved(account.call(REFUND, **given), "Refund", "a refund with a reference of its own")
    sandbox.refused(account.call(REFUND, **given), 400, "950", "a second refund with it (A92)")
    keys = [one["transactionKey"] for one in transactions(account, uniqueMerchantReference=own)]
    sandbox.same(keys, [key], "found by it (A94)")
    for wrong in ["value", "amount", "transactionvalue"]:
        reply = account.call(REFUND, transactionKey=again, **{wrong: "1"})
        sandbox.refused(reply, 400, "964", f"a refund of {wrong} is not a full refund (A151)")


if __name__ == "__main__":
    walk.run()
