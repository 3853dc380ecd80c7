"""What accounts may do, and that nothing of one is visible to, usable by or guessable from another.

Sources: spec 1 §1 and §8, spec 2 §1.2, A54, A56, A102.
"""

from checks import Walk
from shop import (
    ERROR,
    card,
    form,
    fresh,
    order,
    paid,
    post,
    posted,
    preauthorised,
    session,
    token,
    tokenised,
    transactions,
)

walk = Walk()


# spec: 1 §1, A102
@walk.in_both
def raw_cards_need_permission(sandbox, encoding):
    strict = sandbox.account("strict", encoding)
    sandbox.same((strict.facts["rawCards"], strict.facts["accountUpdater"]), (False, False), "what strict may do")
    for method in ["transaction/auth", "transaction/preauth"]:
        reply = strict.call(method, **card(sandbox.card("approved")), **order())
        sandbox.refused(reply, 403, "106", f"{method} by strict")
    reference = fresh()
    reply = strict.call("transaction/auth", **card("4"), **order(), uniqueMerchantReference=reference)
    sandbox.refused(reply, 403, "106", "whatever the card")
    sandbox.same(transactions(strict, uniqueMerchantReference=reference), [], "nothing was made")


# spec: 1 §1, A102
@walk.in_both
def everything_else_is_open_to_every_account(sandbox, encoding):
    strict = sandbox.account("strict", encoding)
    key = posted(sandbox, strict)
    payment = sandbox.approved(
        strict.call("transaction/authSessionKey", sessionKey=key, **order()), "Auth", "a session"
    )
    stored = tokenised(sandbox, strict)
    sandbox.approved(strict.call("transaction/authCardKey", cardKey=stored, **order()), "Auth", "a token")
    sandbox.approved(strict.call("transaction/refund", transactionKey=payment), "Refund", "a refund")
    sandbox.same(transactions(strict, transactionKey=payment)[0]["transactionKey"], payment, "a lookup")
    reply = strict.call("transaction/authCardKey", cardKey=stored, **order(currency="EUR"))
    sandbox.refused(reply, 400, "111", "a currency that another account has")
    main_terminal = sandbox.merchants["main"]["terminals"][0]
    reply = strict.call("transaction/authCardKey", cardKey=stored, **order(), terminalKey=main_terminal)
    sandbox.refused(reply, 400, "957", "a terminal of another account")
    sandbox.service.advance(60)


# spec: 1 §8, A54; codes SandboxErrorCode 936
@walk.in_both
def strict_has_a_hundred_requests_a_minute(sandbox, encoding):
    strict = sandbox.account("strict", encoding)
    sandbox.service.advance(60)
    for number in range(50):
        sandbox.same(strict.call("session/initiate", errorPageUrl=ERROR).error, (200, None), f"request {number}")
    sandbox.service.advance(30)
    for number in range(50):
        sandbox.refused(strict.call("session/initiate"), 400, "133", f"request {50 + number}, refused ones count")
    # transaction/auth and the updater are not allowed either (106): the limit comes first (A51).
    for method in [
        "session/initiate",
        "token/lookup",
        "transaction/lookup",
        "transaction/auth",
        "token/retrieveAccountUpdater",
    ]:
        sandbox.refused(strict.call(method, errorPageUrl=ERROR, cardKey="a"), 403, "936", f"one more: {method} (A54)")
    main = sandbox.account("main", encoding)
    for _ in range(150):
        sandbox.same(main.call("token/lookup", cardKey="a").status, 200, "main has no limit")
    sandbox.service.advance(29)
    sandbox.refused(strict.call("token/lookup", cardKey="a"), 403, "936", "59 seconds after the first")
    sandbox.service.advance(1)
    for _ in range(50):
        sandbox.same(strict.call("token/lookup", cardKey="a").status, 200, "the first fifty are a minute old")
    sandbox.refused(strict.call("token/lookup", cardKey="a"), 403, "936", "no more than that")
    sandbox.service.advance(60)


# spec: 2 §8, A54
@walk.in_both
def what_needs_no_credentials_is_not_counted(sandbox, encoding):
    strict = sandbox.account("strict", encoding)
    key = session(strict)
    for _ in range(120):
        sandbox.same(post(strict, form(key, sandbox.card("approved"))).status, 303, "postform")
    bad = strict.signed({"errorPageUrl": ERROR}) | {"shaSignature": "0" * 128}
    # A sixth within a day would block this address (A53).
    for _ in range(5):
        sandbox.refused(strict.send("session/initiate", bad), 401, "123", "a wrong signature")
    # The session above was the first of the hundred.
    for number in range(99):
        sandbox.same(strict.call("session/initiate", errorPageUrl=ERROR).error, (200, None), f"request {number}")
    sandbox.refused(strict.call("session/initiate", errorPageUrl=ERROR), 403, "936", "the hundred and first")
    sandbox.service.advance(24 * 3600)


