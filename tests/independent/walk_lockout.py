"""Too many failed attempts from one address (spec 1 §5, §8; 2 §7; A53), on the sandbox's own clock."""

from checks import Walk
from client import FORM, encode
from shop import ERROR, form, post, session

walk = Walk()

DAY = 24 * 3600


def attempt(account, **given):
    return account.call("session/initiate", errorPageUrl=ERROR, **given)


def fails(sandbox, account, count):
    for number in range(1, count + 1):
        reply = attempt(account, apiPassword="wrong")
        sandbox.refused(reply, 401, "102", f"failure {number}")


def blocked(sandbox, account, code):
    reply = attempt(account)
    sandbox.refused(reply, 403, code, "good credentials from a blocked address")


def works(sandbox, account, what):
    sandbox.same(attempt(account).error, (200, None), what)


# spec: 1 §5, A53; 1 §8; codes ErrorCode 121
@walk.in_both
def more_than_five_failures_block_for_a_minute(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    fails(sandbox, account, 5)
    works(sandbox, account, "after 5 failures the address is still served")
    fails(sandbox, account, 1)
    blocked(sandbox, account, "121")
    blocked(sandbox, sandbox.account("other", encoding), "121")
    sandbox.refused(attempt(account, apiPassword="wrong"), 403, "121", "bad credentials from a blocked address")
    sandbox.service.advance(59)
    blocked(sandbox, account, "121")
    sandbox.service.advance(1)
    works(sandbox, account, "a minute later")
    sandbox.service.advance(DAY)


# spec: 1 §5, A53; 1 §8; codes ErrorCode 122
@walk.in_both
def ten_failures_block_for_five_minutes(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    fails(sandbox, account, 6)
    for _ in range(3):
        sandbox.service.advance(60)
        works(sandbox, account, "a minute after each failure")
        fails(sandbox, account, 1)
        for _ in range(4):
            refused = attempt(account, apiPassword="wrong")
            sandbox.refused(refused, 403, "121", "what is refused is not a further failure (A53)")
        blocked(sandbox, account, "121")
    sandbox.service.advance(60)
    fails(sandbox, account, 1)
    blocked(sandbox, account, "122")
    sandbox.service.advance(299)
    blocked(sandbox, account, "122")
    sandbox.service.advance(1)
    works(sandbox, account, "five minutes later")
    fails(sandbox, account, 1)
    blocked(sandbox, account, "122")
    sandbox.service.advance(DAY)
    works(sandbox, account, "a day later")


# spec: 1 §5, A53
@walk.step
def failures_of_yesterday_do_not_count(sandbox):
    account = sandbox.account()
    fails(sandbox, account, 5)
    sandbox.service.advance(DAY + 1)
    fails(sandbox, account, 5)
    works(sandbox, account, "five failures today, five yesterday")
    sandbox.service.advance(DAY)


@walk.step
def unknown_keys_count_like_wrong_passwords(sandbox):
    account = sandbox.account()
    fails(sandbox, account, 3)
    for _ in range(3):
        sandbox.refused(attempt(account, apiKey="nobody"), 401, "102", "an unknown key")
    blocked(sandbox, account, "121")
    sandbox.service.advance(DAY)


# spec: 2 §5
@walk.step
def the_block_covers_calls_with_credentials(sandbox):
    """The customer's browser has no credentials; version 5 is blocked too (A53)."""
    account = sandbox.account()
    key = session(account)
    fails(sandbox, account, 6)
    for method in ["token/lookup", "transaction/lookup", "transaction/auth", "token/retrieveAccountUpdater"]:
        sandbox.refused(account.call(method, cardKey="a"), 403, "121", method)
    broken = account.service.send("POST", account.url("token/lookup"), b"a=%", {"Content-Type": FORM}, "json")
    sandbox.refused(broken, 403, "121", "a body that cannot be read is not read (A51)")
    sandbox.refused(account.call("token/nothing"), 400, "103", "a path that names no method comes first (A51)")
    sandbox.same(post(account, form(key, sandbox.card("approved"))).status, 303, "postform from a blocked address")
    lookup = account.checkout("transaction_lookup", trans_key="0" * 32)
    sandbox.same(lookup.error, (403, "121"), "version 5 from a blocked address")
    sandbox.service.advance(DAY)


@walk.step
def failures_of_version_5_and_wrong_signatures_count(sandbox):
    account = sandbox.account()
    unsigned = {name: value for name, value in account.signed({"errorPageUrl": ERROR}).items() if name != "shaSignature"}
    for _ in range(3):
        wrong = account.checkout("transaction_lookup", trans_key="0" * 32, api_password="wrong")
        sandbox.same(wrong.error, (401, "3"), "wrong credentials of version 5")
        sandbox.refused(account.send("session/initiate", unsigned), 401, "123", "no signature")
    blocked(sandbox, account, "121")
    sandbox.service.advance(DAY)


# spec: 1 §5, A53
@walk.step
def forwarding_headers_are_ignored(sandbox):
    account = sandbox.account()
    fails(sandbox, account, 6)
    for name in ["X-Forwarded-For", "Forwarded", "X-Real-IP", "CF-Connecting-IP"]:
        headers = {"Content-Type": FORM, name: "for=203.0.113.7" if name == "Forwarded" else "203.0.113.7"}
        body = encode(account.signed({"errorPageUrl": ERROR}))
        reply = sandbox.service.send("POST", account.url("session/initiate"), body, headers, "json")
        sandbox.refused(reply, 403, "121", name)
    sandbox.service.advance(DAY)


if __name__ == "__main__":
    walk.run()
