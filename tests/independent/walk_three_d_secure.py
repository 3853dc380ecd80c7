"""3-D Secure: initiation, the challenge, its status, the payment (spec 2 §2.5, §3.3, §4.4; A105 to A110)."""

from concurrent.futures import ThreadPoolExecutor

from checks import Walk
from pages import Browser, location
from shop import card, fresh, order, posted, tokenised, transactions

walk = Walk()

BY_SESSION = "transaction/initiate3DSecureSessionKey"
BY_CARD_KEY = "transaction/initiate3DSecureCardKey"
STATUS = "transaction/getAuthenticationStatus"
PAYMENTS = {"transaction/auth3DSecure": "Auth", "transaction/preauth3DSecure": "PreAuth"}
RETURN = "https://shop.example/back?order=7#done"
MINUTE = 60


def initiate(sandbox, account, scenario="challenge", scheme="visa", **more):
    """The reply to a good initiation by session."""
    session = posted(sandbox, account, cardNumber=sandbox.card(scenario, scheme))
    return account.call(BY_SESSION, sessionKey=session, returnUrl=RETURN, **{**order(), **more})


def answer(sandbox, initiated, outcome):
    """Presses a button of the challenge page; returns where the browser goes."""
    browser = Browser(sandbox)
    return location(browser.submit(browser.open(initiated["authenticationUrl"]), outcome=outcome))


def status(account, initiated):
    reply = account.call(STATUS, authenticationKey=initiated["authenticationKey"])
    return tuple(
        reply.get(name) for name in ["transactionStatusCode", "transactionStatus", "liabilityShift", "bankECIValue"]
    )


