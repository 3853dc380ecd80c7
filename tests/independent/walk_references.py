"""uniqueMerchantReference: once, whatever comes of it, also with 50 requests at a time (spec 2 §2.3, §4.3; A92)."""

from concurrent.futures import ThreadPoolExecutor

from checks import Walk
from shop import card, fresh, order, posted, preauthorised, paid, tokenised, transactions

walk = Walk()

AT_ONCE = 50


def race(sandbox, requests, reference, what):
    """Sends all of them at once: one is served, the others are refused with 950."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        replies = list(pool.map(lambda request: request(), requests))
    served = [reply for reply in replies if reply.get("transactionStatusCode")]
    refused = [reply for reply in replies if reply.error == (400, "950")]
    sandbox.same((len(served), len(refused)), (1, len(requests) - 1), f"{what}: served and refused")
    account = sandbox.account()
    found = transactions(account, uniqueMerchantReference=reference)
    keys = [one["transactionKey"] for one in found]
    sandbox.same(keys, [reply["transactionKey"] for reply in served], f"{what}: what the lookup finds")


# spec: 2 §2.3, A92
@walk.in_both
def fifty_equal_requests_pay_once(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for scenario in ["approved", "declined"]:
        reference = fresh("race")
        given = {**card(sandbox.card(scenario)), **order(), "uniqueMerchantReference": reference}
        race(sandbox, [lambda: account.call("transaction/auth", **given)] * AT_ONCE, reference, scenario)


@walk.in_both
def fifty_requests_of_all_kinds_pay_once(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reference = fresh("race")
    shared = {**order(), "uniqueMerchantReference": reference}
    raw = {**card(sandbox.card("approved")), **shared}
    stored = {"cardKey": tokenised(sandbox, account), **shared}
    session = {"sessionKey": posted(sandbox, account), **shared}
    kinds = [
        lambda: account.call("transaction/auth", **raw),
        lambda: account.call("transaction/preauth", **raw),
        lambda: account.call("transaction/authCardKey", **stored),
        lambda: account.call("transaction/authSessionKey", **session),
    ]
    race(sandbox, [kinds[n % len(kinds)] for n in range(AT_ONCE)], reference, "all kinds")


@walk.step
def fifty_different_references_pay_fifty_times(sandbox):
    account = sandbox.account()
    raw = card(sandbox.card("approved"))
    references = [fresh("each") for _ in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        replies = list(
            pool.map(
                lambda one: account.call("transaction/auth", **raw, **order(), uniqueMerchantReference=one), references
            )
        )
    keys = {sandbox.approved(reply, "Auth", "one of fifty") for reply in replies}
    sandbox.same(len(keys), AT_ONCE, "fifty payments have fifty keys")


# spec: 2 §3.2
@walk.step
def fifty_partial_operations_never_exceed(sandbox):
    """Seven times 150 do not fit into 1000, and a preauth is captured once, however many ask at once."""
    account = sandbox.account()
    for method, key, times, code in [
        ("transaction/capturepreauth", preauthorised(sandbox, account, 1000), 1, "952"),
        ("transaction/cancelpreauth", preauthorised(sandbox, account, 1000), 6, "107"),
        ("transaction/refund", paid(sandbox, account, 1000), 6, "107"),
    ]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            replies = list(
                pool.map(lambda _: account.call(method, transactionKey=key, transactionValue="150"), range(AT_ONCE))
            )
        served = sum(reply.get("transactionStatusCode") == "600" for reply in replies)
        refused = sum(reply.error == (400, code) for reply in replies)
        sandbox.same((served, refused), (times, AT_ONCE - times), f"{method} by 150 of 1000")


@walk.step
def fifty_tokens_of_one_payment_are_one(sandbox):
    account = sandbox.account()
    payment = paid(sandbox, account)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        replies = list(
            pool.map(lambda _: account.call("token/tokeniseTransactionKey", transactionKey=payment), range(AT_ONCE))
        )
    keys = {reply.list("cardKeyDetails", "cardKeyDetail")[0]["cardKey"] for reply in replies}
    sandbox.same(len(keys), 1, "tokens of one payment (A62)")


@walk.step
def fifty_updates_set_a_field_once(sandbox):
    account = sandbox.account()
    payment = paid(sandbox, account)
    wanted = [fresh() for _ in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        replies = list(
            pool.map(
                lambda one: account.call("transaction/update", transactionKey=payment, merchantReference=one), wanted
            )
        )
    served = [one for one, reply in zip(wanted, replies) if reply.data == {"result": "OK"}]
    refused = sum(reply.error == (400, "954") for reply in replies)
    sandbox.same((len(served), refused), (1, AT_ONCE - 1), "one sets it, the others are refused (A98)")
    sandbox.same([transactions(account, transactionKey=payment)[0]["merchantReference"]], served, "what is set")


@walk.in_both
def a_reference_is_used_up_by_what_reaches_the_bank(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    good = card(sandbox.card("approved"))
    for scenario in ["approved", "declined", "insufficient-funds", "no-response", "no-response-charged"]:
        reference = fresh()
        account.call("transaction/auth", **card(sandbox.card(scenario)), **order(), uniqueMerchantReference=reference)
        reply = account.call("transaction/auth", **good, **order(), uniqueMerchantReference=reference)
        sandbox.refused(reply, 400, "950", f"after {scenario}")
        reply = account.call("transaction/preauth", **good, **order(5), uniqueMerchantReference=reference)
        sandbox.refused(reply, 400, "950", f"by another method and amount after {scenario}")


@walk.in_both
def a_reference_is_used_up_by_the_first_request_with_credentials(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    good = card(sandbox.card("approved"))
    for method, given, code, used_up in [
        ("transaction/auth", {**good, "cardNumber": "4000000000001001"}, "108", True),
        ("transaction/auth", {**good, "cardExpiryMonth": "13"}, "109", True),
        ("transaction/auth", {**good, "itemPrice0": "0"}, "107", True),
        ("transaction/auth", {**good, "currency": "XXX"}, "111", True),
        ("transaction/auth", {**good, "terminalKey": "none"}, "957", True),
        ("transaction/authCardKey", {"cardKey": "unknown"}, "940", True),
        ("transaction/authSessionKey", {"sessionKey": "unknown"}, "129", True),
        ("transaction/auth", {**good, "apiPassword": "wrong"}, "102", False),
        ("transaction/auth", {**good, "shaSignature": "0" * 128}, "123", False),
    ]:
        shared = {**order(), "uniqueMerchantReference": fresh()}
        reply = account.call(method, **{**shared, **given})
        sandbox.same(reply.get("errorCode"), code, f"{method} with {given}")
        again = account.call("transaction/auth", **good, **shared)
        if used_up:
            sandbox.refused(again, 400, "950", f"after {code} (A92)")
        else:
            sandbox.approved(again, "Auth", f"after {code} the reference is free (A92)")


@walk.in_both
def references_are_compared_exactly(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    good = card(sandbox.card("approved"))
    reference = fresh("Case")
    variants = [reference.lower(), reference + " ", " " + reference, reference + "é", reference + "e\u0301"]
    for one in [reference, *variants]:
        reply = account.call("transaction/auth", **good, **order(), uniqueMerchantReference=one)
        sandbox.approved(reply, "Auth", f"reference {one!r}")
    for _ in range(2):
        reply = account.call("transaction/auth", **good, **order(), uniqueMerchantReference="")
        sandbox.approved(reply, "Auth", "an empty reference is none")
    sandbox.service.advance(400 * 24 * 3600)
    reply = account.call("transaction/auth", **good, **order(), uniqueMerchantReference=reference)
    sandbox.refused(reply, 400, "950", "a year later")
    other = sandbox.account("other", encoding)
    reply = other.call("transaction/auth", **good, **order(), uniqueMerchantReference=reference)
    sandbox.approved(reply, "Auth", "another account has its own references")


if __name__ == "__main__":
    walk.run()
