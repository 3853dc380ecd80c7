"""Charges one order, once, whatever happens. Python 3.8 or later, standard library alone.

Input: the account in the environment, one JSON line on standard input. Output: one JSON line with the claim.
The rules that keep the money safe are marked with numbers:
  1. one uniqueMerchantReference for an order, kept before anything is sent;
  2. every attempt carries it: the service accepts it once;
  3. what is not a clear answer is unknown, and an unknown payment is looked up before anything else;
  4. an empty lookup proves nothing: a request may still be on its way;
  5. refused credentials and lockouts end it, because more refusals lock the address out for longer;
  6. a reply or a row of a lookup with another reference, type, currency or amount is not this order's: a lookup follows such
     a reply, and such a row, or several payments under the reference, are unknown;
  7. a request may arrive twice: a refusal of one copy, also of its credentials, does not prove that nothing was charged.
"""
import hashlib
import http.client
import json
import os
import re
import socket
import ssl
import sys
import threading
import time
import urllib.parse

TIMEOUT = float(os.environ.get("PAY_TIMEOUT", "3"))  # for one request and its whole reply, in seconds
PATIENCE = float(os.environ.get("PAY_PATIENCE", "8"))  # for all of them
PAUSE = float(os.environ.get("PAY_PAUSE", "0.3"))
APPROVED = "600"
DECLINED = {"901", "902", "903", "907"}  # what your operator answers to a decline; these are the sandbox's
DENIED = "106"  # no permission, now
STOP = {"102", "105", "123", DENIED, "121", "122"}  # refused credentials, and lockouts of a minute and of five
FOLLOW_UPS = {"Capture", "CancelPreAuth", "Refund"}  # of a payment that has a row of its own
PROTECTED = r"^(https://|http://(127\.[0-9.]+|localhost|\[::1\])(:[0-9]+)?(/|$))"  # by TLS, or on this machine


class Unclear(Exception):
    """No answer, or none that can be read: the request may have been executed."""


class Refused(Exception):
    """The service refused, with this code."""


def call(method, parameters):
    """One signed request. Returns the reply, and raises Refused or Unclear."""
    form = {"apiKey": os.environ["PG_API_KEY"], "apiPassword": os.environ["PG_API_PASSWORD"]}
    form.update({name: str(value) for name, value in parameters.items()})
    names = sorted((name for name in form if form[name]), key=str.lower)
    text = "".join(name + "=" + form[name] + os.environ["PG_SHA_KEY"] for name in names)
    form["shaSignature"] = hashlib.sha512(text.encode()).hexdigest()
    base = urllib.parse.urlsplit(os.environ["PG_BASE_URL"])
    if base.scheme == "https":
        # Verifies certificates and host names, against SSL_CERT_FILE when it is set.
        connection = http.client.HTTPSConnection(base.netloc, timeout=TIMEOUT, context=ssl.create_default_context())
    else:
        connection = http.client.HTTPConnection(base.netloc, timeout=TIMEOUT)
    end = time.monotonic() + TIMEOUT
    timer = None
    try:
        connection.connect()
        # The timeout of a socket limits each silence. A reply that arrives byte by byte needs a limit of its own.
        timer = threading.Timer(max(0, end - time.monotonic()), hang_up, [connection.sock])
        timer.start()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", base.path + "/v3/" + method + "/json", urllib.parse.urlencode(form), headers)
        response = connection.getresponse()  # follows no redirect
        # Numbers stay as they are written: 998.00 is not 998.
        reply = json.loads(response.read().decode(), parse_int=str, parse_float=str, object_pairs_hook=unique)
    except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
        raise Unclear(type(error).__name__) from None  # the text of an error may hold the request
    finally:
        if timer:
            timer.cancel()
        connection.close()
    if not isinstance(reply, dict):
        raise Unclear("no object")
    code = shown(reply, "errorCode")
    if code in STOP:
        raise Refused(code)
    if code or not 200 <= response.status < 300:
        raise Unclear("HTTP %d, error %s" % (response.status, code))
    return reply


def unique(members):
    """An object of a reply. One with a member twice is not clear (3)."""
    record = dict(members)
    if len(record) < len(members):
        raise ValueError("a member twice")
    return record


def hang_up(sock):
    """Ends a connection, so that the thread that reads from it stops."""
    try:
        socket.socket.shutdown(sock, socket.SHUT_RDWR)  # of the TCP connection also under TLS
    except OSError:
        pass  # it has ended


