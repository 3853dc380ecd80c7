"""The hosted payment pages: visits, uses, outcomes, ways back, callbacks (spec 3 §1, §3.1, §6)."""

import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from checks import Walk
from listener import Listener
from pages import Browser, Page, location
from shop import order, token as stored_token, transactions

walk = Walk()

DAY = 24 * 3600
SUCCESS, CANCEL = "https://shop.example/ok?order=7#top", "https://shop.example/no?order=7"


def checkout(account, **more):
    """A new token of 11.90 that redirects after approval."""
    given = {
        "item_name[0]": "Tea",
        "item_price[0]": "5.95",
        "item_quantity[0]": "2",
        "success_url": SUCCESS,
        "cancel_url": CANCEL,
        "auto_redirect": "1",
        **more,
    }
    return account.checkout("gettoken", **given)["token"]


def filled(sandbox, scenario="approved", **more):
    return {
        "cardNumber": sandbox.card(scenario),
        "cardExpiryMonth": "12",
        "cardExpiryYear": "2049",
        "cardCV2": "123",
        "cardholderName": "Ada Lovelace",
        **more,
    }


def pay(sandbox, token, scenario="approved", **more):
    """Opens the page of a token and sends its form."""
    browser = Browser(sandbox)
    return browser.submit(browser.open(token["redemption_url"]), **filled(sandbox, scenario, **more))


def key_of(reply):
    """The trans_key that was appended to an address of the merchant."""
    return urllib.parse.parse_qs(urllib.parse.urlsplit(location(reply) or "").query).get("trans_key", [None])[0]


def shows_end(sandbox, page, word, what):
    sandbox.same((page.status, page.forms), (410, []), f"{what}: no form any more (A119)")
    sandbox.holds(word in page.text.lower(), f"{what}: says {word}", page.text)


# spec: 3 §2.1, A115: redemption_url ends in tokenid and opens the page.
@walk.step
def the_page_is_a_form_for_the_order(sandbox):
    token = checkout(sandbox.account(), **{"item_name[1]": "<script>x</script>", "item_price[1]": "1"})
    page = Browser(sandbox).open(token["redemption_url"])
    sandbox.same(page.status, 200, "the page")
    inputs = ["cardNumber", "cardExpiryMonth", "cardExpiryYear", "cardCV2", "cardholderName"]
    sandbox.holds(set(inputs) <= set(page.fields), "its inputs", list(page.fields))
    sandbox.holds("12.90" in page.text, "the total of price times quantity", page.text)
    sandbox.holds("<script>x</script>" in page.text, "item names are text", page.text)
    sandbox.holds(CANCEL in page.links, "the cancel link is the merchant's as it was sent (A120)", page.links)


@walk.step
def an_approval_leads_to_the_merchant(sandbox):
    account = sandbox.account()
    for kind, recorded, name in [("Auth", "Auth", "auth"), ("PreAuth", "PreAuth", "preauth")]:
        token = checkout(account, trans_type=kind, trans_reference="order-7")
        reply = pay(sandbox, token)
        key = key_of(reply)
        expected = f"https://shop.example/ok?order=7&trans_key={key}#top"
        sandbox.same(location(reply), expected, f"{kind}: success_url with trans_key")
        found = account.checkout("transaction_lookup", trans_key=key)
        shown = [found.get(field) for field in ["status", "token", "value", "currency"]]
        value = "0.00" if kind == "PreAuth" else "11.90"
        sandbox.same(shown, ["Success", token["tokenid"], value, "GBP"], f"{kind}: lookup of what was paid (A125)")
        (record,) = transactions(account, transactionKey=key)
        shown = [record.get(field) for field in ["transactionType", "transactionValue", "merchantReference"]]
        sandbox.same(shown, [recorded, "1190", "order-7"], f"{kind}: seen by version 3 (A100)")
        again = account.checkout("repeat", prev_trans_key=key, trans_type=kind, trans_value="1")
        sandbox.same(
            (again.get("status"), again.get("trans_type")), ("1", name), f"{kind}: the card can be charged again"
        )


