#!/usr/bin/env python3
"""Writes signing.json and session.json: what other tools than ours say about signatures and session data.

SHA-512 comes from Python's hashlib, AES-256-CBC from the openssl command, Base64, URL encoding and JSON from
Python's standard library. Every intermediate is kept. The output depends on nothing but this file.

    python3 generate.py [FOLDER]      the default is the folder of this file
"""

import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import urllib.parse

SHA_KEY = "5f2b8c9d1e3a4f607182930415263748"
API_KEY = "0123456789abcdef0123456789abcdef"
OTHER_KEY = "fedcba9876543210fedcba9876543210"
IV = "Zq3vT8xK1mB6nR0w"


# Signing (spec 1 §5)


def ordered(parameters):
    """By name without ASCII case, then by bytes; equal names as given (bytes.lower knows ASCII only)."""
    return sorted(parameters, key=lambda p: (p[0].encode().lower(), p[0].encode()))


def is_signed(parameter):
    return parameter[0] != "shaSignature" and parameter[1] != ""


def sha512(text):
    return hashlib.sha512(text.encode()).hexdigest()


def signing_case(name, parameters, sha_key=SHA_KEY):
    kept = ordered([p for p in parameters if is_signed(p)])
    pre_image = "".join(f"{n}={v}{sha_key}" for n, v in kept)
    return {
        "name": name,
        "shaKey": sha_key,
        "parameters": parameters,
        "ordered": [n for n, _ in kept],
        "dropped": [n for n, v in parameters if not is_signed((n, v))],
        "preImage": pre_image,
        "signature": sha512(pre_image),
    }


def array_value(members):
    texts = [m if isinstance(m, str) else str(m) for m in members]
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":"))


ARRAYS = [
    [],
    [5],
    [1, "two", 3],
    [-7, 9223372036854775807, -9223372036854775808],
    ["4.50", "1e3", "007"],
    ['quote " backslash \\ slash /'],
    ["line\nfeed\r\ttab\b\f\u0000\u001f\u007f"],
    ["Café", "東京", "😀"],
]


def signing_cases():
    return [
        signing_case("nothing", []),
        signing_case("one parameter", [["apiKey", "k"]]),
        signing_case("card payment", [
            ["apiKey", API_KEY],
            ["apiPassword", "pass"],
            ["itemName0", "Tea"],
            ["itemPrice0", "499"],
            ["currency", "GBP"],
            ["cardNumber", "4111111111111111"],
            ["cardExpiryMonth", "12"],
            ["cardExpiryYear", "30"],
            ["cardCV2", "123"],
            ["cardholderName", "A N Other"],
            ["uniqueMerchantReference", "order-7"],
        ]),
        signing_case("given in signing order already", [["a", "1"], ["B", "2"], ["c", "3"]]),
        signing_case("order ignores case", [["b", "1"], ["C", "2"], ["a", "3"], ["D", "4"]]),
        signing_case("names that differ only in case", [["aB", "1"], ["AB", "2"], ["ab", "3"], ["Ab", "4"]]),
        signing_case("mixed-case ties among longer names", [
            ["cardholderaddressline1", "1"],
            ["cardholderAddressLine10", "2"],
            ["CARDHOLDERADDRESSLINE1", "3"],
            ["cardholderAddressLine1", "4"],
        ]),
        signing_case("a name twice keeps its order", [["b", "2"], ["a", "second"], ["A", "0"], ["a", "first"]]),
        signing_case("itemName10 before itemName2", [
            ["itemName2", "two"],
            ["itemName10", "ten"],
            ["itemName1", "one"],
            ["itemName0", "zero"],
        ]),
        signing_case("underscores and digits", [["a_b", "1"], ["aB", "2"], ["a1", "3"], ["a", "4"], ["A_", "5"]]),
        signing_case("a name that begins another", [["collectNotes", "1"], ["collect", "2"], ["collectN", "3"]]),
        signing_case("names beyond ASCII", [["éa", "1"], ["Éb", "2"], ["z", "3"], ["名", "4"]]),
        signing_case("empty values are dropped", [["a", ""], ["b", "1"], ["c", ""], ["d", " "], ["e", "0"]]),
        signing_case("shaSignature is dropped", [["b", "1"], ["shaSignature", "0" * 128], ["a", "2"]]),
        signing_case("other spellings of shaSignature are signed", [
            ["shasignature", "1"],
            ["ShaSignature", "2"],
            ["shaSignature2", "3"],
        ]),
        signing_case("only dropped ones", [["a", ""], ["shaSignature", "x"]]),
        signing_case("plus ampersand equals percent", [
            ["returnUrl", "https://shop.example:8443/r?a=1&b=2%203+4#x"],
            ["itemName0", "+&=%"],
            ["merchantReference", "50%25+5=10&7"],
        ]),
        signing_case("white space", [["a", " b "], ["c", "\t"], ["d", "line\nline"]]),
        signing_case("UTF-8", [["cardholderName", "Zoë Müller-Łódź"], ["itemName0", "東京 😀"], ["itemName1", "e\u0301"]]),
        signing_case("arrays with numbers", [["list", array_value([1, "two", 3])], ["empty", array_value([])]]),
        signing_case("UTF-8 in the key", [["a", "1"]], "schlüssel-鍵"),
        signing_case("an empty key", [["a", "1"], ["b", "2"]], ""),
        signing_case("a key with white space", [["a", "1"], ["b", "2"]], " key\n"),
        signing_case("more than a block of the hash", [["a", "x" * 127], ["b", "y" * 128], ["c", "z" * 129]]),
        signing_case("long values", [["b", "0123456789abcdef" * 300], ["a", "x" * 1023], ["c", "y"]]),
        signing_case("65 parameters", [[f"itemName{n * 7 % 65}", f"item {n}"] for n in range(65)]),
    ]