def shown(record, name):
    """The text of a field; empty when the field is missing or null."""
    return "" if record.get(name) is None else str(record[name])


def outcome(payment):
    """What a payment record says; None when it says nothing that is documented."""
    code = shown(payment, "transactionStatusCode")
    if code == APPROVED:
        return {"claim": "paid", "transactionKey": shown(payment, "transactionKey")}
    if code in DECLINED:
        return {"claim": "declined", "transactionKey": shown(payment, "transactionKey")}
    return {"claim": "unknown"} if code else None


def differing(record, form):
    """The fields in which a record names something else than the payment that was sent (6). Missing ones do not count."""
    sent = {
        "uniqueMerchantReference": form["uniqueMerchantReference"],
        "transactionType": "Auth",
        "currency": form["currency"],
        "transactionValue": str(form["itemPrice0"]),
    }
    return {name for name, value in sent.items() if shown(record, name) not in ("", value)}


def answer(reply, form):
    """What the reply to the payment says; None when it is the reply to something else (6)."""
    return None if differing(reply, form) else outcome(reply)


def look_up(form):
    """The payment with this form's reference, or None when none is shown, which proves nothing (4)."""
    found = call("transaction/lookup", {"uniqueMerchantReference": form["uniqueMerchantReference"]}).get("transactions")
    while isinstance(found, dict) and "transaction" in found:
        found = found["transaction"]
    if isinstance(found, dict):
        found = [found] if "transactionStatusCode" in found else list(found.values())
    records = [record for record in found if isinstance(record, dict)] if isinstance(found, list) else []
    ours = [record for record in records if "uniqueMerchantReference" not in differing(record, form)]
    payments = [record for record in ours if shown(record, "transactionType") not in FOLLOW_UPS]
    if len(payments) == 1 and not differing(payments[0], form):
        return outcome(payments[0])
    return {"claim": "unknown"} if ours else None  # (6)


def payment(job, reference):
    """The method and its parameters."""
    form = {
        "uniqueMerchantReference": reference,
        "currency": job["currency"],
        "itemName0": "Order " + job["order"],
        "itemPrice0": job["amount"],
    }
    if "sessionKey" in job:
        return "transaction/authSessionKey", {**form, "sessionKey": job["sessionKey"]}
    if "cardKey" in job:
        return "transaction/authCardKey", {**form, "cardKey": job["cardKey"]}
    card = job["card"]
    return "transaction/auth", {
        **form,
        "cardNumber": card["number"],
        "cardExpiryMonth": card["expiryMonth"],
        "cardExpiryYear": str(card["expiryYear"])[-2:],
        "cardCV2": card.get("cv2", ""),
    }


def begin(order):
    """Keeps the reference before anything is sent (1). Says whether the order was begun before."""
    # An order such as 2026/17 is no file name, and a name has at most 255 bytes.
    name = urllib.parse.quote(order, safe="")
    name = name if len(name) <= 200 else hashlib.sha256(order.encode()).hexdigest()
    path = os.path.join(os.environ.get("PG_REHEARSE_DIR", "."), name + ".reference")
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(order)
            file.flush()
            os.fsync(file.fileno())
        return False
    except FileExistsError:
        return True


def charge(job):
    reference = job["order"]  # the same for every attempt, and for two workers with one order (1, 2)
    method, form = payment(job, reference)
    sent = begin(job["order"]) or job.get("attempt", 1) > 1
    denied = False
    end = time.monotonic() + PATIENCE
    pause = PAUSE
    while True:
        try:
            known = look_up(form) if sent else None  # (3)
            if known is None and denied:
                return {"claim": "unknown", "error": DENIED}
            if known is None:
                sent = True
                known = answer(call(method, form), form)  # again under the same reference (2)
            if known is not None:
                return known
        except Refused as refused:
            if str(refused) == DENIED and not denied:
                denied = True  # one lookup, and no second payment
                continue
            return {"claim": "unknown", "error": str(refused)}  # (5, 7)
        except Unclear:
            pass
        if time.monotonic() + pause > end:
            return {"claim": "unknown"}
        time.sleep(pause)
        pause *= 2


def main():
    job = json.loads(sys.stdin.readline())
    if job["job"] != "charge":
        sys.exit("this adapter charges only")
    if not re.match(PROTECTED, os.environ["PG_BASE_URL"]):
        sys.exit("PG_BASE_URL has to begin with https://, except on this machine")
    print(json.dumps(charge(job)))


if __name__ == "__main__":
    main()
