"""A client of the payment service, written from the three documents with nothing but Python's standard library.

It shares no code with the Rust crates and knows nothing of them: signing, form encoding, both reply encodings and the
decryption of session data are done here a second time, so that a mistake of ours cannot agree with itself.
"""

import base64
import hashlib
import http.client
import json
import re
import subprocess
import urllib.parse
import xml.etree.ElementTree as ElementTree

FORM = "application/x-www-form-urlencoded"


def signature(parameters, sha_key):
    """The shaSignature of parameters (spec 1 §5).

    Ordered by name without regard to case, empty ones and shaSignature left out, name=value and the key for each.
    """
    kept = [(name, value) for name, value in parameters.items() if name != "shaSignature" and value != ""]
    kept.sort(key=lambda pair: pair[0].lower())
    text = "".join(f"{name}={value}{sha_key}" for name, value in kept)
    return hashlib.sha512(text.encode("utf-8")).hexdigest()


def decrypt(data, iv, api_key):
    """The text of session data (spec 2 §4.2), through the openssl command.

    AES-256-CBC under the API key; data is Base64, the iv 16 characters (A30 to A33).
    """
    done = subprocess.run(
        ["openssl", "enc", "-d", "-aes-256-cbc", "-K", api_key.encode().hex(), "-iv", iv.encode().hex()],
        input=base64.b64decode(data, validate=True),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8")


def encode(parameters):
    """Parameters, a dictionary or pairs, as the body of a request (spec 1 §4.1)."""
    return urllib.parse.urlencode(parameters).encode()


def read(text, encoding):
    """A reply or session data as nested dictionaries: the root element of XML counts for nothing."""
    if encoding == "json":
        value = json.loads(text)
        if not isinstance(value, dict):
            raise ValueError(f"JSON is not a single object: {text!r}")
        return value
    root = ElementTree.fromstring(text)
    if root.tag != "serviceResponse":
        raise ValueError(f"the root element is {root.tag}")
    return _children(root)


def _children(element):
    if len(element) == 0:
        return element.text or ""
    found = {}
    for child in element:
        value = _children(child)
        if child.tag not in found:
            found[child.tag] = value
        elif isinstance(found[child.tag], list):
            found[child.tag].append(value)
        else:
            found[child.tag] = [found[child.tag], value]
    return found


def records(listed, item):
    """The records of a list in any of the shapes that the documents show (spec 1 §2.1).

    XML repeats the element `item`; JSON has an array, or an object keyed by index from 0.
    """
    if listed in ("", None):
        return []
    if isinstance(listed, list):
        return listed
    if item in listed:
        inner = listed[item]
        return inner if isinstance(inner, list) else [inner]
    if list(listed) != [str(index) for index in range(len(listed))]:
        raise ValueError(f"a list is keyed by {list(listed)}")
    return list(listed.values())


class Reply:
    """What came back: `status`, `headers`, `body`, and the parsed content as `data`."""

    def __init__(self, status, headers, body, encoding=None):
        self.status = status
        self.headers = headers
        self.body = body
        self.encoding = encoding
        self.data = read(body.decode("utf-8"), encoding) if encoding else None

    def __repr__(self):
        shown = self.data if self.data is not None else self.body[:400]
        return f"HTTP {self.status} {shown}"

    def get(self, name, default=None):
        """A parameter of the reply."""
        return self.data.get(name, default) if isinstance(self.data, dict) else default

    def __getitem__(self, name):
        return self.data[name]

    def header(self, name):
        """A header's value. http.client reads headers as Latin-1; the service writes them in UTF-8."""
        value = self.headers.get(name)
        return value if value is None else value.encode("latin-1").decode("utf-8")

    @property
    def error(self):
        """Status and code of an error, such as (401, "123"); the status and None for a success."""
        return self.status, self.get("errorCode", self.get("errorcode"))

    def list(self, name, item):
        return records(self.data[name], item)


class Service:
    """The service at an address. Every reply passes `watch`, which may complain about it."""

    def __init__(self, base_url, enterprise_base_url, watch=lambda reply, path: None):
        self.base_url = base_url
        self.enterprise_base_url = enterprise_base_url
        self.watch = watch

    def send(self, method, url, body=b"", headers=None, encoding=None):
        """One HTTP request on a connection of its own; no redirect is followed."""
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        try:
            connection.request(method, target, body, headers or {})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        reply = Reply(answer.status, answer.headers, content, encoding)
        self.watch(reply, parts.path)
        return reply

    def post(self, url, parameters, encoding=None):
        return self.send("POST", url, encode(parameters), {"Content-Type": FORM}, encoding)

    def post_json(self, path, value):
        """A call of the sandbox's control interface."""
        headers = {"Content-Type": "application/json"}
        return json.loads(self.send("POST", self.base_url + path, json.dumps(value).encode(), headers).body)

    def get_json(self, path):
        return json.loads(self.send("GET", self.base_url + path).body)

    def advance(self, seconds):
        """Moves the one clock of the sandbox."""
        return self.post_json("/_sandbox/clock", {"advanceSeconds": seconds})


class Account:
    """A merchant's account: knows its credentials and speaks one of the encodings, or leaves it out."""

    def __init__(self, service, facts, encoding="json"):
        self.service = service
        self.facts = facts
        self.encoding = encoding
        self.api_key = facts["apiKey"]
        self.api_password = facts["apiPassword"]
        self.sha_key = facts["shaKey"]

    def speaking(self, encoding):
        return Account(self.service, self.facts, encoding)

    def url(self, method):
        """The address of a version 3 method; without an encoding the answer is XML (spec 1 §4.1)."""
        return f"{self.service.base_url}/v3/{method}" + (f"/{self.encoding}" if self.encoding else "")

    def signed(self, parameters):
        """Parameters with credentials and signature. A credential that is given stays as it is; None leaves it out."""
        full = {"apiKey": self.api_key, "apiPassword": self.api_password, **parameters}
        full = {name: value for name, value in full.items() if value is not None}
        full.setdefault("shaSignature", signature(full, self.sha_key))
        return full

    def call(self, method, **parameters):
        """A signed version 3 call, such as call("token/lookup", cardKey=key)."""
        return self.service.post(self.url(method), self.signed(parameters), self.encoding or "xml")

    def send(self, method, parameters):
        """A version 3 call with exactly these parameters: nothing is added, nothing is signed."""
        return self.service.post(self.url(method), parameters, self.encoding or "xml")

    def checkout(self, method, **parameters):
        """A version 5 call (spec 3 §5): credentials and version, no signature, always XML."""
        full = {
            "api_key": self.facts["enterpriseApiKey"],
            "api_password": self.facts["enterpriseApiPassword"],
            "version": "5",
            **parameters,
        }
        full = {name.replace("three_D_", "3D_"): value for name, value in full.items() if value is not None}
        return self.service.post(f"{self.service.enterprise_base_url}/{method}", full, "xml")

    def redirect(self, location):
        """A redirect's address without the appended query, its formId, and its decrypted data."""
        parts = urllib.parse.urlsplit(location)
        query = urllib.parse.parse_qs(parts.query, strict_parsing=True, keep_blank_values=True)
        iv = query["iv"][0]
        if not re.fullmatch(r"[A-Za-z0-9]+", iv):
            raise ValueError(f"the iv is not alphanumeric: {iv}")
        text = decrypt(query["data"][0], iv, self.api_key)
        form_id = query.get("formId", [None])[0]
        return location.split("?")[0], form_id, read(text, self.encoding or "xml")
