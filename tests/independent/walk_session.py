"""The client session: initiate, the card form and its four redirects, decrypted by openssl (spec 2 §2–§4.2)."""

from checks import Walk
from shop import CURRENT, ERROR, NEXT, card, form, order, post, posted, session

walk = Walk()

MINUTES = 60


def lands(sandbox, account, fields, page, what, form_id="form7"):
    """Posts the form and returns the decrypted data of a redirect to `page`."""
    reply = post(account, fields)
    sandbox.same(reply.status, 303, f"{what}: status")
    address, returned_form, data = account.redirect(reply.header("location") or "")
    sandbox.same(address, page, f"{what}: where the browser goes")
    sandbox.same(returned_form, form_id, f"{what}: formId")
    sandbox.holds(all(known["number"] not in str(data) for known in sandbox.cards), f"{what}: a card number", data)
    return data


def error_page(sandbox, account, fields, code, what, form_id="form7"):
    data = lands(sandbox, account, fields, ERROR, what, form_id)
    sandbox.explained(data, f"{what}: all that the error page learns")
    sandbox.same(data.get("errorCode"), code, f"{what}: errorCode")


# spec: 2 §4.1; method session/initiate; codes ErrorCode 133
@walk.in_both
def initiate_wants_an_error_page(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for given, what in [
        ({}, "none"),
        ({"errorPageUrl": ""}, "empty"),
        ({"errorPageUrl": "shop"}, "no address"),
        ({"errorPageUrl": "javascript:alert(1)"}, "a script"),
        ({"errorPageUrl": "/error"}, "a path"),
        ({"errorPageUrl": "ftp://shop.example/"}, "not for browsers"),
    ]:
        sandbox.refused(account.call("session/initiate", **given), 400, "133", f"errorPageUrl: {what}")
    keys = {session(account) for _ in range(10)}
    sandbox.same(len(keys), 10, "ten sessions have ten keys")


# spec: 2 §2.2, A34; 2 §2.2; 2 §2.2, A17; 2 §4.2, A33; method session/postform
@walk.in_both
def a_valid_form_leads_to_the_next_page(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    fields = form(
        session(account),
        number,
        cardDescription="blue",
        collectNotes="é & <b> +",
        collect="x",
        collectEmpty="",
        customerFirstName="Ada",
        customerLandline="0123",
        cardholderAddressPostcode="AB1 2CD",
    )
    data = lands(sandbox, account, fields, NEXT, "a valid form")
    expected = {
        "cardholderName": "Ada Lovelace",
        "cardNumber": number[:6] + "*" * (len(number) - 10) + number[-4:],
        "cardExpiryMonth": "12",
        "cardExpiryYear": "2049",
        "cardCV2": "",
        "collectNotes": "é & <b> +",
        "collect": "x",
        "collectEmpty": "",
    }
    sandbox.same(data, expected, "the data of the next page")
    sandbox.same(list(data), list(expected), "its order (A82)")


# spec: 2 §4.2
@walk.step
def without_an_encoding_the_data_is_xml(sandbox):
    account = sandbox.account(encoding=None)
    data = lands(sandbox, account, form(session(account), sandbox.card("approved")), NEXT, "no encoding")
    sandbox.same(data["cardCV2"], "", "XML data")


# spec: 2 §2.2, A82: cardNumber shows the first 6 and last 4 digits.
@walk.in_both
def every_card_length_is_masked(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for known in sandbox.cards:
        number = known["number"]
        data = lands(sandbox, account, form(session(account), number), NEXT, known["scheme"])
        sandbox.same(data["cardNumber"], number[:6] + "*" * (len(number) - 10) + number[-4:], known["scheme"])
    data = lands(sandbox, account, form(session(account), "400000000002"), NEXT, "twelve digits")
    sandbox.same(data["cardNumber"], "400000**0002", "a number of twelve digits")


@walk.in_both
def the_card_number_is_masked_wherever_it_is_repeated(sandbox, encoding):
    """Card data is never returned unmasked (spec 2 §1.1), whatever field it was typed into."""
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    groups = [number[at : at + 4] for at in range(0, 16, 4)]
    for typed, page in [(number, NEXT), (" ".join(groups), CURRENT), ("-".join(groups), CURRENT)]:
        fields = form(
            session(account), typed, cardholderName=typed, collectA=f"x{typed}y", collectB=number, formId=typed
        )
        location = post(account, fields).header("location")
        address, form_id, data = account.redirect(location)
        sandbox.same(address, page, f"where {typed!r} leads")
        told = "".join(character for character in f"{form_id} {data}" if character not in " -")
        sandbox.holds(number not in told, f"{typed!r} is repeated unmasked", (form_id, data))


# spec: 2 §4.2, A81
@walk.in_both
def the_expiry_may_be_written_in_every_documented_form(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    for given, shown in [
        ({"cardExpiryMonth": "01", "cardExpiryYear": "49"}, ("01", "49")),
        ({"cardExpiryMonth": "01", "cardExpiryYear": "2049"}, ("01", "2049")),
        ({"cardExpiryMonth": None, "cardExpiryYear": None, "cardExpiryDate": "0149"}, ("01", "49")),
        ({"cardExpiryMonth": None, "cardExpiryYear": None, "cardExpiryDate": "012049"}, ("01", "2049")),
    ]:
        data = lands(sandbox, account, form(session(account), number, **given), NEXT, f"{given}")
        sandbox.same((data["cardExpiryMonth"], data["cardExpiryYear"]), shown, f"expiry of {given}")
    for given in [
        {"cardExpiryMonth": "13"},
        {"cardExpiryMonth": "00"},
        {"cardExpiryMonth": "1"},
        {"cardExpiryYear": "2020"},
        {"cardExpiryYear": "049"},
        {"cardExpiryYear": "abcd"},
        {"cardExpiryMonth": None, "cardExpiryYear": None, "cardExpiryDate": "1320"},
    ]:
        data = lands(sandbox, account, form(session(account), number, **given), CURRENT, f"{given}")
        sandbox.same(list(data.get("errors", {})), ["cardExpiryYear"], f"errors of {given}")
        sandbox.same(data["errors"]["cardExpiryYear"]["errorCode"], "109", f"code of {given}")


# spec: 2 §2.2, A20; 2 §4.2, A81
@walk.in_both
def invalid_fields_lead_back_with_their_errors(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    good = sandbox.card("approved")
    bad = good[:-1] + str((int(good[-1]) + 1) % 10)
    fields = form(session(account), bad, cardExpiryYear="2001", cardCV2="12", collectStep="2")
    data = lands(sandbox, account, fields, CURRENT, "three invalid fields")
    kept = {name: value for name, value in data.items() if name != "errors"}
    sandbox.same(
        kept,
        {
            "cardholderName": "Ada Lovelace",
            "cardNumber": bad[:6] + "*" * 6 + bad[-4:],
            "cardExpiryMonth": "12",
            "cardExpiryYear": "2001",
            "cardCV2": "",
            "collectStep": "2",
        },
        "the input for the form",
    )
    codes = {name: error["errorCode"] for name, error in data["errors"].items()}
    sandbox.same(codes, {"cardNumber": "108", "cardExpiryYear": "109", "cardCV2": "110"}, "all errors at once")
    for name, error in data["errors"].items():
        sandbox.explained(error, f"the error on {name}")
    for number, mask in [
        ("4000", "****"),
        ("4000 0000 0000 1000", "*" * 19),
        ("abcdefghijkl", "*" * 12),
        ("1" * 20, "*" * 20),
    ]:
        data = lands(sandbox, account, form(session(account), number), CURRENT, number)
        sandbox.same(data["cardNumber"], mask, f"mask of {number!r} (A82)")
        sandbox.same(data["errors"]["cardNumber"]["errorCode"], "108", number)
    for cv2 in ["1", "12345", "abc", "12 "]:
        data = lands(sandbox, account, form(session(account), good, cardCV2=cv2), CURRENT, cv2)
        sandbox.same(list(data["errors"]), ["cardCV2"], f"CV2 {cv2!r}")
    for name, length in [
        ("cardholderAddressPostcode", 8),
        ("cardholderAddressLine1", 50),
        ("customerTitle", 12),
        ("customerSurname", 50),
        ("customerMobile", 14),
        ("customerAddressPostcode", 8),
    ]:
        lands(sandbox, account, form(session(account), good, **{name: "é" * length}), NEXT, f"{name} at its length")
        data = lands(sandbox, account, form(session(account), good, **{name: "x" * (length + 1)}), CURRENT, name)
        sandbox.same(list(data["errors"]), [name], f"{name} too long")
    lands(sandbox, account, form(session(account), good, cardCV2=None), NEXT, "without the optional CV2")
    lands(sandbox, account, form(session(account), good, cardCV2="1234"), NEXT, "a CV2 of four digits")


# spec: 2 §4.2, A80; codes ErrorCode 134 135
@walk.in_both
def a_missing_field_leads_to_the_error_page(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    for missing, code in [
        ({"nextPageUrl": None}, "134"),
        ({"currentPageUrl": None}, "135"),
        ({"nextPageUrl": ""}, "134"),
        ({"currentPageUrl": "javascript:alert(1)"}, "135"),
        ({"cardNumber": None}, "108"),
        ({"cardNumber": ""}, "108"),
        ({"cardExpiryMonth": None}, "109"),
        ({"cardExpiryYear": None}, "109"),
        ({"cardExpiryYear": "", "cardExpiryMonth": ""}, "109"),
    ]:
        error_page(sandbox, account, form(session(account), number, **missing), code, f"{missing}")
    error_page(
        sandbox, account, form(session(account), number, nextPageUrl=None, formId=None), "134", "no formId", None
    )


# spec: 2 §4.2, A80
@walk.in_both
def a_malformed_next_page_leads_back_with_its_error(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    for address in ["javascript:alert(1)", "shop.example/next", "/next"]:
        data = lands(sandbox, account, form(session(account), number, nextPageUrl=address), CURRENT, address)
        codes = {name: error["errorCode"] for name, error in data["errors"].items()}
        sandbox.same(codes, {"nextPageUrl": "134"}, f"codes of {address}")
        both = form(session(account), number, nextPageUrl=address, currentPageUrl=address)
        error_page(sandbox, account, both, "135", f"{address} for both pages")


# spec: 2 §3.1, A79
@walk.in_both
def without_a_session_the_service_shows_its_own_page(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for key in [None, "", "0" * 32, "x", session(account) + "0"]:
        reply = post(account, form(key, sandbox.card("approved")))
        location = reply.header("location") or ""
        sandbox.same((reply.status, location.split("?")[0]), (303, "/session-error"), f"sessionKey {key!r}")
        page = sandbox.service.send("GET", account.service.base_url + location)
        sandbox.holds(page.header("content-type").startswith("text/html"), "the page is HTML", page.headers.items())
        sandbox.holds(b"129" in page.body, "the page tells the code", page.body)
        sandbox.holds(b"shop.example" not in page.body, "the page leads nowhere", page.body)
    page = sandbox.service.send("GET", account.service.base_url + "/session-error?errorCode=%3Cscript%3E")
    sandbox.holds(b"<script>" not in page.body, "no script through the address", page.body)


# spec: 2 §4.2, A83
@walk.in_both
def redirects_keep_the_merchants_own_parameters(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    for page, before, after in [
        ("https://shop.example/r?order=7", "https://shop.example/r?order=7&formId=form7&data=", ""),
        ("https://shop.example/r?", "https://shop.example/r?", ""),
        ("https://shop.example/r#part", "https://shop.example/r?formId=form7&data=", "#part"),
        ("https://shop.example/r?a=%20b#p?q", "https://shop.example/r?a=%20b&formId=form7&data=", "#p?q"),
        ("https://shop.example", "https://shop.example", ""),
        ("http://127.0.0.1:9/x", "http://127.0.0.1:9/x?formId=form7&data=", ""),
    ]:
        location = post(account, form(session(account), number, nextPageUrl=page)).header("location")
        sandbox.holds(location.startswith(before) and location.endswith(after), f"the way to {page}", location)
        sandbox.same(account.redirect(location.removesuffix(after))[2]["cardCV2"], "", f"data for {page}")
    reply = post(account, form(session(account), number, nextPageUrl="https://shop.example/\r\nX-Evil: 1"))
    sandbox.holds(reply.header("x-evil") is None, "no header through an address", reply.headers.items())


@walk.step
def each_redirect_has_a_vector_of_its_own(sandbox):
    account = sandbox.account()
    key = session(account)
    locations = [post(account, form(key, sandbox.card("approved"))).header("location") for _ in range(5)]
    sandbox.same(len({location.split("iv=")[1] for location in locations}), 5, "five posts, five vectors")
    sandbox.same(len(set(locations)), 5, "the same input is not encrypted to the same data")


# spec: 2 §1.1, A84
@walk.in_both
def several_pages_collect_together(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    key = session(account)
    lands(sandbox, account, form(key, number, collectOne="1", cardholderName="First"), NEXT, "the first page")
    data = lands(sandbox, account, form(key, number, collectTwo="2"), NEXT, "the second page")
    sandbox.same((data["collectOne"], data["collectTwo"]), ("1", "2"), "inputs of both pages (A84)")
    sandbox.approved(account.call("transaction/authSessionKey", sessionKey=key, **order()), "Auth", "paid after both")


# spec: 2 §3.1, A78
@walk.in_both
def a_session_lives_thirty_minutes(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    key = posted(sandbox, account)
    sandbox.service.advance(30 * MINUTES - 1)
    lands(sandbox, account, form(key, number), NEXT, "a second before the end")
    sandbox.approved(account.call("transaction/authSessionKey", sessionKey=key, **order()), "Auth", "before the end")
    sandbox.service.advance(1)
    reply = account.call("transaction/authSessionKey", sessionKey=key, **order())
    sandbox.refused(reply, 400, "136", "paying with an expired session")
    error_page(sandbox, account, form(key, number), "136", "posting to an expired session")
    sandbox.service.advance(30 * 24 * 3600)
    reply = account.call("transaction/authSessionKey", sessionKey=key, **order())
    sandbox.refused(reply, 400, "136", "a month later")


# spec: 1 §2.4; 2 §1.1; method transaction/authSessionKey
@walk.in_both
def a_session_pays_when_a_card_was_posted(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    empty = session(account)
    pay = "transaction/authSessionKey"
    sandbox.refused(account.call(pay, sessionKey=empty, **order()), 400, "956", "no card yet (A85)")
    post(account, form(empty, "4000"))
    sandbox.refused(account.call(pay, sessionKey=empty, **order()), 400, "956", "only an invalid card")
    sandbox.refused(account.call(pay, sessionKey="0" * 32, **order()), 400, "129", "an unknown session")
    sandbox.refused(account.call(pay, **order()), 400, "129", "no session")
    key = posted(sandbox, account, initiate={"merchantCustomerReference": "c-of-session"})
    first = sandbox.approved(account.call(pay, sessionKey=key, **order(700)), "Auth", "the first payment")
    second = sandbox.approved(account.call(pay, sessionKey=key, **order(800)), "Auth", "the second payment (A85)")
    sandbox.holds(first != second, "two payments have two keys")
    record = account.call("transaction/lookup", transactionKey=first).list("transactions", "transaction")[0]
    sandbox.same(record.get("merchantCustomerReference"), "c-of-session", "the session's customer (A86)")
    declined = posted(sandbox, account, "declined")
    reply = account.call(pay, sessionKey=declined, **order())
    sandbox.same((reply.status, reply["transactionStatusCode"]), (200, "901"), "a declined card (A87)")
    corrected = card(sandbox.card("approved"))
    post(account, form(declined, corrected["cardNumber"]))
    sandbox.approved(account.call(pay, sessionKey=declined, **order()), "Auth", "another card in the same session")


if __name__ == "__main__":
    walk.run()
