"""The account updater: batches, simulator, callbacks, codes 180 to 184 (spec 1 §2.2–§2.4, §3.2, §4.8, §4.9, §6)."""

from checks import Walk
from client import read, records
from listener import Listener
from shop import card, fresh, order, token, tokenised

walk = Walk()

REQUEST, RETRIEVE = "token/requestAccountUpdater", "token/retrieveAccountUpdater"
MINUTE = 60
CARD = [
    "cardDescription",
    "cardholderName",
    "cardNumber",
    "cardExpiryMonth",
    "cardExpiryYear",
    "cardType",
    "cardScheme",
    "cardBank",
]


def request(account, keys, **more):
    return account.call(REQUEST, accountUpdaterKey=account.facts["accountUpdaterKey"], cardKey=",".join(keys), **more)


def masked(number):
    return number[:6] + "*" * (len(number) - 10) + number[-4:]


# spec: 1 §2.2, A03: batchKey has 32 letters and digits.
# spec: 1 §4.8: The reply contains result and a batchKey of 32 letters and digits.
# spec: 1 §6; method token/requestAccountUpdater; codes ErrorCode 182
@walk.in_both
def a_batch_is_pending_for_two_minutes(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reply = request(account, [tokenised(sandbox, account)])
    sandbox.same((reply.status, list(reply.data)), (200, ["result", "batchKey"]), "what requesting returns")
    sandbox.same(reply["result"], "OK", "result")
    sandbox.matches(reply["batchKey"], "[A-Za-z0-9]{32}", "batchKey")
    for seconds in [0, 2 * MINUTE - 1]:
        sandbox.service.advance(seconds)
        pending = account.call(RETRIEVE, batchKey=reply["batchKey"])
        sandbox.refused(pending, 400, "182", f"{seconds} seconds later")
    sandbox.service.advance(1)
    for _ in range(2):
        done = account.call(RETRIEVE, batchKey=reply["batchKey"])
        sandbox.same(done.error, (200, None), "two minutes later, any number of times")


# spec: 1 §2, A41; 1 §2.1; 1 §2.2, A75; 1 §2.4; method token/retrieveAccountUpdater
@walk.in_both
def the_simulator_does_what_the_document_says(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    scenarios = ["updater-700-a", "updater-700-b", "updater-702"]
    fields = {"customerFirstName": "Ada", "cardDescription": "blue", "cardholderAddressTown": "London"}
    customer = fresh("customer")
    keys = [
        tokenised(sandbox, account, scenario, fields=fields, merchantCustomerReference=customer)
        for scenario in scenarios
    ] + [tokenised(sandbox, account, "approved"), tokenised(sandbox, account, "challenge")]
    batch = request(account, keys)["batchKey"]
    sandbox.service.advance(2 * MINUTE)
    reply = account.call(RETRIEVE, batchKey=batch)
    sandbox.same(list(reply.data), ["batchKey", "createdOn", "cardKeyDetails"], "the batch (spec 1 §2.2)")
    sandbox.same(reply["batchKey"], batch, "batchKey")
    sandbox.matches(reply["createdOn"], r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", "createdOn")
    if encoding == "json":
        sandbox.same(type(reply["cardKeyDetails"]), list, "an array in JSON (spec 1 §2.1)")
    entries = reply.list("cardKeyDetails", "cardKeyDetail")
    sandbox.same([entry["oldCardKey"] for entry in entries], keys, "one entry for each card, in order (A75)")
    sandbox.same(
        [entry["response"] for entry in entries], ["700", "700", "702", "706", "706"], "codes of the simulator"
    )
    numbers = [masked(sandbox.card(name)) for name in ["updater-700-b", "updater-700-a", "updater-702"]]
    expiries = [("12", "2049"), ("12", "2049"), ("01", "2050")]
    for entry, number, expiry in zip(entries, numbers, expiries):
        shown = entry["card"]
        sandbox.same(list(shown), CARD, "the card part")
        sandbox.same(shown["cardNumber"], number, f"new number with {entry['response']}")
        sandbox.same(
            (shown["cardExpiryMonth"], shown["cardExpiryYear"]), expiry, f"new expiry with {entry['response']}"
        )
        sandbox.same((shown["cardDescription"], shown["cardholderName"]), ("blue", "Ada Lovelace"), "copied (A74)")
        sandbox.holds(
            "customer" not in entry and "cardholderAddress" not in entry, "parts that are not returned", entry
        )
        sandbox.same(type(entry["cardUniqueIdentifier"]), str, "cardUniqueIdentifier is a string here (spec 1 §2.1)")
        sandbox.same((entry["merchantCustomerReference"], entry["enabled"]), (customer, "1"), "reference and flag")
        sandbox.holds(entry["cardKey"] != entry["oldCardKey"], "every updated card gets a new card key", entry)
        new, old = token(account, entry["cardKey"]), token(account, entry["oldCardKey"])
        sandbox.same(new["card"], shown, "the new token holds it")
        sandbox.same((new["customer"], new["cardholderAddress"]), (old["customer"], old["cardholderAddress"]), "copied")
        sandbox.same(str(new["cardUniqueIdentifier"]), entry["cardUniqueIdentifier"], "its identifier")
        sandbox.same(old["enabled"], "1", "the old token stays as it is (A74)")
        for key in [entry["cardKey"], entry["oldCardKey"]]:
            paid = account.call("transaction/authCardKey", cardKey=key, **order())
            sandbox.approved(paid, "Auth", "old and new can be paid with")
    sandbox.same(
        [entries[0]["cardUniqueIdentifier"], entries[1]["cardUniqueIdentifier"]],
        [str(token(account, keys[1])["cardUniqueIdentifier"]), str(token(account, keys[0])["cardUniqueIdentifier"])],
        "the pair swaps identifiers: it is the other's card",
    )
    bare = request(account, [tokenised(sandbox, account, "updater-702")])["batchKey"]
    sandbox.service.advance(2 * MINUTE)
    (entry,) = account.call(RETRIEVE, batchKey=bare).list("cardKeyDetails", "cardKeyDetail")
    whole = ["oldCardKey", "response", "cardKey", "cardUniqueIdentifier", "merchantCustomerReference", "enabled", "card"]
    for one in [entry, *entries[:3]]:
        sandbox.same(list(one), whole, "an entry with a new card")
    sandbox.same(entry["merchantCustomerReference"] or "", "", "one without a value is empty (spec 1 §2.1)")
    for entry in entries[3:]:
        sandbox.same(list(entry), ["oldCardKey", "response"], "an entry without a new card")


# spec: 1 §2.4
@walk.in_both
def an_expiry_moves_on_by_a_month(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for before, after in [
        (("01", "2030"), ("02", "2030")),
        (("09", "2031"), ("10", "2031")),
        (("12", "2032"), ("01", "2033")),
    ]:
        fields = {"cardExpiryMonth": before[0], "cardExpiryYear": before[1]}
        batch = request(account, [tokenised(sandbox, account, "updater-702", fields=fields)])["batchKey"]
        sandbox.service.advance(2 * MINUTE)
        (entry,) = account.call(RETRIEVE, batchKey=batch).list("cardKeyDetails", "cardKeyDetail")
        shown = entry["card"]["cardExpiryMonth"], entry["card"]["cardExpiryYear"]
        sandbox.same(shown, after, f"one month after {before}")


# spec: 1 §4.8, A70: A card that is listed twice, by one key or by two, fails the whole request, which creates nothing.
# spec: codes ErrorCode 180 183; codes SandboxErrorCode 946
@walk.in_both
def requests_that_fail(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    keys = [tokenised(sandbox, account), tokenised(sandbox, account, "challenge")]
    same_card = tokenised(sandbox, account, merchantCustomerReference=fresh())
    theirs = tokenised(sandbox, sandbox.account("other", encoding))
    updater = account.facts["accountUpdaterKey"]

    def fails(code, what, **given):
        given = {"accountUpdaterKey": updater, "cardKey": keys[0], **given}
        sandbox.refused(account.call(REQUEST, **{n: v for n, v in given.items() if v is not None}), 400, code, what)

    fails("180", "no updater key", accountUpdaterKey=None)
    fails("180", "an empty updater key", accountUpdaterKey="")
    fails("180", "a wrong updater key", accountUpdaterKey=updater[:-1])
    fails("180", "another account's updater key", accountUpdaterKey=sandbox.merchants["other"]["accountUpdaterKey"])
    fails("938", "no card keys", cardKey=None)
    for twice in [f"{keys[0]},{keys[1]},{keys[0]}", f"{keys[0]},{same_card}"]:
        reply = account.call(REQUEST, accountUpdaterKey=updater, cardKey=twice)
        sandbox.same((reply.error, dict(reply.data)), ((200, None), {"result": "ERROR"}), "a card twice (spec 1 §4.8, A70)")
    fails("940", "an unknown key", cardKey=f"{keys[0]},nothing")
    fails("940", "another account's key", cardKey=f"{keys[0]},{theirs}")
    fails("946", "5,001 keys", cardKey=",".join(f"k{n}" for n in range(5001)))
    for url in [
        "nowhere",
        "ftp://127.0.0.1/",
        "javascript:alert(1)",
        "http://shop.example/",
        "https://user:pass@shop.example/",
        "http://10.0.0.1/",
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[fe80::1]/",
        "https://[fd00::1]/",
        "https://0.0.0.0/",
        "https://[::ffff:10.0.0.1]/",
        "https://172.16.0.1/",
        "https://100.64.0.1/",
        "https://2130706433x/ ",
    ]:
        fails("184", f"callbackUrl {url} (A77)", callbackUrl=url)
    blanks = request(account, [keys[0], " " + keys[1] + " "])
    sandbox.same(blanks.error, (200, None), "blanks around commas (A70)")
    for key in ["0" * 32, "short", "é" * 32, None, ""]:
        sandbox.refused(account.call(RETRIEVE, batchKey=key), 400, "183", f"batchKey {key!r} (A72)")
    other = sandbox.account("other", encoding)
    sandbox.refused(other.call(RETRIEVE, batchKey=blanks["batchKey"]), 400, "183", "another account's batch")


# spec: 1 §4.8, A70
@walk.in_both
def five_thousand_keys_are_not_too_many(sandbox, encoding):
    """That many tokens need as many cards, so that the first key that is unknown tells that the number was accepted."""
    account = sandbox.account(encoding=encoding)
    reply = request(account, [f"00000000-0000-0000-0000-{n:016}" for n in range(5000)])
    sandbox.refused(reply, 400, "940", "5,000 keys that nobody has")


# spec: 1 §2.2, A75
@walk.in_both
def hundreds_of_cards_in_one_batch(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    keys = []
    for body in range(400):
        number = f"41111111{body:07}"
        digits = [int(digit) * (2 - at % 2) for at, digit in enumerate(number)]
        check = -sum(digit // 10 + digit % 10 for digit in digits) % 10
        payment = account.call("transaction/auth", **card(number + str(check)), **order())["transactionKey"]
        made = account.call("token/tokeniseTransactionKey", transactionKey=payment)
        keys.append(made.list("cardKeyDetails", "cardKeyDetail")[0]["cardKey"])
    batch = request(account, keys)["batchKey"]
    sandbox.service.advance(2 * MINUTE)
    entries = account.call(RETRIEVE, batchKey=batch).list("cardKeyDetails", "cardKeyDetail")
    expected = [{"oldCardKey": key, "response": "706"} for key in keys]
    sandbox.same(entries, expected, "any other Luhn-valid number yields 706")


# spec: 1 §5, A28
@walk.in_both
def retrieving_needs_a_signature(sandbox, encoding):
    """The example of the document leaves it out (spec 1 §5); A28 wants it all the same."""
    account = sandbox.account(encoding=encoding)
    batch = request(account, [tokenised(sandbox, account)])["batchKey"]
    sandbox.service.advance(2 * MINUTE)
    given = {"apiKey": account.api_key, "apiPassword": account.api_password, "batchKey": batch}
    sandbox.refused(account.send(RETRIEVE, given), 401, "123", "without a signature")
    sandbox.refused(account.send(RETRIEVE, {**given, "shaSignature": "0" * 128}), 401, "123", "with a wrong signature")
    sandbox.refused(account.send(RETRIEVE, {**given, "apiPassword": "wrong"}), 401, "102", "with a wrong password")
    unsigned = {**given, "accountUpdaterKey": account.facts["accountUpdaterKey"], "cardKey": "a"}
    sandbox.refused(account.send(REQUEST, unsigned), 401, "123", "requesting without a signature")
    sandbox.service.advance(24 * 3600)


# spec: 1 §6
@walk.in_both
def the_callback_has_the_shape_of_the_retrieval(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    with Listener() as listener:
        key = tokenised(sandbox, account, "updater-702")
        batch = request(account, [key], callbackUrl=listener.url("/updates?shop=7"))["batchKey"]
        sandbox.service.advance(2 * MINUTE - 1)
        sandbox.refused(account.call(RETRIEVE, batchKey=batch), 400, "182", "still pending")
        sandbox.holds(listener.is_empty(), "no callback before the end")
        sandbox.service.advance(1)
        path, headers, body = listener.take()
        sandbox.same(path, "/updates?shop=7", "where it goes")
        sandbox.same(
            headers["Content-Type"], f"application/{encoding}; charset=utf-8", "its type is that of the request"
        )
        told = read(body.decode("utf-8"), encoding)
        retrieved = account.call(RETRIEVE, batchKey=batch)
        sandbox.same(told, retrieved.data, "what it tells")
        sandbox.same(records(told["cardKeyDetails"], "cardKeyDetail")[0]["response"], "702", "its entry")
        sandbox.holds(sandbox.card("updater-702").encode() not in body, "no card number in it", body)
        sandbox.service.advance(24 * 3600)
        account.call(RETRIEVE, batchKey=batch)
        sandbox.holds(listener.is_empty(), "only one callback is sent")


# spec: 1 §6, A76
@walk.step
def a_callback_that_fails_is_not_sent_again(sandbox):
    account = sandbox.account()
    for status in [500, 302, 404]:
        with Listener(status) as listener:
            batch = request(account, [tokenised(sandbox, account)], callbackUrl=listener.url())["batchKey"]
            sandbox.service.advance(2 * MINUTE)
            listener.take()
            sandbox.service.advance(24 * 3600)
            sandbox.same(account.call(RETRIEVE, batchKey=batch).error, (200, None), "the batch can be retrieved")
            sandbox.holds(listener.is_empty(), f"no second try and no redirect followed after {status}")
    request(account, [tokenised(sandbox, account)], callbackUrl="http://127.0.0.1:1/")
    sandbox.service.advance(2 * MINUTE)
    sandbox.same(account.call("token/lookup", cardKey="a").status, 200, "nobody listens, and the service stays up")


# spec: 1 §2.4, A73
@walk.in_both
def cards_have_the_data_of_the_end_of_the_batch(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    kept, lost, off = (tokenised(sandbox, account, name) for name in ["updater-700-a", "updater-702", "challenge"])
    batch = request(account, [kept, lost, off])["batchKey"]
    account.call("token/delete", cardKey=lost)
    account.call("token/disable", cardKey=off)
    sandbox.service.advance(2 * MINUTE)
    entries = account.call(RETRIEVE, batchKey=batch).list("cardKeyDetails", "cardKeyDetail")
    sandbox.same([entry["response"] for entry in entries], ["700", "703", "706"], "a deleted token gives 703 (A73)")
    account.call("token/delete", cardKey=entries[0]["cardKey"])
    again = account.call(RETRIEVE, batchKey=batch)
    sandbox.same(again.error, (200, None), "retrieving after a new token was deleted")


# spec: 1 §1, A71, A102
@walk.in_both
def the_updater_needs_permission(sandbox, encoding):
    strict = sandbox.account("strict", encoding)
    reply = request(strict, ["anything"])
    sandbox.refused(reply, 403, "106", "requesting by strict (A71)")
    sandbox.refused(strict.call(RETRIEVE, batchKey="0" * 32), 403, "106", "retrieving by strict (A71)")


if __name__ == "__main__":
    walk.run()