# spec: 1 §4.7, A63, A100; 3 §6, A100
@walk.step
def a_hosted_payment_becomes_a_token(sandbox):
    """Tokenisation takes the trans_key of a success URL (spec 1 §4.7, 3 §6)."""
    account = sandbox.account()
    customer = {
        "salutation": "Ms",
        "first_name": "Ada",
        "surname": "Lovelace",
        "email": "ada@shop.example",
        "mobile_phone": "447700900123",
        "town": "London",
        "postcode": "SW1Y 4LE",
    }
    key = key_of(pay(sandbox, checkout(account, **customer)))
    reply = account.call("token/tokeniseTransactionKey", transactionKey=key, merchantCustomerReference="Ada")
    (record,) = reply.list("cardKeyDetails", "cardKeyDetail")
    shown = [
        record["card"]["cardholderName"],
        record["customer"]["customerSurname"],
        record["cardholderAddress"]["cardholderAddressTown"],
    ]
    sandbox.same(shown, ["Ada Lovelace", "Lovelace", "London"], "what the token holds (A136)")
    sandbox.same(stored_token(account, record["cardKey"]), record, "it can be looked up")
    paid = account.call("transaction/authCardKey", cardKey=record["cardKey"], **order())
    sandbox.approved(paid, "Auth", "and paid with")


# spec: 3 §4.1, A120
@walk.step
def without_auto_redirect_the_service_has_a_page(sandbox):
    account = sandbox.account()
    for given, address in [
        ({"auto_redirect": "0"}, "https://shop.example/ok?order=7&trans_key={}#top"),
        ({"auto_redirect": None}, "https://shop.example/ok?order=7&trans_key={}#top"),
    ]:
        token = checkout(account, **given)
        page = pay(sandbox, token)
        sandbox.same((isinstance(page, Page), page.status), (True, 200), f"{given}: a page")
        keys = [
            urllib.parse.parse_qs(urllib.parse.urlsplit(link).query).get("trans_key", [""])[0] for link in page.links
        ]
        sandbox.same(
            page.links[:1], [address.format(keys[0] if keys else "")], f"{given}: where its button leads (A120)"
        )
    for name in ["success_url", "cancel_url"]:
        default = checkout(account, **{name: None})[name]
        sandbox.same(Browser(sandbox).open(default).status, 200, f"the default {name} is a page (A114)")


@walk.step
def a_decline_shows_the_form_again(sandbox):
    account = sandbox.account()
    token = checkout(account, token_uses="1")
    browser = Browser(sandbox)
    page = browser.open(token["redemption_url"])
    for scenario in ["declined", "insufficient-funds", "no-response"]:
        page = browser.submit(page, **filled(sandbox, scenario))
        sandbox.same((isinstance(page, Page), len(page.forms)), (True, 1), f"{scenario}: the form again")
        sandbox.same(
            (page.fields["cardCV2"], sandbox.card(scenario) in str(page.fields)), ("", False), f"{scenario}: no card"
        )
    sandbox.holds(key_of(browser.submit(page, **filled(sandbox))), "another card pays: declines use nothing up", page)


@walk.step
def wrong_fields_are_named_and_cost_nothing(sandbox):
    account = sandbox.account()
    token = checkout(account, token_redemptions="1")
    browser = Browser(sandbox)
    page = browser.open(token["redemption_url"])
    number = sandbox.card("approved")
    for given in [
        {"cardNumber": number[:-1] + "1"},
        {"cardNumber": ""},
        {"cardNumber": "<b>"},
        {"cardExpiryMonth": "13"},
        {"cardExpiryYear": "2001"},
        {"cardExpiryYear": ""},
        {"cardCV2": ""},
        {"cardCV2": "12"},
        {"cardCV2": "x"},
    ]:
        page = browser.submit(page, **filled(sandbox, **given))
        sandbox.same((isinstance(page, Page), len(page.forms)), (True, 1), f"{given}: the form again")
        sandbox.same(page.fields["cardCV2"], "", f"{given}: the security code is not repeated")
    spaced = " ".join(number[at : at + 4] for at in range(0, 16, 4))
    reply = browser.submit(page, **filled(sandbox, cardNumber=spaced, cardholderName=""))
    sandbox.holds(key_of(reply), "blanks are passed over, the name may be empty (A119)", reply)


