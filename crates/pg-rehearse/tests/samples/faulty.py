"""The careful adapter of `pg rehearse init --language python` with one mistake, named by FAULT: see ../faults.rs."""
import hashlib
import http.client
import json
import os
import ssl
import sys
import time
import types
import urllib.parse
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "init"))
sys.dont_write_bytecode = True
import pay  # noqa: E402

FAULT = os.environ.get("FAULT", "")
# The refusals of a payment that count as not charged.
BELIEVED = {
    "lockout-is-not-charged": {"121", "122"},
    "denial-is-not-charged": {"106"},
    "refused-credentials-are-not-charged": {"102", "105"},
    "refused-signature-is-not-charged": {"123"},
}
# The fields that are not compared with the payment that was sent.
NOT_COMPARED = {
    "amount-not-compared": {"transactionValue", "currency"},
    "type-not-compared": {"transactionType"},
    "reference-not-compared": {"uniqueMerchantReference"},
}
# Adapters that look an order up before they send it.
LOOKS_FIRST = {"looked-up-first", "looked-up-first-and-error-believed"}
careful_call, careful_outcome, careful_payment, careful_differing = pay.call, pay.outcome, pay.payment, pay.differing
careful_urlencode, careful_sorted, careful_sha512 = urllib.parse.urlencode, sorted, hashlib.sha512


def once(job, on_unclear, reference=None):
    """Sends the payment once and claims what `on_unclear` says when no clear answer comes."""
    method, form = pay.payment(job, reference or job["order"])
    try:
        return pay.answer(pay.call(method, form), form) or on_unclear(method, form, None)
    except pay.Refused:
        return {"claim": "not-charged"}
    except pay.Unclear as unclear:
        return on_unclear(method, form, unclear)


def again(method, form, _):
    try:
        return pay.answer(pay.call(method, form), form) or {"claim": "unknown"}
    except (pay.Refused, pay.Unclear):
        return {"claim": "unknown"}


def looked_up(form):
    try:
        return pay.look_up(form) or {"claim": "unknown"}
    except (pay.Refused, pay.Unclear):
        return {"claim": "unknown"}


def new_reference(job):
    def resend(method, form, _):
        again(method, {**form, "uniqueMerchantReference": form["uniqueMerchantReference"] + "-retry"}, None)
        return looked_up(form)
    return once(job, resend)


def without(form):
    return {name: value for name, value in form.items() if name != "uniqueMerchantReference"}


def blind_retry(job):
    method, form = pay.payment(job, job["order"])
    for _ in range(3):
        try:
            told = pay.answer(pay.call(method, without(form)), form)
            if told:
                return told
        except pay.Refused:
            return {"claim": "not-charged"}
        except pay.Unclear:
            pass
    return {"claim": "unknown"}


def believes_empty(job):
    found = pay.look_up

    def look_up(form):
        known = found(form)
        return known if known is not None else {"claim": "not-charged"}
    pay.look_up = look_up
    # A first attempt sends; only what is unclear is looked up.
    return careful_charge(job)


def hammering(job):
    for _ in range(6):
        claim = careful_charge(dict(job))
        if claim.get("error") is None:
            return claim
    return claim


def forgetting(job):
    claim = careful_charge(job)
    if claim["claim"] == "unknown":
        os.remove(os.path.join(os.environ["PG_REHEARSE_DIR"], job["order"] + ".reference"))
    return claim


def next_reference(job):
    """Looks an order up before it sends it. An order that is tried again after an unknown outcome gets the next reference."""
    tries = os.path.join(os.environ["PG_REHEARSE_DIR"], job["order"] + ".tries")
    ended = os.path.getsize(tries) if os.path.exists(tries) else 0
    claim = careful_charge({**job, "order": "%s-%d" % (job["order"], ended), "attempt": 2})
    if claim["claim"] == "unknown":
        with open(tries, "a", encoding="utf-8") as file:
            file.write(".")
    return claim


careful_charge = pay.charge
step = "Auth"  # the type of transaction that is made or looked up now


def reserved(job):
    """Reserves, and captures at once, each under a reference of its own."""
    def take(job, kind):
        global step
        step = kind
        return careful_charge(job)
    pay.FOLLOW_UPS = {"CancelPreAuth", "Refund"}

    def differing(record, form):
        other = careful_differing({**record, "transactionType": ""}, form)
        return other | ({"transactionType"} if pay.shown(record, "transactionType") not in ("", step) else set())
    pay.differing = differing
    reservation = take(job, "PreAuth")
    if reservation["claim"] != "paid" or (FAULT == "reserved-found-is-paid" and found):
        return reservation
    capture = take({**job, "order": job["order"] + "-capture", "reservation": reservation["transactionKey"]}, "Capture")
    return reservation if capture["claim"] == "paid" else {"claim": "unknown"}


