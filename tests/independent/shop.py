"""What a shop sends: orders, cards, the card form, and the shortest ways to a transaction, a session or a token."""

import itertools

NEXT = "https://shop.example/review"
CURRENT = "https://shop.example/card"
ERROR = "https://shop.example/error"

_numbers = itertools.count(1)


def fresh(prefix="ref"):
    """A reference that nothing else in this walk has."""
    return f"{prefix}-{next(_numbers)}"


def order(value=1000, currency="GBP", **more):
    """An order of one item (spec 2 §4.3)."""
    return {"currency": currency, "itemName0": "Tea", "itemPrice0": str(value), **more}


def item(price="5.95", **more):
    """A checkout of one item (spec 3 §4.1)."""
    return {"item_name[0]": "Tea", "item_price[0]": price, **more}


def card(number, **more):
    """Raw card details (spec 2 §4.3)."""
    return {"cardNumber": number, "cardExpiryMonth": "12", "cardExpiryYear": "49", "cardCV2": "123", **more}


def paid(sandbox, account, value=1000, method="transaction/auth", scenario="approved", **more):
    """The transactionKey of an approved payment by raw card details."""
    reply = account.call(method, **card(sandbox.card(scenario)), **order(value), **more)
    if reply.get("transactionStatusCode") != "600":
        raise AssertionError(f"{method} did not succeed: {reply}")
    return reply["transactionKey"]


def preauthorised(sandbox, account, value=1000, **more):
    return paid(sandbox, account, value, "transaction/preauth", **more)


def session(account, **more):
    """The key of a new session."""
    return account.call("session/initiate", **{"errorPageUrl": ERROR, **more})["sessionKey"]


def form(key, number, **more):
    """The card form as a browser posts it (spec 2 §4.2); None leaves a field out."""
    fields = {
        "sessionKey": key,
        "cardNumber": number,
        "cardExpiryMonth": "12",
        "cardExpiryYear": "2049",
        "cardCV2": "123",
        "cardholderName": "Ada Lovelace",
        "formId": "form7",
        "nextPageUrl": NEXT,
        "currentPageUrl": CURRENT,
        **more,
    }
    return {name: value for name, value in fields.items() if value is not None}


def post(account, fields):
    """Posts the card form in the encoding of the account: neither signed nor with an apiKey."""
    return account.service.post(account.url("session/postform"), fields)


def posted(sandbox, account, scenario="approved", initiate=None, **more):
    """The key of a session to which a valid card has been posted."""
    key = session(account, **(initiate or {}))
    reply = post(account, form(key, sandbox.card(scenario), **more))
    if reply.status != 303 or not reply.header("location").startswith(NEXT):
        raise AssertionError(f"the card form was not accepted: {reply} {reply.header('location')}")
    return key


def tokenised(sandbox, account, scenario="approved", fields=None, **more):
    """The card key of a new token, made through a session and a payment."""
    key = posted(sandbox, account, scenario, **(fields or {}))
    payment = account.call("transaction/authSessionKey", sessionKey=key, **order())
    reply = account.call("token/tokeniseTransactionKey", transactionKey=payment["transactionKey"], **more)
    return reply.list("cardKeyDetails", "cardKeyDetail")[0]["cardKey"]


def token(account, card_key):
    """The record of one token, or None."""
    found = account.call("token/lookup", cardKey=card_key).list("cardKeyDetails", "cardKeyDetail")
    return found[0] if found else None


def transactions(account, **criteria):
    """The transactions that a lookup finds."""
    return account.call("transaction/lookup", **criteria).list("transactions", "transaction")