# spec: 2 §5, A56
@walk.in_both
def keys_of_other_accounts_are_unknown(sandbox, encoding):
    owner, thief = sandbox.account("main", encoding), sandbox.account("other", encoding)
    reference, unique, customer = fresh("m"), fresh("u"), fresh("c")
    references = {
        "merchantReference": reference,
        "uniqueMerchantReference": unique,
        "merchantCustomerReference": customer,
    }
    payment = paid(sandbox, owner, **references)
    reserved = preauthorised(sandbox, owner)
    stored = tokenised(sandbox, owner, merchantCustomerReference=customer)
    own = paid(sandbox, thief)
    open_session = posted(sandbox, owner)

    def the_same(method, code, **keys):
        """The key of another and a key of nobody get one answer, apart from the trace code."""
        stolen = thief.call(method, **keys)
        absent = thief.call(
            method,
            **{
                name: (
                    "0" * 32
                    if "transactionKey" in name or "sessionKey" in name
                    else "00000000-0000-0000-0000-0000000000000000" if name == "cardKey" else value
                )
                for name, value in keys.items()
            },
        )
        sandbox.refused(stolen, 400, code, f"{method} with a key of another")
        sandbox.same(stolen.get("errorMessage"), absent.get("errorMessage"), f"{method}: both texts (A56)")
        sandbox.same(stolen.error, absent.error, f"{method}: both errors (A56)")
        sandbox.same(stolen.header("pg-basis"), absent.header("pg-basis"), f"{method}: both grounds")

    for operation in ["refund", "capturepreauth", "cancelpreauth"]:
        for key in [payment, reserved]:
            the_same(f"transaction/{operation}", "943", transactionKey=key)
    the_same("transaction/update", "943", transactionKey=reserved, merchantReference="x")
    the_same("token/tokeniseTransactionKey", "943", transactionKey=payment)
    the_same("transaction/authSessionKey", "129", sessionKey=open_session, **order())
    for method in ["enable", "disable", "delete", "updateCardKeyDetails"]:
        the_same(f"token/{method}", "940", cardKey=stored)
        the_same(f"token/{method}", "940", cardKey=stored, merchantCustomerReference=customer)
    the_same("transaction/authCardKey", "940", cardKey=stored, **order())
    reply = thief.call("token/tokeniseTransactionKey", transactionKey=own, cardKey=stored)
    sandbox.refused(reply, 400, "940", "tokenising onto a token of another")
    for criteria in [
        {"transactionKey": payment},
        {"merchantReference": reference},
        {"uniqueMerchantReference": unique},
    ]:
        sandbox.same(transactions(thief, **criteria), [], f"lookup of another's {list(criteria)}")
        sandbox.same(len(transactions(owner, **criteria)), 1, f"the owner's lookup of {list(criteria)}")
    sandbox.same(token(thief, stored), None, "lookup of another's token")
    reply = thief.call("token/lookup", merchantCustomerReference=customer)
    sandbox.same(reply.list("cardKeyDetails", "cardKeyDetail"), [], "lookup by another's customer")
    sandbox.same(token(owner, stored)["enabled"], "1", "nothing has happened to the token")
    sandbox.approved(owner.call("transaction/capturepreauth", transactionKey=reserved), "Capture", "nor to the preauth")
    sandbox.approved(owner.call("transaction/refund", transactionKey=payment), "Refund", "nor to the payment")


# spec: 1 §2.1, A66, A131
@walk.in_both
def one_card_is_not_recognised_across_accounts(sandbox, encoding):
    identifiers = set()
    for name in ["main", "other"]:
        account = sandbox.account(name, encoding)
        identifiers.add(str(token(account, tokenised(sandbox, account))["cardUniqueIdentifier"]))
    sandbox.same(len(identifiers), 2, "identifiers of one card in two accounts (A66)")


@walk.step
def credentials_of_two_accounts_do_not_mix(sandbox):
    sandbox.service.advance(24 * 3600)
    main, other = sandbox.account("main"), sandbox.account("other")
    reply = main.call("session/initiate", errorPageUrl=ERROR, apiKey=other.api_key)
    sandbox.refused(reply, 401, "102", "the key of one with the password of another")
    mixed = main.signed({"errorPageUrl": ERROR, "apiKey": other.api_key, "apiPassword": other.api_password})
    sandbox.refused(main.send("session/initiate", mixed), 401, "123", "signed with the key of another")
    reply = main.checkout("transaction_lookup", trans_key="0" * 32, api_key=other.facts["enterpriseApiKey"])
    sandbox.same(reply.error, (401, "3"), "version 5 credentials of two accounts")
    reply = main.checkout(
        "transaction_lookup", trans_key="0" * 32, api_key=main.api_key, api_password=main.api_password
    )
    sandbox.same(reply.error, (401, "3"), "version 3 credentials in version 5")


if __name__ == "__main__":
    walk.run()