found = []  # lookups that were made


def charge(job):
    if FAULT.startswith("reserved"):
        return reserved(job)
    if FAULT == "reference-of-form":
        job = {**job, "order": job["order"] + "-" + min({"sessionKey", "card", "cardKey"} & set(job))}
    if FAULT == "reference-of-price":
        job = {**job, "order": "%s-%d" % (job["order"], job["amount"])}
    if FAULT == "new-reference":
        return new_reference(job)
    if FAULT == "blind-retry":
        return blind_retry(job)
    if FAULT == "timeout-is-failure":
        return once(job, lambda *_: {"claim": "not-charged"})
    if FAULT == "timeout-is-decline":
        return once(job, lambda *_: {"claim": "declined"})
    if FAULT == "timeout-is-paid":
        return once(job, lambda *_: {"claim": "paid"})
    if FAULT == "never-looks-up":
        return once(job, lambda *_: {"claim": "unknown"})
    if FAULT == "resends-and-believes-the-refusal":
        return once(job, lambda method, form, _: {"claim": "not-charged"} if again(method, form, _)["claim"] == "unknown" else again(method, form, _))
    if FAULT == "reference-of-amount":
        job = {**job, "order": "%d%s" % (job["amount"], job["currency"])}
    if FAULT == "reference-of-card" and "sessionKey" not in job:
        card = json.dumps(job.get("card") or job["cardKey"])
        job = {**job, "order": hashlib.sha256(card.encode()).hexdigest()[:32]}
    if FAULT == "reference-of-session" and "sessionKey" in job:
        job = {**job, "order": job["order"] + "-" + hashlib.sha256(job["sessionKey"].encode()).hexdigest()[:6]}
    if FAULT == "next-reference-after-unknown":
        return next_reference(job)
    if FAULT == "first-try-not-sent":
        mark = os.path.join(os.environ["PG_REHEARSE_DIR"], "tried-" + hashlib.sha256(job["order"].encode()).hexdigest())
        if not os.path.exists(mark):
            open(mark, "w", encoding="utf-8").close()
            return {"claim": "unknown"}
    if FAULT == "reference-of-each-start":
        job = {**job, "order": job["order"] + "-" + uuid.uuid4().hex[:6], "attempt": 1}
    if FAULT in LOOKS_FIRST:
        try:
            pay.look_up(pay.payment(job, job["order"])[1])
        except (pay.Refused, pay.Unclear):
            return {"claim": "unknown"}
    if FAULT == "empty-lookup-believed":
        return believes_empty(job)
    if FAULT == "credentials-hammered":
        return hammering(job)
    if FAULT == "unknown-order-begun-again":
        return forgetting(job)
    if FAULT == "card-printed":
        print(json.dumps(job), file=sys.stderr)
    if FAULT == "card-blind-retry" and "card" in job:
        return blind_retry(job)
    if FAULT == "card-logged":
        with open(os.environ["FAULT_LOG"], "a", encoding="utf-8") as log:
            log.write(json.dumps(job) + "\n")
    if FAULT == "card-kept":
        with open(os.path.join(os.environ["PG_REHEARSE_DIR"], "order.json"), "w", encoding="utf-8") as file:
            json.dump(job, file)
    return careful_charge(job)


sent = {}


def outcome(payment):
    code = str(payment.get("transactionStatusCode", ""))
    if FAULT == "refusals-and-declines-printed" and code in pay.DECLINED:
        print("declined:", sent, file=sys.stderr)
    if FAULT == "declines-logged" and code in pay.DECLINED:
        with open(os.environ["FAULT_LOG"], "a", encoding="utf-8") as log:
            print("declined:", sent, file=log)
    if FAULT == "unknown-status-is-decline" and code and code != "600":
        return {"claim": "declined"}
    if FAULT == "unknown-status-is-paid" and code and code not in pay.DECLINED and payment.get("transactionType") == "Auth":
        return {"claim": "paid", "transactionKey": payment.get("transactionKey", "")}
    if FAULT == "decline-is-paid" and code in pay.DECLINED:
        return {"claim": "paid"}
    return careful_outcome(payment)