# spec: 3 §3.1, A119
@walk.step
def visits_are_counted(sandbox):
    account = sandbox.account()
    browser = Browser(sandbox)
    token = checkout(account, token_redemptions="2")
    first, second = browser.open(token["redemption_url"]), browser.open(token["redemption_url"])
    shows_end(sandbox, browser.open(token["redemption_url"]), "expired", "a third of two visits")
    sandbox.holds(key_of(browser.submit(first, **filled(sandbox))), "the first form still pays", first)
    sandbox.holds(key_of(browser.submit(second, **filled(sandbox))), "and the second", second)
    none = checkout(account, token_redemptions="0")
    shows_end(sandbox, browser.open(none["redemption_url"]), "expired", "no visits at all (A117)")
    many = checkout(account)
    for _ in range(130):
        sandbox.same(browser.open(many["redemption_url"]).status, 200, "-1 is unlimited")


# spec: 3 §3.1
@walk.step
def approvals_are_counted(sandbox):
    account = sandbox.account()
    token = checkout(account, token_uses="2")
    keys = {key_of(pay(sandbox, token)) for _ in range(2)}
    sandbox.same((len(keys), None in keys), (2, False), "two payments of two uses")
    shows_end(sandbox, Browser(sandbox).open(token["redemption_url"]), "expired", "a third of two uses")
    none = checkout(account, token_uses="0")
    shows_end(sandbox, Browser(sandbox).open(none["redemption_url"]), "expired", "no uses at all (A117)")
    once = checkout(account, token_uses="1")
    browser = Browser(sandbox)
    tabs = [browser.open(once["redemption_url"]) for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda tab: browser.submit(tab, **filled(sandbox)), tabs))
    sandbox.same(sum(bool(location(reply)) for reply in replies), 1, "ten tabs at once, one use: one payment")


@walk.step
def a_form_charges_once(sandbox):
    account = sandbox.account()
    token = checkout(account, trans_reference="double-click")
    browser = Browser(sandbox)
    page = browser.open(token["redemption_url"])
    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda _: browser.submit(page, **filled(sandbox)), range(10)))
    sandbox.same(len({location(reply) for reply in replies}), 1, "ten clicks lead to one place (A136)")
    sandbox.same(len(transactions(account, merchantReference="double-click")), 1, "one payment")
    sandbox.holds(key_of(pay(sandbox, token)) != key_of(replies[0]), "opening the page again pays again")


# spec: 3 §3.1
@walk.step
def tokens_begin_and_end(sandbox):
    account = sandbox.account()
    browser = Browser(sandbox)
    now = sandbox.now()
    later = checkout(account, token_start=str(now + 60), token_expiry=str(now + 120), token_redemptions="1")
    page = browser.open(later["redemption_url"])
    sandbox.same((page.status, page.forms), (410, []), "before its start (A119)")
    sandbox.service.advance(60)
    page = browser.open(later["redemption_url"])
    sandbox.same(page.status, 200, "from its start, the early visit did not count")
    sandbox.service.advance(60)
    shows_end(sandbox, browser.submit(page, **filled(sandbox)), "expired", "the form at its end")
    shows_end(sandbox, browser.open(later["redemption_url"]), "expired", "the page at its end")
    week = checkout(account)
    sandbox.service.advance(7 * DAY - 1)
    sandbox.same(browser.open(week["redemption_url"]).status, 200, "the last second of a week")
    sandbox.service.advance(1)
    shows_end(sandbox, browser.open(week["redemption_url"]), "expired", "a week later")
    cancelled = checkout(account)
    page = browser.open(cancelled["redemption_url"])
    account.checkout("canceltoken", tokenid=cancelled["tokenid"])
    shows_end(sandbox, browser.open(cancelled["redemption_url"]), "expired", "a cancelled token's page")
    shows_end(sandbox, browser.submit(page, **filled(sandbox)), "expired", "a cancelled token's form")
    unknown = browser.open(f"{sandbox.service.base_url}/pay/{'0' * 32}")
    sandbox.holds(unknown.status in (404, 410) and not unknown.forms, "a token that does not exist", unknown.status)