def form_case(name, sent, arrays):
    """A form with arrays: `arrays` holds their members, which Python's json writes."""
    bare = [p for p in sent if "[" not in p[0]]
    signed = bare + [[n, array_value(members)] for n, members in arrays.items()]
    return {**signing_case(name, signed), "sent": sent, "body": urllib.parse.urlencode([tuple(p) for p in sent])}


def form_cases():
    key = ["apiKey", API_KEY]
    return [
        form_case("one name for all members", [key, ["tag[]", "red"], ["tag[]", "5"]], {"tag": ["red", 5]}),
        form_case("numbered members", [["tag[1]", "5"], key, ["tag[0]", "red"]], {"tag": ["red", 5]}),
        form_case("eleven members", [[f"n[{n}]", str(n)] for n in range(11)], {"n": list(range(11))}),
        form_case(
            "two arrays, awkward members",
            [["b[]", "a/b & \"c\""], ["a[]", "Zoë"], ["b[]", ""], key, ["a[]", "\\ 東京"]],
            {"a": ["Zoë", "\\ 東京"], "b": ["a/b & \"c\"", ""]},
        ),
    ]


def mistake_case(mistake, parameters, pre_image, **more):
    return {
        "mistake": mistake,
        "shaKey": SHA_KEY,
        "parameters": parameters,
        "preImage": pre_image,
        "given": sha512(pre_image),
        **more,
    }


def mistake_cases():
    """Signatures as merchants get them wrong, with the functions that they use."""
    plain = [["itemName2", "two"], ["apiKey", "k"], ["Zone", "1"], ["itemName10", "ten"]]
    rich = [["apiKey", "k"], ["itemName0", "Tea & cake / 50% off"], ["returnUrl", "https://shop.example/?a=1+2"]]
    empty = [["apiKey", "k"], ["formId", ""], ["shaSignature", "abc"]]

    def joined(parameters, change=lambda v: v, key=SHA_KEY, between=""):
        return between.join(f"{n}={change(v)}{key}" for n, v in parameters)

    upper = mistake_case("UpperCaseHex", plain, joined(ordered(plain)))
    upper["given"] = upper["given"].upper()
    return [
        mistake_case("CaseSensitiveOrder", plain, joined(sorted(plain))),
        mistake_case("Unordered", plain, joined(plain)),
        mistake_case("PercentEncodedValues", rich, joined(rich, lambda v: urllib.parse.quote(v, safe=""))),
        mistake_case("FormEncodedValues", rich, joined(rich, urllib.parse.quote_plus)),
        mistake_case("DecodedValues", rich, joined(rich, urllib.parse.unquote_plus)),
        mistake_case("EmptyValuesKept", empty, joined(empty[:2])),
        mistake_case("SignatureKept", empty, joined([empty[0], empty[2]])),
        mistake_case("KeyWhiteSpace", plain, joined(ordered(plain), key=SHA_KEY + "\n")),
        mistake_case("KeyOnceAtEnd", plain, joined(ordered(plain), key="") + SHA_KEY),
        mistake_case("Ampersands", plain, joined(ordered(plain), between="&")),
        upper,
    ]


# Session data (spec 2 §4.2)


