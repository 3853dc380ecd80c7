"""Runs the steps of a walk against a sandbox and tells every deviation, not only the first."""

import json
import pathlib
import re
import sys
import traceback

from client import Account, Service

# spec 1 §7, 2 §7
MESSAGES = {
    "101": "No data sent",
    "102": "Invalid API credentials",
    "103": "Invalid function call",
    "104": "Invalid return type",
    "105": "Cannot find API settings for merchant",
    "106": "Permission denied to access this function",
    "107": "Invalid transaction value",
    "108": "Invalid card number",
    "109": "Invalid card expiry",
    "110": "Invalid card CV2",
    "111": "Currency not supported",
    "119": "No response from bank",
    "120": "Currency not supplied",
    "121": "This IP has been blocked for 1 minute because of too many failed attempts",
    "122": "This IP has been blocked for 5 minutes because of too many failed attempts",
    "123": "SHA Signature could not be verified",
    "125": "Invalid merchant reference",
    "129": "Invalid session key",
    "133": "Error page URL not supplied",
    "134": "Next page URL not supplied",
    "135": "Current page URL not supplied",
    "136": "Session expired",
    "180": "Invalid account updater key",
    "181": "Error getting data from the batch",
    "182": "Account updater batch is still pending",
    "183": "Invalid account updater batch key",
    "184": "Invalid callback URL",
}

ASSUMPTIONS = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "assumptions.md"


class Sandbox:
    """The sandbox that is walked: its service, its accounts by name, its cards by scenario. Its clock stands still."""

    def __init__(self, facts):
        self.service = Service(facts["baseUrl"], facts["enterpriseBaseUrl"], self._watch)
        self.merchants = {merchant["name"]: merchant for merchant in facts["merchants"]}
        self.deviations = []
        self._assumptions = set(re.findall(r"^### .*?(A\d+)", ASSUMPTIONS.read_text("utf-8"), re.M))
        self.cards = []
        self.cards = self.service.get_json("/_sandbox/cards")
        self.service.post_json("/_sandbox/clock", {"speed": 0})

    def account(self, name="main", encoding="json"):
        return Account(self.service, self.merchants[name], encoding)

    def card(self, scenario, scheme="visa"):
        """The number of the test card for a scenario."""
        return next(c["number"] for c in self.cards if c["scenario"] == scenario and c["scheme"] == scheme)

    def now(self):
        """The sandbox's time in seconds since 1970."""
        return self.service.get_json("/_sandbox/clock")["unixSeconds"]

    def same(self, actual, expected, what):
        if actual != expected:
            self.deviations.append(f"{what}: {actual!r} instead of {expected!r}")

    def holds(self, condition, what, about=""):
        if not condition:
            self.deviations.append(f"{what}: {about!r}")

    def matches(self, text, pattern, what):
        self.holds(isinstance(text, str) and re.fullmatch(pattern, text), f"{what} is not {pattern}", text)

    def refused(self, reply, status, code, what):
        """An error of version 3 in its documented shape (spec 2 §7)."""
        self.same(reply.error, (status, code), f"{what} ({reply})")
        if reply.get("errorCode") is not None:
            self.explained(reply.data, what)

    def explained(self, error, what):
        """Code, trace code and message of an error, wherever it stands (spec 2 §2.2, §7)."""
        self.same(list(error), ["errorCode", "traceCode", "errorMessage"], f"{what}: shape of the error")
        self.matches(error.get("traceCode"), r"\d{8,9}", f"{what}: traceCode")
        message = error.get("errorMessage", "")
        self.holds(0 < len(message) <= 100, f"{what}: errorMessage", message)
        expected = MESSAGES.get(error.get("errorCode"))
        # What is wrong with a callback address may follow the text (A77).
        told = message.split(": ")[0] if error.get("errorCode") == "184" else message
        self.holds(expected in (None, told), f"{what}: errorMessage of {error.get('errorCode')}", message)

    def refused_by_checkout(self, reply, status, code, what):
        """An error of version 5: errorcode and nothing else (spec 3 §7, A39)."""
        self.same((reply.status, reply.data), (status, {"errorcode": code}), what)

    def approved(self, reply, kind, what):
        """A transaction that was approved (spec 2 §2.3)."""
        self.same(reply.error, (200, None), f"{what} ({reply})")
        self.same(reply.get("transactionStatusCode"), "600", f"{what}: transactionStatusCode")
        self.same(reply.get("transactionStatus"), "Transaction approved", f"{what}: transactionStatus")
        self.same(reply.get("transactionType"), kind, f"{what}: transactionType")
        self.matches(reply.get("transactionKey"), "[A-Za-z0-9]{32}", f"{what}: transactionKey")
        return reply.get("transactionKey")

    def _watch(self, reply, path):
        """What holds for every answer: what it rests on is named, its type fits, and no card number is in it."""
        service = path.startswith(("/v3/", "/enterprise/"))
        basis = reply.header("pg-basis")
        if service:
            self.matches(basis, r"[123] [\d.]+(, A\d+)*", f"{path}: pg-basis")
            unknown = set(re.findall(r"A\d+", basis or "")) - self._assumptions
            self.holds(not unknown, f"{path}: assumptions that are not in the register", unknown)
        if reply.encoding:
            self.same(reply.header("content-type"), f"application/{reply.encoding}; charset=utf-8", f"{path}: type")
        told = reply.body.decode("utf-8", "replace") + str(reply.headers.items())
        for card in self.cards:
            self.holds(card["number"] not in told, f"{path} tells a card number", card["scenario"])


def the_journal_tells_no_secret(sandbox):
    """After every walk: what the control interface remembers of it holds no credential, and no card number."""
    secrets = ["apiPassword", "shaKey", "enterpriseApiPassword"]
    for name in ["requests", "transactions", "tokens", "sessions", "batches", "callbacks", "sms"]:
        reply = sandbox.service.send("GET", f"{sandbox.service.base_url}/_sandbox/{name}?limit=1000")
        sandbox.same(reply.status, 200, f"{name} of the control interface")
        for merchant in sandbox.merchants.values():
            told = [secret for secret in secrets if merchant[secret].encode() in reply.body]
            sandbox.same(told, [], f"{name} tells of {merchant['name']}")


class Walk:
    """The steps of one walk, in the order of their definition."""

    def __init__(self):
        self.steps = []

    def step(self, function):
        self.steps.append((function.__name__, function))
        return function

    def in_both(self, function):
        """A step that is walked in XML and in JSON; it takes the encoding as its second argument."""
        for encoding in ("xml", "json"):
            self.steps.append(
                (f"{function.__name__} ({encoding})", lambda sandbox, encoding=encoding: function(sandbox, encoding))
            )
        return function

    def run(self):
        """Walks against the sandbox whose first line of output is in the file that is named, or on standard input."""
        named = sys.argv[1] if len(sys.argv) > 1 else "-"
        line = sys.stdin.readline() if named == "-" else pathlib.Path(named).read_text("utf-8")
        sandbox = Sandbox(json.loads(line))
        failed = 0
        steps = [*self.steps, (the_journal_tells_no_secret.__name__, the_journal_tells_no_secret)]
        for name, function in steps:
            sandbox.deviations.clear()
            try:
                function(sandbox)
            except Exception:
                sandbox.deviations.append(traceback.format_exc())
            failed += bool(sandbox.deviations)
            print("deviates" if sandbox.deviations else "ok", name)
            for deviation in sandbox.deviations:
                print("    " + deviation.replace("\n", "\n    "))
        print(f"{len(steps)} steps, {failed} deviate")
        sys.exit(1 if failed else 0)