def payment(job, reference):
    method, form = careful_payment(job, reference)
    if step == "PreAuth":
        method = "transaction/preauth"
    if step == "Capture":
        method, form["transactionKey"] = "transaction/capturepreauth", job["reservation"]
    if FAULT == "two-decimals-everywhere" and job["currency"] == "JPY":
        form["itemPrice0"] = job["amount"] * 100
    if FAULT == "three-decimals-forgotten" and job["currency"] == "BHD":
        form["itemPrice0"] = job["amount"] // 10
    if FAULT == "amount-truncated":
        units = {"JPY": 1, "BHD": 1000}.get(job["currency"], 100)
        form["itemPrice0"] = int(job["amount"] / units * units)
    if FAULT == "amount-as-float":
        form["itemPrice0"] = int(float("%.7g" % job["amount"]))
    if FAULT == "sorted-with-case" and "card" in job:
        form["cardholderName"] = "Ada Lovelace"
    if FAULT == "card-in-euro" and "card" in job:
        form["currency"] = "EUR"
    if FAULT == "card-in-reference" and "card" in job:
        form["merchantReference"] = "card " + job["card"]["number"]
    return method, form


def call(method, parameters):
    if method == "transaction/lookup" and FAULT == "another-reference-looked-up":
        parameters = {"uniqueMerchantReference": "shop/" + parameters["uniqueMerchantReference"]}
    if method == "transaction/lookup" and FAULT == "lookup-misspelt":
        parameters = {"uniqueReference": parameters["uniqueMerchantReference"]}
    if method == "transaction/lookup":
        found.append(parameters)
    if method == "transaction/capturepreauth":
        value = parameters["itemPrice0"]
        parameters = {name: parameters[name] for name in ("uniqueMerchantReference", "transactionKey")}
        parameters["transactionValue"] = value
    begun = time.monotonic()
    if method != "transaction/lookup":
        sent.update(parameters)
    if FAULT == "credentials-printed":
        print(os.environ["PG_API_PASSWORD"], file=sys.stderr)
    if FAULT == "password-as-reference":
        parameters = {**parameters, "merchantReference": os.environ["PG_API_PASSWORD"]} if "currency" in parameters else parameters
    if FAULT == "no-reference" and "currency" in parameters:
        parameters = without(parameters)
    try:
        return careful_call(method, parameters)
    except pay.Unclear as unclear:
        if FAULT == "limit-is-not-charged" and "936" in str(unclear) and method != "transaction/lookup":
            print(json.dumps({"claim": "not-charged"}))
            sys.exit(0)
        if FAULT == "refused-connection-is-not-charged" and "ConnectionRefusedError" in str(unclear):
            print(json.dumps({"claim": "not-charged"}))
            sys.exit(0)
        unclear_captures = {"reserved-capture-unclear-is-paid": "paid", "reserved-capture-unclear-is-not-charged": "not-charged"}
        if FAULT in unclear_captures and method == "transaction/capturepreauth":
            print(json.dumps({"claim": unclear_captures[FAULT]}))
            sys.exit(0)
        if FAULT == "reserved-capture-error-is-paid" and method == "transaction/capturepreauth" and "error 108" in str(unclear):
            print(json.dumps({"claim": "paid"}))
            sys.exit(0)
        if FAULT == "119-is-decline" and "119" in str(unclear):
            return {"transactionStatusCode": "901"}
        if FAULT == "server-error-code-believed" and "HTTP 500, error 108" in str(unclear):
            print(json.dumps({"claim": "not-charged"}))
            sys.exit(0)
        if FAULT == "unknown-order-begun-again" and "HTTP 400, error 108" in str(unclear):
            print(json.dumps({"claim": "not-charged"}))
            sys.exit(0)
        if FAULT == "used-reference-is-failure" and "950" in str(unclear):
            print(json.dumps({"claim": "not-charged"}))
            sys.exit(0)
        if FAULT == "refusals-and-declines-printed" and "HTTP 4" in str(unclear):
            print("refused:", parameters, file=sys.stderr)
        if FAULT == "gateway-errors-printed" and "JSONDecodeError" in str(unclear):
            print("failed:", parameters, file=sys.stderr)
        if FAULT == "errors-print-the-request":
            print("failed:", parameters, os.environ["PG_API_KEY"], file=sys.stderr)
        is_late = time.monotonic() - begun > pay.TIMEOUT * 0.9
        believed = {"lookup-error-is-not-charged": True, "looked-up-first-and-error-believed": True, "lookup-timeout-is-not-charged": is_late}
        if believed.get(FAULT) and method == "transaction/lookup":
            print(json.dumps({"claim": "not-charged"}))
            sys.exit(0)
        raise
    except pay.Refused as refused:
        if FAULT == "refused-requests-printed":
            print("refused:", parameters, file=sys.stderr)
        if method == "transaction/lookup":
            believed = FAULT == "refused-lookup-is-not-charged"
        else:
            believed = str(refused) in BELIEVED.get(FAULT, ())
        if believed:
            print(json.dumps({"claim": "not-charged"}))
            sys.exit(0)
        raise