def openssl(decrypt, key, iv, data, padded=True):
    """The output of openssl, or None where it refuses."""
    command = ["openssl", "enc", "-d" if decrypt else "-e", "-aes-256-cbc", "-K", key.hex(), "-iv", iv.hex()]
    done = subprocess.run(command + ([] if padded else ["-nopad"]), input=data, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def text_or_none(plain):
    try:
        return None if plain is None else plain.decode()
    except UnicodeDecodeError:
        return None


def redirect(data, iv):
    return "https://shop.example/card?" + urllib.parse.urlencode({"formId": "checkout", "data": data, "iv": iv})


def case(name, cipher, iv_text, iv, api_key=API_KEY, key=None, derivation="verbatim", padding="pkcs7", data=None):
    """What openssl makes of a ciphertext, under PKCS#7 unless the case says otherwise."""
    key = key or api_key.encode()
    plain = openssl(True, key, iv, cipher, padded=padding == "pkcs7")
    if padding == "zero" and plain is not None:
        plain = plain.rstrip(b"\0")
    data = data if data is not None else base64.b64encode(cipher).decode()
    return {
        "name": name,
        "apiKey": api_key,
        "derivation": derivation,
        "keyHex": key.hex(),
        "iv": iv_text,
        "ivHex": iv.hex(),
        "padding": padding,
        "ciphertextHex": cipher.hex(),
        "data": data,
        "redirect": redirect(data, iv_text),
        # None where it has to be refused: openssl refuses, or what it gives is no UTF-8.
        "plaintext": text_or_none(plain),
    }


def encrypted(plain, key=API_KEY.encode(), iv=IV.encode(), padded=True):
    return openssl(False, key, iv, plain if isinstance(plain, bytes) else plain.encode(), padded)


XML = (
    '<?xml version="1.0" encoding="UTF-8"?><serviceResponse><cardholderName>A N Other</cardholderName>'
    "<cardNumber>411111******1111</cardNumber><cardExpiryMonth>12</cardExpiryMonth>"
    "<cardExpiryYear>2030</cardExpiryYear><cardCV2></cardCV2><collectNotes>ring &amp; wait</collectNotes>"
    "</serviceResponse>"
)
JSON = json.dumps({
    "cardholderName": "Zoë Müller",
    "cardNumber": "411111******1111",
    "cardExpiryMonth": "12",
    "cardExpiryYear": "2030",
    "cardCV2": "",
    "collectNotes": "50% + 1 = ?",
}, ensure_ascii=False)
ERRORS = json.dumps({
    "cardNumber": "411111******1112",
    "cardCV2": "",
    "errors": {"cardNumber": {"errorCode": "110", "traceCode": "12345678", "errorMessage": "Invalid card number"}},
})


def with_plus_and_slash():
    """A ciphertext whose Base64 has both characters that the alphabets differ in, and needs padding."""
    for number in range(1000):
        cipher = encrypted(json.dumps({"collectNumber": str(number)}))
        text = base64.b64encode(cipher).decode()
        if "+" in text and "/" in text and text.endswith("="):
            return cipher
    raise AssertionError("none of a thousand")


def good_cases():
    iv, cipher = IV.encode(), with_plus_and_slash()
    standard = base64.b64encode(cipher).decode()
    url_safe = base64.urlsafe_b64encode(cipher).decode()
    hashed, hex_key = hashlib.sha256(b"any length").digest(), hashlib.sha256(b"hex").digest()
    whole = "sixteen bytes!!!" * 2
    hex_iv = bytes(range(0xf0, 0x100))
    return [
        case("XML", encrypted(XML), IV, iv),
        case("JSON", encrypted(JSON), IV, iv),
        case("JSON with validation errors", encrypted(ERRORS), IV, iv),
        case("no text", encrypted(""), IV, iv),
        case("15 bytes", encrypted("fifteen bytes!!"), IV, iv),
        case("16 bytes", encrypted("sixteen bytes!!!"), IV, iv),
        case("a long text", encrypted("<a>" + "é" * 4000 + "</a>"), IV, iv),
        case("plus and slash", cipher, IV, iv, data=standard),
        case("blank for plus", cipher, IV, iv, data=standard.replace("+", " ")),
        case("no padding of the Base64", cipher, IV, iv, data=standard.rstrip("=")),
        case("URL-safe", cipher, IV, iv, data=url_safe),
        case("URL-safe without padding", cipher, IV, iv, data=url_safe.rstrip("=")),
        case("hexadecimal", cipher, IV, iv, data=cipher.hex()),
        case("hexadecimal in upper case", cipher, IV, iv, data=cipher.hex().upper()),
        case("hexadecimal iv", encrypted(JSON, iv=hex_iv), hex_iv.hex(), hex_iv),
        case("hexadecimal iv in upper case", encrypted(JSON, iv=hex_iv), hex_iv.hex().upper(), hex_iv),
        case("16 hexadecimal digits are text", encrypted(JSON, iv=b"0123456789abcdef"), "0123456789abcdef",
             b"0123456789abcdef"),
        case("SHA-256 of the key", encrypted(JSON, hashed), IV, iv, "any length", hashed, "sha256"),
        case("hexadecimal key", encrypted(JSON, hex_key), IV, iv, hex_key.hex(), hex_key, "hex"),
        case("zero padding", encrypted(JSON.encode() + bytes(-len(JSON.encode()) % 16), padded=False), IV, iv,
             padding="zero"),
        case("zero padding of whole blocks", encrypted(whole, padded=False), IV, iv, padding="zero"),
        case("without padding", encrypted(whole, padded=False), IV, iv, padding="none"),
        *blank_cases("at the beginning", lambda text: text[0], FIRST_IS_PLUS),
        *blank_cases("at the end", lambda text: text[-1], LAST_IS_PLUS),
    ]


# Texts whose Base64 begins or ends with a plus sign, by the number in them.
FIRST_IS_PLUS = [30, 164, 261, 574, 641, 802, 811, 841, 844, 847, 1001, 1009]
LAST_IS_PLUS = [10, 104, 128, 240, 247, 295, 368, 380, 411, 570, 578, 631]


def blank_cases(where, edge, numbers):
    """A decoded query has a blank where the plus sign was: a reader that strips blanks loses a byte."""
    for number in numbers:
        cipher = encrypted('{"collect":"%d","cardholderName":""}' % number)
        text = base64.b64encode(cipher).decode()
        assert edge(text) == "+", number
        yield case(f"blank for plus {where}, {number}", cipher, IV, IV.encode(), data=text.replace("+", " "))


def flipped(data, at, bit=0x80):
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1:]


