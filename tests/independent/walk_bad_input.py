"""Bytes that are no good request: every one gets an error in the service's own format, and the service stays up.

Sources: spec 1 §4.1 for what a request is, A36, A37 and A45 to A51 for what else gets which error.
"""

import errno
import socket
import urllib.parse

from checks import Walk
from client import FORM, encode
from shop import ERROR, card, form, order, session

walk = Walk()

V3 = ["session/initiate", "token/lookup", "token/enable", "transaction/auth", "transaction/refund"]
MIB = 1024 * 1024


def post_raw(account, method, body, content_type=FORM):
    headers = {} if content_type is None else {"Content-Type": content_type}
    return account.service.send("POST", account.url(method), body, headers, account.encoding)


def still_up(sandbox, account):
    reply = account.call("session/initiate", errorPageUrl=ERROR)
    sandbox.same(reply.error, (200, None), "the service is still up")


# spec: 1 §4.1, A49: Every method is a POST.
# spec: codes SandboxErrorCode 934
@walk.in_both
def other_http_methods_are_refused(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for name in V3 + ["session/postform"]:
        query = "?" + urllib.parse.urlencode(account.signed({"errorPageUrl": ERROR}))
        for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]:
            reply = sandbox.service.send(method, account.url(name) + query, encoding=encoding)
            sandbox.refused(reply, 400, "934", f"{method} {name} (A49)")
        head = sandbox.service.send("HEAD", account.url(name))
        sandbox.same((head.status, head.body), (400, b""), f"HEAD {name}")


