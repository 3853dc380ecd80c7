"""Card tokens (spec 1 §2.1, §3.1, §4.2–§4.7)."""

from checks import Walk
from shop import card, fresh, order, paid, posted, preauthorised, token, tokenised

walk = Walk()

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
CUSTOMER = [
    "customerTitle",
    "customerFirstName",
    "customerSurname",
    "customerEmail",
    "customerMobile",
    "customerTelephone",
]
ADDRESS = [
    "cardholderAddress" + part
    for part in ["PropertyName", "Line1", "Line2", "Line3", "Town", "County", "Postcode", "Country"]
]
TOKENISE, UPDATE = "token/tokeniseTransactionKey", "token/updateCardKeyDetails"
OK = (200, {"result": "OK"})

POSTED = {
    "cardDescription": "Ada's blue card",
    "customerTitle": "Ms",
    "customerFirstName": "Ada",
    "customerSurname": "Lovelace",
    "customerEmail": "ada@shop.example",
    "customerMobile": "+447700900123",
    "customerLandline": "02079460000",
    "cardholderAddressPropertyName": "7",
    "cardholderAddressLine1": "St James's Sq",
    "cardholderAddressLine2": "Second",
    "cardholderAddressLine3": "Third",
    "cardholderAddressTown": "London",
    "cardholderAddressCounty": "Middlesex",
    "cardholderAddressPostcode": "SW1Y 4LE",
    "cardholderAddressCountry": "United Kingdom",
}


def outcome(reply):
    return reply.status, reply.data


def lookup(account, **criteria):
    return account.call("token/lookup", **criteria).list("cardKeyDetails", "cardKeyDetail")