def bad_cases():
    iv, cipher = IV.encode(), encrypted(JSON)
    text = base64.b64encode(cipher).decode()
    latin1 = JSON.encode("latin-1")
    return [
        case("wrong key", cipher, IV, iv, OTHER_KEY),
        case("wrong iv", cipher, flipped(iv, 0, 0x80).hex(), flipped(iv, 0, 0x80)),
        case("truncated by a byte", cipher[:-1], IV, iv),
        case("truncated by a block", cipher[:-16], IV, iv),
        case("first block missing", cipher[16:], IV, iv),
        case("bit flipped in the first block", flipped(cipher, 3), IV, iv),
        case("bit flipped in the middle", flipped(cipher, 37), IV, iv),
        case("bit flipped in the last block", flipped(cipher, len(cipher) - 1), IV, iv),
        case("bit flipped in the padding", flipped(cipher, len(cipher) - 17), IV, iv),
        case("plaintext in ISO 8859-1", encrypted(latin1), IV, iv),
        case("plaintext is a lone continuation byte", encrypted(b"\x80"), IV, iv),
        case("plaintext cut within a character", encrypted("é".encode()[:1]), IV, iv),
        case("zero padding taken for PKCS#7", encrypted(bytes(16), padded=False), IV, iv),
        case("padding of 17", encrypted(bytes([17] * 32), padded=False), IV, iv),
        case("padding that differs", encrypted(b"0123456789ab" + bytes([4, 4, 3, 4]), padded=False), IV, iv),
        refused("no data", "", IV),
        refused("padding only", "====", IV),
        refused("not Base64", text[:-1] + "!", IV),
        refused("line break within", text[:64] + "\n" + text[64:], IV),
        refused("percent-encoded once too often", urllib.parse.quote(text + "+/", safe=""), IV),
        refused("no iv", text, ""),
        refused("iv of 15 characters", text, IV[:-1]),
        refused("iv of 32 characters that are not hexadecimal", text, IV + IV),
        refused("iv of 33 characters", text, "0" * 33),
    ]


def refused(name, data, iv):
    """Never comes as far as a cipher."""
    return {
        "name": name,
        "apiKey": API_KEY,
        "derivation": "verbatim",
        "iv": iv,
        "padding": "pkcs7",
        "data": data,
        "redirect": redirect(data, iv),
        "plaintext": None,
    }


def altered_cases():
    """Alterations that nobody can notice: why session data is never proof of anything."""
    iv = IV.encode()
    cipher = encrypted('{"paid":"0"}')
    changed = flipped(iv, 9, ord("0") ^ ord("1"))
    return [
        case("as it was", cipher, IV, iv),
        case("one bit of the iv flipped", cipher, changed.hex(), changed),
    ]


def write(folder, name, content):
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (folder / name).write_text(text + "\n", encoding="utf-8", newline="\n")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    good, bad, altered = good_cases(), bad_cases(), altered_cases()
    assert all(c["plaintext"] is not None for c in good + altered), "a good case that openssl refuses"
    assert all(c["plaintext"] is None for c in bad), [c["name"] for c in bad if c["plaintext"] is not None]
    write(folder, "signing.json", {
        "about": "Made by generate.py with Python's hashlib. Do not edit.",
        "cases": signing_cases(),
        "arrays": [{"members": members, "value": array_value(members)} for members in ARRAYS],
        "forms": form_cases(),
        "mistakes": mistake_cases(),
    })
    write(folder, "session.json", {
        "about": "Made by generate.py with the openssl command. Do not edit.",
        "good": good,
        "bad": bad,
        "altered": altered,
    })


if __name__ == "__main__":
    main()