# spec: 3 §6, A121
@walk.step
def the_merchant_gets_a_callback(sandbox):
    account = sandbox.account()
    with Listener() as listener:
        token = checkout(
            account, callback_url=listener.url("/paid?shop=7"), trans_reference="order-9", trans_class="club"
        )
        pay(sandbox, token, "declined")
        sandbox.holds(listener.is_empty(), "no callback for a decline")
        reply = pay(sandbox, token)
        path, headers, body = listener.take()
        sandbox.same(
            (path, headers["Content-Type"].split(";")[0]),
            ("/paid?shop=7", "application/x-www-form-urlencoded"),
            "where and how (A121)",
        )
        told = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
        expected = {
            "tokenid": token["tokenid"],
            "trans_key": key_of(reply),
            "trans_type": "auth",
            "trans_value": "11.90",
            "currency": "GBP",
            "status": "1",
            "trans_reference": "order-9",
            "trans_class": "club",
        }
        sandbox.same(told, expected, "what it tells (A121)")


# spec: 3 §4.1, A122
@walk.step
def three_d_secure_leads_over_the_challenge(sandbox):
    account = sandbox.account()
    browser = Browser(sandbox)
    for outcome, paid in [("authenticate", True), ("fail", False), ("abandon", False)]:
        token = checkout(account, three_D_secure="1")
        challenge = pay(sandbox, token, "challenge")
        sandbox.same(
            challenge.buttons,
            [("outcome", "authenticate"), ("outcome", "fail"), ("outcome", "abandon")],
            "the challenge",
        )
        after = browser.submit(challenge, outcome=outcome)
        sandbox.same(bool(key_of(after)), paid, f"paid after {outcome} (A122)")
        if not paid:
            sandbox.same((isinstance(after, Page), len(after.forms)), (True, 1), f"{outcome}: the form again")
    sandbox.holds(key_of(pay(sandbox, checkout(account, three_D_secure="1"), "not-enrolled")), "a card without it pays")
    sandbox.holds(key_of(pay(sandbox, checkout(account), "challenge")), "without the option nobody is challenged")


@walk.step
def pages_survive_bad_input(sandbox):
    account = sandbox.account()
    service = sandbox.service
    token = checkout(account)
    address = token["redemption_url"]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for method, url, body, headers in [
        ("POST", address, b"\xff\xfe", form),
        ("POST", address, b"a=%zz", form),
        ("POST", address, b"", {}),
        ("POST", address, b"cardNumber=1&cardNumber=2", form),
        ("POST", address, b"{}", {"Content-Type": "application/json"}),
        ("POST", address, b"a=" + b"x" * 10 * 1024 * 1024, form),
        ("DELETE", address, b"", {}),
        ("GET", address + "/../..", b"", {}),
        ("GET", address + "?x=<script>", b"", {}),
        ("POST", address, b"visit=%00", form),
    ]:
        reply = service.send(method, url, body, headers)
        sandbox.holds(reply.status < 500, f"{method} {body[:20]}", reply)
        sandbox.holds(b"<script>" not in reply.body, f"{method} {url} repeats a script", reply.body)
    sandbox.holds(key_of(pay(sandbox, token)), "the token can still be paid", token)


if __name__ == "__main__":
    walk.run()