# spec: 1 §2.1, A66; 1 §2.1, A10; 1 §2.1, A65; 2 §2.6, A65; 2 §4.2, A65
@walk.in_both
def a_record_has_every_documented_field(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    customer = fresh("customer")
    payment = account.call("transaction/authSessionKey", sessionKey=posted(sandbox, account, **POSTED), **order())[
        "transactionKey"
    ]
    reply = account.call(TOKENISE, transactionKey=payment, merchantCustomerReference=customer)
    sandbox.same(list(reply.data), ["cardKeyDetails"], "what tokenising returns")
    (record,) = reply.list("cardKeyDetails", "cardKeyDetail")
    sandbox.same(lookup(account, cardKey=record["cardKey"]), [record], "lookup returns the same record")
    sandbox.same(
        list(record),
        [
            "cardKey",
            "cardUniqueIdentifier",
            "merchantCustomerReference",
            "enabled",
            "card",
            "customer",
            "cardholderAddress",
        ],
        "the parts of a record",
    )
    sandbox.matches(record["cardKey"], "[0-9a-fA-F]+(-[0-9a-fA-F]+)+", "cardKey")
    sandbox.matches(str(record["cardUniqueIdentifier"]), r"\d+", "cardUniqueIdentifier")
    kind = int if encoding == "json" else str
    sandbox.same(type(record["cardUniqueIdentifier"]), kind, "cardUniqueIdentifier is a number in JSON")
    sandbox.same((record["merchantCustomerReference"], record["enabled"]), (customer, "1"), "reference and flag (A59)")
    sandbox.same(
        [list(record[part]) for part in ("card", "customer", "cardholderAddress")],
        [CARD, CUSTOMER, ADDRESS],
        "the fields of the parts",
    )
    number = sandbox.card("approved")
    shown = {name: record["card"][name] for name in CARD[:5]}
    sandbox.same(
        shown,
        {
            "cardDescription": "Ada's blue card",
            "cardholderName": "Ada Lovelace",
            "cardNumber": number[:6] + "******" + number[-4:],
            "cardExpiryMonth": "12",
            "cardExpiryYear": "2049",
        },
        "the card",
    )
    expected = {**POSTED, "customerTelephone": POSTED["customerLandline"]}
    for name in CUSTOMER:
        sandbox.same(record["customer"][name], expected[name], name)
    for name in ADDRESS:
        sandbox.same(record["cardholderAddress"][name], POSTED[name], name)


# spec: 1 §2.1, A42: An empty value is an empty element in XML, and null or an empty string in JSON.
# spec: 1 §2.1
@walk.in_both
def unknown_details_are_empty(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reply = account.call(TOKENISE, transactionKey=paid(sandbox, account))
    (record,) = reply.list("cardKeyDetails", "cardKeyDetail")
    for name in CUSTOMER:
        sandbox.same(record["customer"][name] or "", "", name)
    for name in ADDRESS:
        sandbox.same(record["cardholderAddress"][name] or "", "", name)
    sandbox.same(record["merchantCustomerReference"] or "", "", "merchantCustomerReference")
    # No scheme has numbers that begin with a nine.
    payment = account.call("transaction/auth", **card("9000000000000001"), **order())["transactionKey"]
    (record,) = account.call(TOKENISE, transactionKey=payment).list("cardKeyDetails", "cardKeyDetail")
    for name in ["cardDescription", "cardholderName", "cardType", "cardScheme", "cardBank"]:
        sandbox.same(record["card"][name] or "", "", name)


# spec: 1 §2.1
@walk.in_both
def numbers_are_shown_in_sixteen_characters_at_most(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for known in sandbox.cards:
        if known["scenario"] != "approved":
            continue
        payment = account.call("transaction/auth", **card(known["number"]), **order())["transactionKey"]
        (record,) = account.call(TOKENISE, transactionKey=payment).list("cardKeyDetails", "cardKeyDetail")
        masked = record["card"]["cardNumber"]
        number = known["number"]
        stars = min(len(number), 16) - 10
        sandbox.same(masked, number[:6] + "*" * stars + number[-4:], f"{known['scheme']} masked")


# spec: 1 §2.1; 1 §3.1; 1 §3.1, A60; 1 §3.1, A61; method token/enable; method token/disable; codes Flag 1 0
@walk.in_both
def tokens_are_switched_on_and_off(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    key = tokenised(sandbox, account)
    for method, flag in [("enable", "1"), ("disable", "0"), ("disable", "0"), ("enable", "1"), ("disable", "0")]:
        sandbox.same(outcome(account.call(f"token/{method}", cardKey=key)), OK, method)
        sandbox.same(token(account, key)["enabled"], flag, f"the flag after {method}")
    reply = account.call("transaction/authCardKey", cardKey=key, **order())
    sandbox.refused(reply, 400, "942", "paying with a disabled token (A61)")
    sandbox.same(outcome(account.call(UPDATE, cardKey=key, cardDescription="x")), OK, "updating a disabled token")
    sandbox.same(token(account, key)["enabled"], "0", "updating leaves the flag")
    account.call("token/enable", cardKey=key)
    reply = account.call("transaction/authCardKey", cardKey=key, **order())
    sandbox.approved(reply, "Auth", "paying with an enabled token")


# spec: 1 §3.1; method token/delete; codes SandboxErrorCode 940
@walk.in_both
def deleting_cannot_be_undone(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for prepare in ["enable", "disable"]:
        customer = fresh("customer")
        key = tokenised(sandbox, account, merchantCustomerReference=customer)
        account.call(f"token/{prepare}", cardKey=key)
        sandbox.same(outcome(account.call("token/delete", cardKey=key)), OK, "delete")
        sandbox.same(
            (lookup(account, cardKey=key), lookup(account, merchantCustomerReference=customer)),
            ([], []),
            "lookups after deleting",
        )
        for method in ["enable", "disable", "delete", "updateCardKeyDetails"]:
            sandbox.refused(account.call(f"token/{method}", cardKey=key), 400, "940", f"{method} after deleting (A57)")
        reply = account.call("transaction/authCardKey", cardKey=key, **order())
        sandbox.refused(reply, 400, "940", "paying after deleting")


# spec: 1 §3.1, A58; 1 §4.3, A58; codes SandboxErrorCode 941
@walk.in_both
def the_customer_reference_validates(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    mine, bare = tokenised(sandbox, account, merchantCustomerReference="Ada"), tokenised(sandbox, account)
    for method in ["disable", "enable", "updateCardKeyDetails", "delete"]:
        for key, reference in [(mine, "Bob"), (mine, "ada"), (bare, "Ada")]:
            reply = account.call(f"token/{method}", cardKey=key, merchantCustomerReference=reference)
            sandbox.refused(reply, 400, "941", f"{method} for {reference} (A58)")
        reply = account.call(f"token/{method}", cardKey=mine, merchantCustomerReference="x" * 46)
        sandbox.refused(reply, 400, "125", f"{method}: a reference of 46 characters")
        reply = account.call(f"token/{method}", cardKey=mine, merchantCustomerReference="Ada")
        sandbox.same(outcome(reply), OK, f"{method} for Ada")
        sandbox.refused(account.call(f"token/{method}", cardKey="nothing"), 400, "940", f"{method} of nothing")
        sandbox.refused(account.call(f"token/{method}"), 400, "938", f"{method} without a key")


# spec: 1 §4.2, A69; 1 §4.2; method token/lookup
@walk.in_both
def lookups_match_all_that_is_given(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    customer = fresh("customer")
    first = tokenised(sandbox, account, merchantCustomerReference=customer)
    second = tokenised(sandbox, account, "challenge", merchantCustomerReference=customer)
    found = [one["cardKey"] for one in lookup(account, merchantCustomerReference=customer)]
    sandbox.same(found, [first, second], "by customer, oldest first (A69)")
    both = lookup(account, merchantCustomerReference=customer, cardKey=second)
    sandbox.same([one["cardKey"] for one in both], [second], "key and customer match both")
    sandbox.same(lookup(account, merchantCustomerReference="Bob", cardKey=second), [], "one of them does not match")
    for nothing in [{"cardKey": "nothing"}, {"merchantCustomerReference": "nobody"}]:
        reply = account.call("token/lookup", **nothing)
        sandbox.same(reply.status, 200, "nothing found is not an error (A43)")
        sandbox.same(reply.list("cardKeyDetails", "cardKeyDetail"), [], "nothing found")


# spec: 1 §3.1; 1 §4.6, A09; 1 §4.6, A67; method token/updateCardKeyDetails
@walk.in_both
def details_are_replaced_one_by_one(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    key = tokenised(sandbox, account, fields=POSTED)
    before = token(account, key)
    for part, names in [
        ("customer", CUSTOMER),
        ("cardholderAddress", ADDRESS),
        ("card", ["cardDescription", "cardholderName"]),
    ]:
        for name in names:
            sandbox.same(outcome(account.call(UPDATE, cardKey=key, **{name: "é new"})), OK, f"{name} set")
            before[part][name] = "é new"
            sandbox.same(token(account, key), before, f"only {name} has changed")
            sandbox.same(outcome(account.call(UPDATE, cardKey=key, **{name: ""})), OK, f"{name} cleared")
            sandbox.same(token(account, key)[part][name] or "", "", f"{name} is empty")
            before[part][name] = token(account, key)[part][name]
    for year in ["31", "2031"]:
        sandbox.same(outcome(account.call(UPDATE, cardKey=key, cardExpiryMonth="07", cardExpiryYear=year)), OK, year)
        shown = token(account, key)["card"]
        sandbox.same((shown["cardExpiryMonth"], shown["cardExpiryYear"]), ("07", "2031"), f"expiry 07 {year}")
    sandbox.same(outcome(account.call(UPDATE, cardKey=key)), OK, "without a detail (A67)")
    for misspelt, name in [
        ("cardholderAdressTown", "cardholderAddressTown"),
        ("cardHolderAddressCounty", "cardholderAddressCounty"),
    ]:
        account.call(UPDATE, cardKey=key, **{misspelt: "Bath"})
        sandbox.same(token(account, key)["cardholderAddress"][name], "Bath", f"the table's spelling {misspelt} (A23)")


# spec: 1 §2.1, A01, A04
@walk.in_both
def details_keep_to_their_lengths(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    key = tokenised(sandbox, account)
    lengths = {
        **dict.fromkeys(CUSTOMER + ADDRESS + ["cardDescription", "cardholderName"], 50),
        "customerTitle": 12,
        "customerMobile": 14,
        "customerTelephone": 14,
        "cardholderAddressPostcode": 8,
    }
    for name, length in lengths.items():
        sandbox.same(outcome(account.call(UPDATE, cardKey=key, **{name: "é" * length})), OK, f"{name} fits")
        reply = account.call(UPDATE, cardKey=key, **{name: "e" * (length + 1)})
        sandbox.refused(reply, 400, "937", f"{name} is too long")
    before = token(account, key)
    for change in [
        {"cardExpiryMonth": "13"},
        {"cardExpiryYear": "203"},
        {"cardExpiryMonth": "1"},
    ]:
        reply = account.call(UPDATE, cardKey=key, cardDescription="lost", **change)
        sandbox.refused(reply, 400, "109", f"{change} (A67)")
    sandbox.same(token(account, key), before, "a refused update writes nothing")
    for name in ["cardExpiryMonth", "cardExpiryYear"]:
        sandbox.same(outcome(account.call(UPDATE, cardKey=key, **{name: ""})), OK, f"{name} is removed (A67)")
        sandbox.same(token(account, key)["card"][name] or "", "", f"{name} is empty")
    refused = account.call("transaction/authCardKey", cardKey=key, **order())
    sandbox.refused(refused, 400, "109", "a card without an expiry (A67)")


# spec: 1 §4.6, A10: The year has 2 or 4 digits.
# spec: 1 §4.6, A67
@walk.in_both
def an_updated_expiry_counts_for_payments(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    key = tokenised(sandbox, account)
    account.call(UPDATE, cardKey=key, cardExpiryMonth="01", cardExpiryYear="20")
    reply = account.call("transaction/authCardKey", cardKey=key, **order())
    sandbox.same((reply.status, reply.get("transactionStatusCode")), (200, "903"), "a card that has expired")
    account.call(UPDATE, cardKey=key, cardExpiryMonth="01", cardExpiryYear="2049")
    sandbox.approved(account.call("transaction/authCardKey", cardKey=key, **order()), "Auth", "renewed")


# spec: 1 §1; method token/tokeniseTransactionKey
@walk.in_both
def transactions_become_tokens(sandbox, encoding):
    account = sandbox.account(encoding=encoding)

    def tokenise(**given):
        return account.call(TOKENISE, **given).list("cardKeyDetails", "cardKeyDetail")[0]

    payment = paid(sandbox, account)
    first = tokenise(transactionKey=payment)
    sandbox.same(tokenise(transactionKey=payment), first, "the same again (A62)")
    ada = tokenise(transactionKey=payment, merchantCustomerReference="Ada")
    sandbox.holds(ada["cardKey"] != first["cardKey"], "another customer, another token (A62)", ada)
    sandbox.same(ada["cardUniqueIdentifier"], first["cardUniqueIdentifier"], "the same card")
    other = tokenise(transactionKey=paid(sandbox, account, scenario="challenge"))
    sandbox.holds(other["cardUniqueIdentifier"] != ada["cardUniqueIdentifier"], "another card", other)
    reserved = preauthorised(sandbox, account)
    tokenise(transactionKey=reserved)
    captured = account.call("transaction/capturepreauth", transactionKey=reserved)["transactionKey"]
    tokenise(transactionKey=captured)
    again = paid(sandbox, account)
    sandbox.same(tokenise(transactionKey=again, cardKey=ada["cardKey"]), ada, "onto an existing token (A64)")
    refunded = account.call("transaction/refund", transactionKey=payment)["transactionKey"]
    for given, code, what in [
        ({"transactionKey": refunded}, "944", "a refund (A63)"),
        ({"transactionKey": "0" * 32}, "943", "an unknown transaction"),
        ({}, "938", "nothing"),
        ({"merchantCustomerReference": "Ada"}, "938", "no transaction"),
        ({"transactionKey": again, "cardKey": "nothing"}, "940", "onto an unknown token"),
        ({"transactionKey": again, "cardKey": other["cardKey"]}, "944", "onto a token of another card (A64)"),
        ({"transactionKey": again, "cardKey": ada["cardKey"], "merchantCustomerReference": "Bob"}, "941", "for Bob"),
    ]:
        sandbox.refused(account.call(TOKENISE, **given), 400, code, f"tokenising {what}")


if __name__ == "__main__":
    walk.run()