# spec: 2 §4.4, A105; method transaction/initiate3DSecureSessionKey
@walk.in_both
def initiation_returns_a_key_and_an_address(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    by_card_key = account.call(
        BY_CARD_KEY,
        cardKey=tokenised(sandbox, account, "challenge"),
        cardCV2="123",
        merchantReference=fresh(),
        **order(),
    )
    for reply, what in [(initiate(sandbox, account), "by session"), (by_card_key, "by card key")]:
        sandbox.same(reply.error, (200, None), what)
        shown = reply.get("transactionStatusCode"), reply.get("transactionStatus")
        sandbox.same(shown, ("607", "Success"), f"{what}: status")
        names = [
            "transactionStatusCode",
            "transactionStatus",
            "transactionType",
            "transactionKey",
            "bankECIValue",
            "authenticationKey",
            "authenticationUrl",
        ]
        sandbox.same(list(reply.data), names, f"{what}: fields")
        sandbox.matches(reply["transactionKey"], "[A-Za-z0-9]{32}", "transactionKey")
        sandbox.matches(reply["authenticationKey"], "[A-Za-z0-9]{32}", "authenticationKey")
        sandbox.matches(reply["bankECIValue"], r"\d\d", "bankECIValue")
        address = f"{sandbox.service.base_url}/3ds/{reply['authenticationKey']}"
        sandbox.same(reply["authenticationUrl"], address, "authenticationUrl (A107)")
        (check,) = transactions(account, transactionKey=reply["transactionKey"])
        sandbox.same(check["transactionType"], "3DSecureCheck", f"{what}: what is recorded")


# spec: 2 §3.3, A107, A110
@walk.in_both
def the_challenge_has_three_buttons(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    page = Browser(sandbox).open(initiate(sandbox, account)["authenticationUrl"])
    sandbox.same(page.status, 200, "the page")
    expected = [("outcome", "authenticate"), ("outcome", "fail"), ("outcome", "abandon")]
    sandbox.same(page.buttons, expected, "its buttons, in this order")
    sandbox.same(page.forms[0]["method"], "post", "its form")


# spec: method transaction/auth3DSecure
@walk.in_both
def an_authenticated_customer_pays(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for scheme, eci in [("visa", "05"), ("mastercard", "02")]:
        for method, kind in PAYMENTS.items():
            initiated = initiate(sandbox, account, scheme=scheme)
            unfinished = ("920", "Authentication pending", "N", "07" if scheme == "visa" else "00")
            sandbox.same(status(account, initiated), unfinished, "before the challenge (A106)")
            reply = account.call(method, authenticationKey=initiated["authenticationKey"])
            sandbox.refused(reply, 400, "961", "paying before the challenge (A108)")
            sandbox.same(answer(sandbox, initiated, "authenticate"), RETURN, "back to returnUrl as it was sent (A110)")
            sandbox.same(status(account, initiated), ("607", "Success", "Y", eci), "liability shifts")
            (check,) = transactions(account, transactionKey=initiated["transactionKey"])
            sandbox.same(check["transactionType"], "3DSAuthenticatedOnly", "the check (A106)")
            reply = account.call(method, authenticationKey=initiated["authenticationKey"])
            key = sandbox.approved(reply, kind, method)
            (record,) = transactions(account, transactionKey=key)
            sandbox.same((record["transactionValue"], record["currency"]), ("1000", "GBP"), "what was initiated")
            for again in PAYMENTS:
                reply = account.call(again, authenticationKey=initiated["authenticationKey"])
                sandbox.refused(reply, 400, "962", f"{again} a second time (A108)")
            if kind == "PreAuth":
                sandbox.approved(account.call("transaction/capturepreauth", transactionKey=key), "Capture", "captured")
            else:
                sandbox.approved(account.call("transaction/refund", transactionKey=key), "Refund", "refunded")


# spec: 2 §4.4, A106: getAuthenticationStatus returns code, status, transactionKey, bankECIValue and liabilityShift.
# spec: 2 §2.5, A105, A106; method transaction/getAuthenticationStatus; codes LiabilityShift Y N
@walk.in_both
def the_status_has_the_documented_fields(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    initiated = initiate(sandbox, account)
    for outcome in [None, "authenticate"]:
        if outcome:
            answer(sandbox, initiated, outcome)
        reply = account.call(STATUS, authenticationKey=initiated["authenticationKey"])
        expected = ["transactionStatusCode", "transactionStatus", "transactionKey", "bankECIValue", "liabilityShift"]
        sandbox.same(list(reply.data), expected, f"the status after {outcome}")
        sandbox.same(reply["transactionKey"], initiated["transactionKey"], "the key is that of the check")


@walk.in_both
def other_ends_of_the_challenge_are_distinct(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for outcome, code, scenario, paid in [
        ("fail", "608", "challenge", "600"),
        ("abandon", "921", "challenge", "600"),
        ("fail", "608", "challenge-required", "907"),
        ("abandon", "921", "challenge-required", "907"),
    ]:
        initiated = initiate(sandbox, account, scenario)
        sandbox.same(answer(sandbox, initiated, outcome), RETURN, f"{outcome}: back to returnUrl")
        shown = status(account, initiated)
        sandbox.same((shown[0], shown[2], shown[3]), (code, "N", "07"), f"{outcome} (A106)")
        sandbox.same(answer_again(sandbox, initiated), RETURN, f"{outcome}: visiting again leads back")
        sandbox.same(status(account, initiated), shown, f"{outcome}: and changes nothing (A110)")
        first, again = (account.call(one, authenticationKey=initiated["authenticationKey"]) for one in PAYMENTS)
        shown = first.status, first.get("transactionStatusCode")
        sandbox.same(shown, (200, paid), f"paying after {outcome} with {scenario} (A108)")
        sandbox.refused(again, 400, "962", "a second payment (A108)")


def answer_again(sandbox, initiated):
    return location(Browser(sandbox).open(initiated["authenticationUrl"]))


# spec: 2 §3.3, A107
@walk.in_both
def a_challenge_times_out(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    initiated = initiate(sandbox, account)
    sandbox.service.advance(15 * MINUTE - 1)
    sandbox.same(status(account, initiated)[0], "920", "a second before the end")
    sandbox.service.advance(1)
    sandbox.same(status(account, initiated), ("922", "Authentication timed out", "N", "07"), "15 minutes later (A107)")
    sandbox.same(answer_again(sandbox, initiated), RETURN, "the customer who comes late is sent back")
    sandbox.same(status(account, initiated)[0], "922", "and changes nothing")
    reply = account.call("transaction/auth3DSecure", authenticationKey=initiated["authenticationKey"])
    sandbox.same((reply.status, reply.get("transactionStatusCode")), (200, "600"), "paying (A108)")
    finished = initiate(sandbox, account)
    answer(sandbox, finished, "authenticate")
    sandbox.service.advance(24 * 60 * MINUTE)
    sandbox.same(status(account, finished)[0], "607", "a finished one has no further limit (A107)")


@walk.in_both
def cards_of_other_kinds(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    initiated = initiate(sandbox, account, "not-enrolled")
    sandbox.same(initiated.get("transactionStatusCode"), "607", "a card without 3-D Secure (A105)")
    sandbox.same(answer_again(sandbox, initiated), RETURN, "its customer is sent back at once")
    sandbox.same(status(account, initiated)[0::2], ("923", "N"), "its status (A106)")
    reply = account.call("transaction/auth3DSecure", authenticationKey=initiated["authenticationKey"])
    sandbox.approved(reply, "Auth", "it can be paid with")
    failed = initiate(sandbox, account, "no-response")
    shown = (failed.status, failed.get("transactionStatusCode"), failed.get("transactionStatus"))
    sandbox.same(shown, (200, "608", "Failed"), "an initiation that fails (A105)")
    sandbox.holds(
        "authenticationKey" not in failed.data and "authenticationUrl" not in failed.data,
        "key and address only after a success",
        failed,
    )
    never = initiate(sandbox, account, "challenge-failed")
    answer(sandbox, never, "authenticate")
    sandbox.same(status(account, never)[0::2], ("608", "N"), "a card whose challenge always fails")
    declined = initiate(sandbox, account, "declined")
    if status(account, declined)[0] == "920":
        answer(sandbox, declined, "authenticate")
    reply = account.call("transaction/auth3DSecure", authenticationKey=declined["authenticationKey"])
    sandbox.same((reply.status, reply.get("transactionStatusCode")), (200, "901"), "the card decides in the end")
    reply = account.call("transaction/auth3DSecure", authenticationKey=declined["authenticationKey"])
    sandbox.refused(reply, 400, "962", "a decline uses the authentication up (A108)")


@walk.in_both
def keys_and_parameters_are_checked(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for method in [STATUS, *PAYMENTS]:
        sandbox.refused(account.call(method), 400, "938", f"{method} without a key")
        sandbox.refused(
            account.call(method, authenticationKey="0" * 32), 400, "960", f"{method} of an unknown key (A107)"
        )
        sandbox.refused(account.call(method, authenticationKey="0" * 31), 400, "937", f"{method} of a short key (A03)")
    session = posted(sandbox, account, "challenge")
    good = {"sessionKey": session, "returnUrl": RETURN, **order()}
    for change, code in [
        ({"returnUrl": None}, "938"),
        ({"returnUrl": "javascript:alert(1)"}, "937"),
        ({"returnUrl": "back"}, "937"),
        ({"sessionKey": None}, "129"),
        ({"sessionKey": "x"}, "129"),
        ({"currency": "XXX"}, "111"),
        ({"itemPrice0": "0"}, "107"),
        ({"terminalKey": "x"}, "957"),
    ]:
        given = {name: value for name, value in {**good, **change}.items() if value is not None}
        sandbox.refused(account.call(BY_SESSION, **given), 400, code, f"by session with {change}")
    key = tokenised(sandbox, account, "challenge", merchantCustomerReference="Ada")
    for change, code in [
        ({"cardKey": None}, "938"),
        ({"cardKey": "x"}, "940"),
        ({"currency": None}, "120"),
        ({"merchantCustomerReference": "Bob"}, "941"),
        ({"returnUrl": "javascript:alert(1)"}, "937"),
        ({"cardCV2": "x"}, "110"),
    ]:
        given = {name: value for name, value in {"cardKey": key, **order(), **change}.items() if value is not None}
        sandbox.refused(account.call(BY_CARD_KEY, **given), 400, code, f"by card key with {change}")
    account.call("token/disable", cardKey=key)
    sandbox.refused(account.call(BY_CARD_KEY, cardKey=key, **order()), 400, "942", "a disabled token (A61)")
    sandbox.service.advance(30 * MINUTE)
    sandbox.refused(account.call(BY_SESSION, **good), 400, "136", "an expired session")
    page = sandbox.service.send("GET", f"{sandbox.service.base_url}/3ds/{'0' * 32}")
    sandbox.same(page.status, 404, "a challenge that does not exist")


@walk.in_both
def without_a_return_address_a_page_closes(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    initiated = account.call(BY_CARD_KEY, cardKey=tokenised(sandbox, account, "challenge"), **order())
    browser = Browser(sandbox)
    page = browser.submit(browser.open(initiated["authenticationUrl"]), outcome="authenticate")
    sandbox.same((page.status, page.forms), (200, []), "a closing page (A110)")
    sandbox.same(status(account, initiated)[0], "607", "the status")


@walk.in_both
def unknown_buttons_change_nothing(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    initiated = initiate(sandbox, account)
    browser = Browser(sandbox)
    page = browser.open(initiated["authenticationUrl"])
    for given in [{"outcome": "approve"}, {"outcome": ""}, {}]:
        answered = browser.submit(page, **given)
        sandbox.same(location(answered), None, f"{given} leads nowhere")
        sandbox.holds(answered.status in (200, 400), f"{given} is answered", answered)
    sandbox.same(status(account, initiated)[0], "920", "still pending")
    browser.submit(page, outcome="fail")
    sandbox.same(location(browser.submit(page, outcome="authenticate")), RETURN, "changing one's mind leads back")
    sandbox.same(status(account, initiated)[0], "608", "the first answer counts (A110)")


# spec: 2 §4.4, A07, A109
@walk.in_both
def references_go_from_the_check_to_the_payment(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    references = {
        "merchantReference": fresh(),
        "uniqueMerchantReference": fresh("unique"),
        "merchantCustomerReference": "Ada",
    }
    initiated = initiate(sandbox, account, **references)
    answer(sandbox, initiated, "authenticate")
    payment = account.call("transaction/auth3DSecure", authenticationKey=initiated["authenticationKey"])
    for name in ["merchantReference", "uniqueMerchantReference"]:
        found = transactions(account, **{name: references[name]})
        keys = [one["transactionKey"] for one in found]
        sandbox.same(keys, [initiated["transactionKey"], payment["transactionKey"]], f"found by {name} (A109)")
        for one in found:
            sandbox.same({key: one.get(key) for key in references}, references, "both have all three references")
    reply = account.call(
        "transaction/auth",
        **card(sandbox.card("approved")),
        **order(),
        uniqueMerchantReference=references["uniqueMerchantReference"],
    )
    sandbox.refused(reply, 400, "950", "the unique reference is used up (A92)")
    reply = initiate(sandbox, account, uniqueMerchantReference=references["uniqueMerchantReference"])
    sandbox.refused(reply, 400, "950", "also for another initiation")


# spec: 2 §3.3, A108
@walk.in_both
def twenty_payments_at_once_charge_once(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    initiated = initiate(sandbox, account)
    answer(sandbox, initiated, "authenticate")
    methods = list(PAYMENTS) * 10
    with ThreadPoolExecutor(20) as pool:
        replies = list(
            pool.map(lambda one: account.call(one, authenticationKey=initiated["authenticationKey"]), methods)
        )
    served = sum(reply.get("transactionStatusCode") == "600" for reply in replies)
    refused = sum(reply.error == (400, "962") for reply in replies)
    sandbox.same((served, refused), (1, 19), "one pays, the others are refused")


@walk.in_both
def keys_of_another_account_do_not_exist(sandbox, encoding):
    account, other = sandbox.account(encoding=encoding), sandbox.account("other", encoding)
    initiated = initiate(sandbox, account)
    answer(sandbox, initiated, "authenticate")
    for method in [STATUS, *PAYMENTS]:
        reply = other.call(method, authenticationKey=initiated["authenticationKey"])
        sandbox.refused(reply, 400, "960", f"{method} by another account (A56)")
    check = initiated["transactionKey"]
    for operation in ["refund", "capturepreauth", "cancelpreauth"]:
        sandbox.refused(
            account.call(f"transaction/{operation}", transactionKey=check), 400, "951", f"{operation} of a check"
        )
    sandbox.refused(
        account.call("token/tokeniseTransactionKey", transactionKey=check), 400, "944", "a token of a check"
    )
    strict = sandbox.account("strict", encoding)
    sandbox.same(initiate(sandbox, strict).get("transactionStatusCode"), "607", "open to every account (A102)")


if __name__ == "__main__":
    walk.run()
