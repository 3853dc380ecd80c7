"""Checkout tokens, and credentials, errors, parameters and defaults of version 5 (spec 3 §2.1, §4, §5, §7)."""

from datetime import datetime, timezone

from checks import Walk
from client import FORM, encode
from shop import item

walk = Walk()

DAY = 24 * 3600
UTC = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


def utc(unix_seconds):
    return datetime.fromtimestamp(unix_seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


# spec: 3 §4; codes ErrorCode 3
@walk.step
def credentials_are_parameters(sandbox):
    account = sandbox.account()
    for given, what in [
        ({"api_key": None}, "no key"),
        ({"api_key": "0" * 32}, "an unknown key"),
        ({"api_key": ""}, "an empty key"),
        ({"api_password": "wrong"}, "a wrong password"),
        ({"api_password": None}, "no password"),
        ({"api_key": sandbox.merchants["other"]["enterpriseApiKey"]}, "the key of another account"),
    ]:
        sandbox.refused_by_checkout(account.checkout("gettoken", **item(), **given), 401, "3", what)
        # Failed credentials count for a day, and too many block the address (A53).
        sandbox.service.advance(24 * 60 * 60)
    for given, what in [
        ({"version": None}, "no version"),
        ({"version": "3"}, "version 3"),
        ({"version": "x"}, "no number"),
    ]:
        sandbox.refused_by_checkout(account.checkout("gettoken", **item(), **given), 400, "939", f"{what} (A111)")
    url = f"{sandbox.service.enterprise_base_url}/gettoken"
    sandbox.refused_by_checkout(sandbox.service.send("POST", url, encoding="xml"), 400, "1", "no data")
    reply = account.checkout("gettoken", **item(), shaSignature="nonsense")
    sandbox.same(reply.error, (200, None), "a signature is not a part of this service")


# spec: 3 §4, A41, A49; codes ErrorCode 1
@walk.step
def bad_requests_get_an_error_code(sandbox):
    account = sandbox.account()
    base = sandbox.service.enterprise_base_url
    good = {
        "api_key": account.facts["enterpriseApiKey"],
        "api_password": account.facts["enterpriseApiPassword"],
        "version": "5",
        **item(),
    }
    form = {"Content-Type": FORM}
    for method, url, body, headers, code in [
        ("GET", "/gettoken", b"", {}, "934"),
        ("PUT", "/gettoken", encode(good), form, "934"),
        ("POST", "/nothing", encode(good), form, "103"),
        ("POST", "/gettoken", encode(good), {"Content-Type": "application/json"}, "933"),
        ("POST", "/gettoken", encode(good) + b"&a=%zz", form, "930"),
        ("POST", "/gettoken", encode(good) + b"&a=%ff", form, "930"),
        ("POST", "/gettoken", encode(good) + b"&version=5", form, "935"),
        ("POST", "/gettoken", encode(good) + b"&a=" + b"x" * 10 * 1024 * 1024, form, "931"),
        ("POST", "/gettoken", encode(good) + b"".join(b"&p%d=" % n for n in range(3000)), form, "932"),
    ]:
        sandbox.refused_by_checkout(
            sandbox.service.send(method, base + url, body, headers, "xml"), 400, code, f"{method} {url} {code}"
        )


# spec: 3 §4.1, A116, A136: Customer and billing address are returned in the reply and stored with the payment.
# spec: 3 §2.1, A115; method enterprise/gettoken
@walk.step
def a_token_is_what_was_asked_for(sandbox):
    account = sandbox.account()
    now = sandbox.now()
    given = {
        "token_start": str(now + 60),
        "token_expiry": str(now + 3600),
        "token_uses": "3",
        "token_redemptions": "127",
        "success_url": "https://shop.example/ok?a=1&b=2",
        "cancel_url": "https://shop.example/no",
        "currency": "EUR",
        "callback_url": "https://shop.example/cb",
        "trans_reference": "R" * 50,
        "payment_source": "ecomm",
        "item_name[0]": "Tea & Söhne",
        "item_price[0]": "5.95",
        "item_quantity[0]": "2",
        "item_reference[0]": "T" * 16,
        "item_name[1]": "Milk",
        "item_price[1]": "5",
        "item_quantity[1]": "0",
        "item_name[2]": "Sugar",
        "item_price[2]": "0.95",
        "salutation": "Ms",
        "first_name": "Ada",
        "surname": "Lovelace",
        "email": "ada@shop.example",
        "date_of_birth": "10121815",
        "mobile_phone": "447700900123",
        "home_phone": "442079460000",
        "property_name": "7",
        "address_1": "St James's Sq",
        "address_2": "2",
        "town": "London",
        "county": "Middlesex",
        "postcode": "SW1Y 4LE",
        "country": "GB",
        "trans_type": "PreAuth",
        "trans_cat": "booking",
        "trans_class": "C" * 32,
        "applet": sandbox.merchants["main"]["applets"][-1],
        "auto_redirect": "1",
        "3D_secure": "0",
        "redemption_redirect_url": "https://shop.example/r",
        "terminal_key": sandbox.merchants["main"]["terminals"][0],
    }
    reply = account.checkout("gettoken", **given)
    sandbox.same((reply.status, list(reply.data)), (200, ["token", "user", "items"]), "the parts of a token")
    token = reply["token"]
    expected = {
        "merchant": "main",
        "applet": given["applet"],
        "token_start": utc(now + 60),
        "token_expiry": utc(now + 3600),
        "creation": utc(now),
        "uses": "3",
        "redemptions": "127",
        "success_url": given["success_url"],
        "cancel_url": given["cancel_url"],
        "callback_url": given["callback_url"],
        "trans_type": "preauth",
        "trans_cat": "booking",
        "currency": "EUR",
    }
    sandbox.same({name: token.get(name) for name in expected}, expected, "token")
    sandbox.holds(token["redemption_url"].endswith(token["tokenid"]), "the identifier ends the redemption URL", token)
    sandbox.same(
        reply["items"]["item"],
        [
            {"name": "Tea & Söhne", "price": "5.95", "quantity": "2", "reference": "T" * 16},
            {"name": "Milk", "price": reply["items"]["item"][1]["price"], "quantity": "0"},
            {"name": "Sugar", "price": "0.95"},
        ],
        "items",
    )
    for name in [
        "salutation",
        "first_name",
        "surname",
        "date_of_birth",
        "mobile_phone",
        "home_phone",
        "property_name",
        "address_1",
        "address_2",
        "town",
        "county",
        "postcode",
        "country",
    ]:
        sandbox.same(reply["user"].get(name), given[name], name)


# spec: 3 §1, A114
@walk.step
def the_merchants_defaults_fill_the_rest(sandbox):
    account = sandbox.account()
    now = sandbox.now()
    token = account.checkout("gettoken", **item())["token"]
    expected = {
        "token_start": utc(now),
        "token_expiry": utc(now + 7 * DAY),
        "creation": utc(now),
        "uses": "-1",
        "redemptions": "-1",
        "trans_type": "auth",
        "trans_cat": "purchase",
        "currency": "GBP",
    }
    sandbox.same({name: token.get(name) for name in expected}, expected, "defaults (spec 3 §4.1, A114)")
    for name in ["token_start", "token_expiry", "creation"]:
        sandbox.matches(token[name], UTC, name)


# spec: 3 §4.1, A122; 3 §4.1, A18, A77; 3 §8; codes TransactionCategory donation debt booking
# spec: codes PaymentSource ecomm moto
@walk.step
def parameters_of_a_token_are_checked(sandbox):
    account = sandbox.account()
    now = sandbox.now()
    for name, fits, breaks in [
        ("token_uses", ["-1", "0", "1", "127"], ["128", "-2", "x", "1.5"]),
        ("token_redemptions", ["-1", "0", "1", "127"], ["128", "-2", "x"]),
        ("token_start", [str(now), str(now + 5)], ["x", "-1"]),
        ("token_expiry", [str(now + 60)], [str(now), str(now - 5), "x"]),
        ("payment_source", ["ecomm", "moto"], ["shop"]),
        ("trans_cat", ["purchase", "donation", "debt", "booking"], []),
        ("trans_type", ["Auth", "PreAuth", "auth", "PREAUTH"], ["Sale"]),
        ("auto_redirect", ["0", "1"], ["x", "12"]),
        ("3D_secure", ["0", "1"], ["x"]),
        ("item_name[0]", ["n" * 128], ["n" * 129]),
        ("item_reference[0]", ["r" * 16], ["r" * 17]),
        ("salutation", ["x" * 10], ["x" * 11]),
        ("first_name", ["é" * 32], ["x" * 33]),
        ("surname", ["x" * 32], ["x" * 33]),
        ("date_of_birth", ["31011970"], ["19700131", "1", "x" * 8]),
        ("mobile_phone", ["447700900123"], ["0770", "+44770", "x"]),
        ("home_phone", ["442079460000"], ["020"]),
        ("property_name", ["x" * 50, ""], ["x" * 51]),
        ("address_1", ["x" * 150], ["x" * 151]),
        ("town", ["x" * 100], ["x" * 101]),
        ("county", ["x" * 50], ["x" * 51]),
        ("postcode", ["x" * 15], ["x" * 16]),
        ("country", ["GB"], ["GBR", "G", "g1"]),
        ("trans_class", ["x" * 32], ["x" * 33]),
        ("success_url", ["https://shop.example/"], ["javascript:alert(1)", "ok"]),
        ("cancel_url", ["https://shop.example/"], ["javascript:alert(1)"]),
        ("redemption_redirect_url", ["https://shop.example/"], ["data:text/html,x"]),
    ]:
        for value in fits:
            reply = account.checkout("gettoken", **{**item(), name: value})
            sandbox.same(reply.error, (200, None), f"{name} {value!r}")
        for value in breaks:
            sandbox.refused_by_checkout(
                account.checkout("gettoken", **{**item(), name: value}), 400, "937", f"{name} {value!r}"
            )
    for given, code in [
        ({"currency": "SEK"}, "111"),
        ({"currency": "gbp"}, "111"),
        ({"item_price[0]": "-1"}, "107"),
        ({"item_price[0]": "1,00"}, "107"),
        ({"item_price[0]": "1.001"}, "107"),
        ({"item_price[0]": "0"}, "107"),
        ({"item_quantity[0]": "x"}, "107"),
        ({"trans_reference": "x" * 51}, "125"),
        ({"terminal_key": "none"}, "957"),
        ({"applet": "none"}, "971"),
        ({"item_price": "1"}, "937"),
        ({"item_price[]": "1"}, "937"),
        ({"item_price[a]": "1"}, "937"),
        ({"callback_url": "https://shop.example:8443/"}, "184"),
        ({"callback_url": "javascript:x"}, "184"),
        ({"callback_url": "https://10.0.0.1/"}, "184"),
        ({"item_name[2]": "gap", "item_price[2]": "1"}, "937"),
        ({"item_price[1]": "1"}, "938"),
    ]:
        sandbox.refused_by_checkout(
            account.checkout("gettoken", **{**item(), **given}), 400, code, f"gettoken with {given}"
        )
    sandbox.refused_by_checkout(
        account.checkout("gettoken", **{"item_name[0]": "x"}), 400, "107", "an item without a price"
    )
    bare = account.checkout("gettoken")
    sandbox.same((bare.error, bare["items"]), ((200, None), ""), "no items (A118)")
    sandbox.same(account.checkout("gettoken", **item("5.950")).error, (200, None), "zeros beyond the exponent (A13)")


# spec: 3 §3.1; 3 §4.9, A126, A113; method enterprise/canceltoken
@walk.step
def tokens_are_cancelled(sandbox):
    account, other = sandbox.account(), sandbox.account("other")
    token = account.checkout("gettoken", **item())["token"]["tokenid"]
    sandbox.same(other.checkout("canceltoken", tokenid=token).data, {"status": "0"}, "by another account")
    for _ in range(2):
        sandbox.same(account.checkout("canceltoken", tokenid=token).data, {"status": "1"}, "cancelled (A126)")
    sandbox.same(account.checkout("canceltoken", tokenid="0" * 32).data, {"status": "0"}, "an unknown token")
    sandbox.refused_by_checkout(account.checkout("canceltoken"), 400, "938", "no token")
    old = account.checkout("gettoken", **item())["token"]["tokenid"]
    sandbox.service.advance(7 * DAY)
    sandbox.same(account.checkout("canceltoken", tokenid=old).data, {"status": "0"}, "an expired token")


if __name__ == "__main__":
    walk.run()