# spec: 1 §4.1: Parameters in the URL are ignored.
@walk.in_both
def parameters_in_the_address_are_no_parameters(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    query = urllib.parse.urlencode(account.signed({"errorPageUrl": ERROR}))
    reply = sandbox.service.send("POST", account.url("session/initiate") + "?" + query, encoding=encoding)
    sandbox.refused(reply, 400, "101", "POST with everything in the query")


# spec: 1 §4.1, A36, A46, A48; codes SandboxErrorCode 933
@walk.in_both
def the_content_type_must_be_that_of_a_form(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    body = encode(account.signed({"errorPageUrl": ERROR}))
    for kind in [
        None,
        "text/plain",
        "application/json",
        "multipart/form-data; boundary=x",
        "application/xml",
        "x",
        FORM + "; charset=iso-8859-1",
        FORM + "x",
    ]:
        sandbox.refused(post_raw(account, "session/initiate", body, kind), 400, "933", f"content type {kind} (A46)")
    for kind in [FORM + "; charset=utf-8", FORM + ';charset="UTF-8"', FORM.upper(), FORM + "; charset=us-ascii"]:
        sandbox.same(post_raw(account, "session/initiate", body, kind).error, (200, None), f"content type {kind}")


# spec: 1 §4.1, A36, A46, A48
@walk.in_both
def blanks_may_be_written_in_two_ways(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    parameters = account.signed({"errorPageUrl": ERROR, "merchantCustomerReference": "a b c"})
    plus = encode(parameters)
    percent = plus.replace(b"+", b"%20")
    unescaped = plus.replace(b"%3A", b":").replace(b"%2F", b"/")
    lower = plus.replace(b"%3A", b"%3a").replace(b"%2F", b"%2f")
    for body in [plus, percent, unescaped, lower, plus + b"&", b"&" + plus, plus.replace(b"&", b"&&")]:
        sandbox.same(post_raw(account, "session/initiate", body).error, (200, None), body)


# spec: codes SandboxErrorCode 930
@walk.in_both
def bodies_that_cannot_be_read_give_930(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    good = encode(account.signed({"errorPageUrl": ERROR}))
    for tail in [
        b"&a=%",
        b"&a=%4",
        b"&a=%zz",
        b"&%=a",
        b"&a=\xff",
        b"&a=%ff",
        b"&a=%c3%28",
        b"&a=%ed%a0%80",
        b"&\xc3=1",
        b"&a=%c0%80",
    ]:
        for method in V3:
            sandbox.refused(post_raw(account, method, good + tail), 400, "930", f"{method} with {tail} (A46)")
    for body in [b"\x00\x01\x02\xff", b"%", b"\xff" * 1000]:
        sandbox.refused(post_raw(account, "transaction/auth", body), 400, "930", f"{body[:9]}")
    still_up(sandbox, account)


@walk.in_both
def odd_bodies_are_answered(sandbox, encoding):
    """Readable as a form, and yet no request: an error of some kind, never a failure of the service."""
    account = sandbox.account(encoding=encoding)
    for body in [
        b"=",
        b"&",
        b"&&&",
        b"=value",
        b"name",
        b"{}",
        b'{"apiKey":"x"}',
        b"<xml/>",
        b"\x00",
        b"a=%00",
        b"apiKey",
        b"apiKey=&apiPassword=",
        b"a" * 10_000,
        b"a=" + b"b" * 10_000,
    ]:
        for method in V3:
            reply = post_raw(account, method, body)
            sandbox.holds(reply.status in (400, 401) and reply.get("errorCode"), f"{method} with {body[:20]}", reply)
        # None of these names an account: every one counts as a failed attempt.
        sandbox.service.advance(24 * 3600)
    still_up(sandbox, account)


# spec: codes SandboxErrorCode 935
@walk.in_both
def a_parameter_sent_twice_gives_935(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    good = account.signed(card(sandbox.card("approved")) | order())
    for name in ["apiKey", "currency", "itemPrice0", "shaSignature", "unknown"]:
        for value in [good.get(name, "x"), "other", ""]:
            pairs = [*({"unknown": "x"} | good).items(), (name, value)]
            reply = post_raw(account, "transaction/auth", encode(pairs))
            sandbox.refused(reply, 400, "935", f"{name} twice (A48)")
    pairs = [*account.signed({"cardKey": "k", "cardholderAddressTown": "a", "cardholderAdressTown": "a"}).items()]
    reply = post_raw(account, "token/updateCardKeyDetails", encode(pairs))
    sandbox.refused(reply, 400, "935", "both spellings of one name (A23)")


# spec: 1 §8, A47; codes SandboxErrorCode 931 932
@walk.in_both
def size_has_limits(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for method in ["session/initiate", "transaction/auth", "token/lookup"]:
        for size in [MIB + 1, 10 * MIB]:
            reply = post_raw(account, method, b"a=" + b"b" * (size - 2))
            sandbox.refused(reply, 400, "931", f"{method} with {size} bytes (A47)")
    padding = {f"p{n}": "" for n in range(2000 - 4)}
    reply = account.call("session/initiate", errorPageUrl=ERROR, **padding)
    sandbox.same(reply.error, (200, None), "2,000 parameters")
    for count in [2001, 10_000]:
        reply = account.call("session/initiate", errorPageUrl=ERROR, **{f"p{n}": "" for n in range(count - 4)})
        sandbox.refused(reply, 400, "932", f"{count} parameters (A47)")
    full = account.signed({"errorPageUrl": ERROR})
    room = MIB - len(encode(full)) - len("&padding=")
    body = encode(account.signed({"errorPageUrl": ERROR, "padding": "x" * room}))
    sandbox.same(len(body), MIB, "a body of exactly 1 MiB")
    sandbox.same(post_raw(account, "session/initiate", body).error, (200, None), "is still read")
    still_up(sandbox, account)


@walk.in_both
def control_characters_are_no_text(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    raw = card(sandbox.card("approved"))
    for character in ["\x00", "\x07", "\n", "\r\n", "\x1b", "\x7f", "\x85"]:
        reply = account.call("transaction/auth", **raw, **order(merchantReference=f"a{character}b"))
        sandbox.refused(reply, 400, "125", f"a reference with {character!r} (A01)")
        reply = account.call("transaction/auth", **raw, **order(itemName0=f"a{character}b"))
        sandbox.refused(reply, 400, "937", f"an item with {character!r} (A01)")


@walk.in_both
def errors_never_repeat_what_was_sent(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    canary = "<script>canary7</script>"
    for method, given in [
        ("session/initiate", {"errorPageUrl": canary}),
        ("token/enable", {"cardKey": canary}),
        ("transaction/auth", {**card(canary), **order()}),
        ("transaction/auth", {**card(sandbox.card("approved")), **order(currency=canary)}),
        ("transaction/auth", {**card(sandbox.card("approved")), **order(), "mccDateOfBirth": canary}),
        ("transaction/auth", {**card(sandbox.card("approved")), **order(), "terminalKey": canary}),
        ("transaction/refund", {"transactionKey": canary}),
        ("transaction/" + urllib.parse.quote(canary, safe=""), {}),
    ]:
        reply = account.call(method, **given)
        sandbox.holds(b"canary7" not in reply.body, f"{method} repeats a value", reply)
    for body in [f"{canary}={canary}&{canary}=1".encode(), f"a={canary}%".encode()]:
        reply = post_raw(account, "transaction/auth", body)
        sandbox.holds(b"<script>" not in reply.body, "markup comes back as it was sent", reply.body)


# spec: 1 §7, A51
@walk.in_both
def the_order_of_checks_is_the_documented_one(sandbox, encoding):
    """Path, HTTP method, encoding, body, credentials, signature, permission, parameters (A51)."""
    strict = sandbox.account("strict", encoding)
    wrong = {"apiPassword": "wrong", "shaSignature": "0" * 128}
    reply = strict.call("transaction/none", **wrong)
    sandbox.refused(reply, 400, "103", "path before credentials")
    reply = strict.call("transaction/auth", **wrong)
    sandbox.refused(reply, 401, "102", "credentials before the signature")
    reply = strict.call("transaction/auth", shaSignature="0" * 128)
    sandbox.refused(reply, 401, "123", "the signature before permission")
    sandbox.refused(strict.call("transaction/auth"), 403, "106", "permission before parameters")
    main, raw = sandbox.account(encoding=encoding), card(sandbox.card("approved"))
    for given, code in [
        ({"currency": "X", **order("x"), "cardNumber": "1"}, "108"),
        ({**raw, **order("x", currency="X")}, "111"),
        ({**raw, **order("x"), "merchantReference": "x" * 33}, "107"),
        ({**raw, **order(), "merchantReference": "x" * 33, "terminalKey": "none"}, "125"),
        ({**raw, **order(), "terminalKey": "none"}, "957"),
    ]:
        sandbox.refused(main.call("transaction/auth", **given), 400, code, "the first wrong parameter, then its state")
    sandbox.service.advance(24 * 3600)


@walk.in_both
def the_card_form_handles_the_same_input(sandbox, encoding):
    """The browser always gets a redirect; where no session can be told, to the service's own page (A79, A80)."""
    account = sandbox.account(encoding=encoding)
    good = encode(form(session(account), sandbox.card("approved")))

    def leads(speaker, body, code, what, content_type=FORM):
        """To the merchant's error page with a code, or to the service's own where no session can be told."""
        headers = {"Content-Type": content_type} if content_type else {}
        reply = account.service.send("POST", speaker.url("session/postform"), body, headers)
        location = reply.header("location") or ""
        sandbox.same((reply.status, location.split("?")[0]), (303, ERROR if code else "/session-error"), what)
        if code and location.startswith(ERROR):
            # The data for an encoding that does not exist is XML (A37).
            reader = account if speaker is account else account.speaking("xml")
            sandbox.same(reader.redirect(location)[2].get("errorCode"), code, what)

    leads(account, good + b"&cardNumber=4", "935", "a field twice")
    leads(account, good + b"&a=%zz", "930", "a broken escape")
    leads(account, good + b"&a=%ff", "930", "invalid UTF-8")
    leads(account, good + b"&" + b"&".join(b"p%d=" % n for n in range(3000)), "932", "3,000 fields")
    leads(account, good + b"&a=" + b"x" * 10 * MIB, None, "10 MB")
    leads(account, good, None, "JSON", "application/json")
    leads(account, b"\xff\x00", None, "no form at all")
    leads(account, b"", None, "nothing", None)
    leads(account.speaking("yaml"), good, "104", "an unknown encoding")
    fields = form(session(account), sandbox.card("approved"), collectBig="x" * 70_000)
    leads(account, encode(fields), "931", "data that no address holds (A135)")
    still_up(sandbox, account)


# spec: 1 §9
@walk.step
def paths_that_are_no_methods(sandbox):
    account = sandbox.account()
    base = sandbox.service.base_url
    for path in ["/nothing", "/v2/token/lookup", "/v3", "/v4/token/lookup", "/favicon.ico"]:
        sandbox.same(sandbox.service.send("GET", base + path).status, 404, f"GET {path} (A49)")
    signed = account.signed({"errorPageUrl": ERROR})
    for path in ["/v3/session/initiate/", "/v3/session/initiate/xml/"]:
        sandbox.same(sandbox.service.post(base + path, signed, "xml").error, (200, None), f"{path} (A37)")
    for path in ["/v3/session/initiate/XML", "/v3/session/initiate/json/xml", "/v3/session/initiate/html"]:
        sandbox.refused(sandbox.service.post(base + path, signed, "xml"), 400, "104", f"{path} (A37)")
    for path in ["/v3/token/", "/v3/session/", "/v3/transaction/../token/lookup", "/v3/token//lookup"]:
        status = sandbox.service.send("POST", base + path, encode(signed), {"Content-Type": FORM}).status
        sandbox.holds(status in (400, 404), path, status)


@walk.step
def broken_http_is_answered_or_closed(sandbox):
    """Whatever comes over the connection, it ends, and the next one is served."""
    address = urllib.parse.urlsplit(sandbox.service.base_url)
    for sent in [
        b"\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        b"\xff" * 5000,
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v3/token/lookup HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v3/token/lookup HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /v3/token/lookup HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000 + b"\r\n",
    ]:
        with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                answer = b""
                while chunk := connection.recv(65536):
                    answer += chunk
            except OSError as error:
                # A connection that was reset cannot be shut down.
                if not isinstance(error, ConnectionError) and error.errno != errno.ENOTCONN:
                    raise
                answer = b""
        sandbox.holds(answer == b"" or answer.startswith(b"HTTP/1."), f"answer to {sent[:40]}", answer[:80])
        sandbox.holds(b"panicked" not in answer, "no innards", answer)
    still_up(sandbox, sandbox.account())


if __name__ == "__main__":
    walk.run()
