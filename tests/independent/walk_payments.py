"""New payments by raw card, card key and session: parameters, amounts, outcomes (spec 2 §2.3, §3.2, §4.3, §4.4)."""

from checks import Walk
from shop import card, fresh, order, posted, tokenised, transactions

walk = Walk()

METHODS = {"transaction/auth": "Auth", "transaction/preauth": "PreAuth"}


# spec: 2 §3.2 Transitions: auth, authCardKey, authSessionKey and auth3DSecure create an accepted Auth with status 600
#   in one request.
# spec: 2 §1.2; 2 §2.3; method transaction/auth; method transaction/authCardKey
@walk.in_both
def every_way_to_pay_is_approved(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    for method, kind in METHODS.items():
        reply = account.call(method, **card(number), **order())
        sandbox.approved(reply, kind, method)
        sandbox.holds(
            all(name.startswith(("transaction", "bank")) for name in reply.data), f"{method}: fields", list(reply.data)
        )
        sandbox.holds(reply.get("bankAuthCode"), f"{method}: bankAuthCode", reply)
    key = tokenised(sandbox, account)
    sandbox.approved(account.call("transaction/authCardKey", cardKey=key, **order()), "Auth", "authCardKey")
    reply = account.call("transaction/authCardKey", cardKey=key, cardCV2="123", **order())
    sandbox.approved(reply, "Auth", "authCardKey with CV2")
    reply = account.call("transaction/authSessionKey", sessionKey=posted(sandbox, account), **order())
    sandbox.approved(reply, "Auth", "authSessionKey")


# spec: 2 §4.3, A24
@walk.in_both
def every_documented_parameter_is_accepted(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    unique, merchant, customer = fresh("unique"), fresh("merchant"), fresh("customer")
    reply = account.call(
        "transaction/auth",
        **card(sandbox.card("approved"), cardExpiryYear="49", cardholderName="Zoë O'Neill-Smith"),
        currency="EUR",
        itemName0="n" * 64,
        itemPrice0="150",
        itemQuantity0="3",
        itemReference0="r" * 32,
        itemName1="é" * 64,
        itemPrice1="50",
        merchantReference=merchant,
        uniqueMerchantReference=unique,
        merchantCustomerReference=customer,
        terminalKey=sandbox.merchants["main"]["terminals"][0],
        mccAccountIdentifier="12345678",
        mccSurname="Smith",
        mccPostcode="AB1 2CD",
        mccDateOfBirth="19700131",
    )
    key = sandbox.approved(reply, "Auth", "all parameters")
    for criteria in [{"transactionKey": key}, {"merchantReference": merchant}, {"uniqueMerchantReference": unique}]:
        found = transactions(account, **criteria)
        sandbox.same(len(found), 1, f"found by {criteria}")
        expected = {
            "transactionKey": key,
            "transactionStatusCode": "600",
            "transactionType": "Auth",
            "currency": "EUR",
            "transactionValue": "500",
            "merchantReference": merchant,
            "uniqueMerchantReference": unique,
            "merchantCustomerReference": customer,
        }
        sandbox.same({name: found[0].get(name) for name in expected}, expected, f"the record by {criteria}")
        for name, value in reply.data.items():
            sandbox.same(found[0].get(name), value, f"the record repeats {name}")
        sandbox.matches(found[0].get("createdOn"), r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", "createdOn (A21)")


# spec: 2 §4.3
@walk.in_both
def amounts_are_whole_numbers_of_the_smallest_unit(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    raw = card(sandbox.card("approved"))
    for price in ["", "-1", "+1", "1.5", "1,5", "abc", " 1", "1e3", "0", "٣", "9" * 30, "1000000000000"]:
        reply = account.call("transaction/auth", **raw, currency="GBP", itemName0="Tea", itemPrice0=price)
        sandbox.refused(reply, 400, "107", f"itemPrice {price!r}")
    for quantity in ["", "0", "-1", "1.5", "x", "9" * 30]:
        reply = account.call("transaction/auth", **raw, **order(itemQuantity0=quantity))
        sandbox.refused(reply, 400, "107", f"itemQuantity {quantity!r}")
    overflow = {"itemName0": "a", "itemPrice0": "9" * 18, "itemQuantity0": "9" * 9}
    sandbox.refused(account.call("transaction/auth", **raw, currency="GBP", **overflow), 400, "107", "an overflow")
    sandbox.refused(account.call("transaction/auth", **raw, currency="GBP"), 400, "107", "no items (A90)")
    for items, total in [
        ({"itemPrice0": "999999999999"}, "999999999999"),
        ({"itemPrice0": "1"}, "1"),
        ({"itemPrice0": "007"}, "7"),
        ({"itemPrice0": "3", "itemQuantity0": "7", "itemName1": "b", "itemPrice1": "4"}, "25"),
        ({"itemPrice0": "0", "itemName1": "b", "itemPrice1": "4"}, "4"),
    ]:
        reply = account.call("transaction/auth", **raw, currency="GBP", itemName0="a", **items)
        key = sandbox.approved(reply, "Auth", f"{items}")
        sandbox.same(transactions(account, transactionKey=key)[0]["transactionValue"], total, f"total of {items}")
    for currency in sandbox.merchants["main"]["currencies"]:
        key = account.call("transaction/auth", **raw, **order(1234, currency))["transactionKey"]
        record = transactions(account, transactionKey=key)[0]
        sandbox.same((record["currency"], record["transactionValue"]), (currency, "1234"), currency)


# spec: 2 §4.3, A19; codes ErrorCode 111 120
@walk.in_both
def currencies_must_be_enabled(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    raw = {**card(sandbox.card("approved")), "itemName0": "Tea", "itemPrice0": "100"}
    sandbox.refused(account.call("transaction/auth", **raw), 400, "120", "no currency")
    sandbox.refused(account.call("transaction/auth", **raw, currency=""), 400, "120", "an empty currency")
    for currency in ["SEK", "XXX", "gbp", "GB", "GBPP", "826", "£££"]:
        sandbox.refused(account.call("transaction/auth", **raw, currency=currency), 400, "111", currency)


# spec: 2 §4.3, A05, A12
@walk.in_both
def raw_cards_are_checked(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    good = sandbox.card("approved")
    for method in METHODS:
        for change, code in [
            ({"cardNumber": None}, "108"),
            ({"cardNumber": ""}, "108"),
            ({"cardNumber": "400000000002"}, "108"),
            ({"cardNumber": "4000-0000-0000-1000"}, "108"),
            ({"cardNumber": good[:-1] + "1"}, "108"),
            ({"cardNumber": "4" * 20}, "108"),
            ({"cardNumber": "٤" * 16}, "108"),
            ({"cardExpiryMonth": None}, "109"),
            ({"cardExpiryYear": None}, "109"),
            ({"cardExpiryMonth": "13"}, "109"),
            ({"cardExpiryMonth": "00"}, "109"),
            ({"cardExpiryMonth": "1"}, "109"),
            ({"cardExpiryYear": "20"}, "109"),
            ({"cardExpiryYear": "x9"}, "109"),
            ({"cardCV2": "12"}, "110"),
            ({"cardCV2": "12345"}, "110"),
            ({"cardCV2": "abc"}, "110"),
        ]:
            reply = account.call(method, **{**card(good), **change}, **order())
            sandbox.refused(reply, 400, code, f"{method} with {change}")
    for change in [{"cardCV2": None}, {"cardCV2": ""}, {"cardCV2": "1234"}, {"cardholderName": ""}]:
        reply = account.call("transaction/auth", **{**card(good), **change}, **order())
        sandbox.approved(reply, "Auth", f"auth with {change}")
    for known in sandbox.cards:
        if known["scenario"] == "approved":
            reply = account.call("transaction/auth", **card(known["number"]), **order())
            sandbox.approved(reply, "Auth", known["scheme"])


# spec: 2 §4.3, A10, A104
@walk.in_both
def a_card_is_good_to_the_end_of_its_month(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    raw = card(sandbox.card("approved"), cardExpiryMonth="02", cardExpiryYear="28")
    sandbox.service.post_json("/_sandbox/clock", {"set": "2028-02-29T23:59:59Z"})
    sandbox.approved(account.call("transaction/auth", **raw, **order()), "Auth", "the last second of the month")
    sandbox.service.advance(1)
    sandbox.refused(account.call("transaction/auth", **raw, **order()), 400, "109", "the first of the next")


# spec: 2 §8
@walk.in_both
def lengths_are_limits(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    raw = card(sandbox.card("approved"))
    for name, length, code in [
        ("itemReference0", 32, "937"),
        ("merchantReference", 32, "125"),
        ("merchantCustomerReference", 45, "125"),
        ("uniqueMerchantReference", 128, "125"),
    ]:
        fits = fresh().ljust(length, "é")
        sandbox.approved(account.call("transaction/auth", **raw, **order(), **{name: fits}), "Auth", f"{name} fits")
        reply = account.call("transaction/auth", **raw, **order(), **{name: fits + "x"})
        sandbox.refused(reply, 400, code, f"{name} is too long")
    reply = account.call("transaction/auth", **raw, currency="GBP", itemName0="n" * 65, itemPrice0="1")
    sandbox.refused(reply, 400, "937", "itemName0 is too long")
    reply = account.call("transaction/auth", **raw, currency="GBP", itemPrice0="1")
    sandbox.refused(reply, 400, "938", "an item without a name (A05)")
    reply = account.call("transaction/auth", **raw, **order(), itemName2="gap", itemPrice2="1")
    sandbox.refused(reply, 400, "937", "an item after a gap (A14)")
    for name in ["itemPrice00", "itemName01", "itemQuantity1000000"]:
        reply = account.call("transaction/auth", **raw, **order(), **{name: "1"})
        sandbox.refused(reply, 400, "937", f"{name}, which would be left out of the sum (A14)")
    reply = account.call("transaction/auth", **raw, **order(), mccDateOfBirth="31011970")
    sandbox.refused(reply, 400, "937", "a date of birth that is none")
    reply = account.call("transaction/auth", **raw, **order(), terminalKey="nowhere")
    sandbox.refused(reply, 400, "957", "an unknown terminal (A91)")


# spec: 2 §4.3, A87, A89
@walk.in_both
def declines_are_answers_and_no_errors(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for scenario, code, bank in [("declined", "901", "05"), ("insufficient-funds", "902", "51")]:
        for method, kind in METHODS.items():
            reply = account.call(method, **card(sandbox.card(scenario)), **order())
            sandbox.same(reply.status, 200, f"{method} {scenario}")
            shown = (reply.get("transactionStatusCode"), reply.get("transactionType"), reply.get("bankResponseCode"))
            sandbox.same(shown, (code, kind, bank), f"{method} {scenario} (A87, A89)")
            sandbox.holds("bankAuthCode" not in reply.data, f"{method} {scenario}: no bankAuthCode", reply)
            key = reply["transactionKey"]
            sandbox.same(transactions(account, transactionKey=key)[0]["transactionStatusCode"], code, "its record")
            for operation in ["refund", "capturepreauth", "cancelpreauth"]:
                reply = account.call(f"transaction/{operation}", transactionKey=key)
                sandbox.refused(reply, 400, "951", f"{operation} of a declined {kind} (A95)")
            reply = account.call("token/tokeniseTransactionKey", transactionKey=key)
            sandbox.refused(reply, 400, "944", "a token of a declined payment (A63)")
    reference = fresh()
    raw = card(sandbox.card("no-response"))
    reply = account.call("transaction/auth", **raw, **order(), uniqueMerchantReference=reference)
    sandbox.refused(reply, 400, "119", "a bank that does not answer")
    sandbox.same(transactions(account, uniqueMerchantReference=reference), [], "it leaves no transaction (A93)")


@walk.in_both
def stored_cards_that_expire_are_declined(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    sandbox.service.post_json("/_sandbox/clock", {"set": "2028-03-31T23:50:00Z"})
    short = {"cardExpiryMonth": "03", "cardExpiryYear": "28"}
    key = tokenised(sandbox, account, fields=short)
    session = posted(sandbox, account, **short)
    sandbox.service.advance(600)
    for reply in [
        account.call("transaction/authCardKey", cardKey=key, **order()),
        account.call("transaction/authSessionKey", sessionKey=session, **order()),
    ]:
        shown = (reply.status, reply.get("transactionStatusCode"), reply.get("bankResponseCode"))
        sandbox.same(shown, (200, "903", "54"), "a stored card past its expiry (A87)")


# spec: 2 §4.4, A103, A58
@walk.in_both
def the_customer_reference_validates_the_card_key(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    key = tokenised(sandbox, account, merchantCustomerReference="Ada")
    pay = "transaction/authCardKey"
    reply = account.call(pay, cardKey=key, merchantCustomerReference="Ada", **order())
    sandbox.approved(reply, "Auth", "the right customer")
    for wrong in ["ada", "Bob"]:
        reply = account.call(pay, cardKey=key, merchantCustomerReference=wrong, **order())
        sandbox.refused(reply, 400, "941", f"customer {wrong} (A58)")
    paid = account.call(pay, cardKey=key, **order())
    record = transactions(account, transactionKey=paid["transactionKey"])[0]
    sandbox.same(record.get("merchantCustomerReference"), "Ada", "the token's customer (A103)")
    sandbox.refused(account.call(pay, **order()), 400, "938", "no card key")
    sandbox.refused(account.call(pay, cardKey="nothing", **order()), 400, "940", "an unknown card key")


# spec: 1 §4.7, A130: No method makes a token from raw card details.
# spec: 2 §4.4, A130: Methods without a documented path do not exist; the SDK can call any path.
@walk.step
def methods_without_a_shown_path_do_not_exist(sandbox):
    account = sandbox.account()
    for method in ["preauthCardKey", "preauthSessionKey", "initiate3DSecure"]:
        reply = account.call(f"transaction/{method}", **card(sandbox.card("approved")), **order())
        sandbox.refused(reply, 400, "103", f"{method} (A130)")


if __name__ == "__main__":
    walk.run()