class Following(http.client.HTTPConnection):
    """Follows redirects with everything that was sent."""

    def request(self, method, url, body=None, headers=None):
        super().request(method, url, body, headers or {})
        self.sent = (method, body, headers)

    def getresponse(self):
        response = super().getresponse()
        if response.status in (302, 307):
            target = urllib.parse.urlsplit(response.getheader("Location"))
            other = http.client.HTTPConnection(target.netloc, timeout=pay.TIMEOUT)
            other.request(self.sent[0], target.path, self.sent[1], self.sent[2])
            return other.getresponse()
        return response


class Addressed(http.client.HTTPConnection):
    """Puts the key into the address."""

    def request(self, method, url, body=None, headers=None):
        super().request(method, url + "?apiKey=" + os.environ["PG_API_KEY"], body, headers or {})


class Gateway(http.client.HTTPConnection):
    """Takes the reply of a gateway to a payment for proof that nothing was charged."""

    def request(self, method, url, body=None, headers=None):
        super().request(method, url, body, headers or {})
        self.is_payment = "lookup" not in url

    def getresponse(self):
        response = super().getresponse()
        if self.is_payment and response.status in (503, 504):
            print(json.dumps({"claim": "not-charged"}))
            sys.exit(0)
        return response


if FAULT == "latin-1":
    pay.urllib.parse.urlencode = lambda form: careful_urlencode(form, encoding="latin-1", errors="replace")
if FAULT == "signs-encoded":
    def sha512(text):
        parts = text.decode().split(os.environ["PG_SHA_KEY"])
        parts = [urllib.parse.quote(part, safe="= ") for part in parts]
        return careful_sha512(os.environ["PG_SHA_KEY"].join(parts).encode())
    pay.hashlib = types.SimpleNamespace(sha512=sha512)
if FAULT == "sorted-with-case":
    pay.sorted = lambda names, **_: careful_sorted(names)
if FAULT == "reply-not-compared":
    pay.answer = lambda reply, form: pay.outcome(reply)
if FAULT in NOT_COMPARED:
    pay.differing = lambda record, form: careful_differing(record, form) - NOT_COMPARED[FAULT]
if FAULT == "amount-compared-as-number":
    def differing(record, form):
        value = pay.shown(record, "transactionValue")
        return careful_differing({**record, "transactionValue": int(float(value))} if value else record, form)
    pay.differing = differing
if FAULT == "first-payment-believed":
    def look_up(form):
        found = pay.call("transaction/lookup", {"uniqueMerchantReference": form["uniqueMerchantReference"]})["transactions"]
        payments = [one for one in dict(found).values() if not pay.differing(one, form)]
        return pay.outcome(payments[0]) if payments else {"claim": "unknown"} if found else None
    pay.look_up = look_up
if FAULT == "refunds-what-it-finds":
    find = pay.look_up

    def look_up(form):
        known = find(form)
        if known and known["claim"] == "paid":
            pay.call("transaction/refund", {"transactionKey": known["transactionKey"], "transactionValue": form["itemPrice0"]})
        return known
    pay.look_up = look_up
if FAULT == "redirects-followed":
    pay.http.client.HTTPConnection = Following
if FAULT == "gateway-error-is-not-charged":
    pay.http.client.HTTPConnection = Gateway
if FAULT == "key-in-address":
    pay.http.client.HTTPConnection = Addressed
if FAULT == "tls-not-verified":
    pay.ssl.create_default_context = ssl._create_unverified_context
if FAULT == "host-not-verified":
    def context():
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        made.check_hostname = False
        made.load_verify_locations(os.environ["SSL_CERT_FILE"])
        return made
    pay.ssl.create_default_context = context
if FAULT == "falls-back-to-plain-http":
    class Falling(http.client.HTTPSConnection):
        def connect(self):
            try:
                super().connect()
            except OSError:
                http.client.HTTPConnection.connect(self)
    # The library looks its own class up by this name, so it stays what it is there.
    pay.http = types.SimpleNamespace(client=types.SimpleNamespace(
        HTTPSConnection=Falling, HTTPConnection=http.client.HTTPConnection, HTTPException=http.client.HTTPException))
pay.charge, pay.call, pay.outcome, pay.payment = charge, call, outcome, payment
pay.main()
