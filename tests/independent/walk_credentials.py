"""Credentials, signatures and the errors that they give (spec 1 §5, §7; 2 §5, §7), in both encodings."""

import hashlib
import string

from checks import Walk
from client import signature
from shop import ERROR, card, form, fresh, order, post, session

walk = Walk()

INITIATE = {"errorPageUrl": ERROR}


# spec: 1 §5, A02, A29
@walk.step
def the_signature_is_that_of_the_text(sandbox):
    """Worked by hand from spec 1 §5: order without regard to case, empty ones dropped, the key after each."""
    by_hand = hashlib.sha512("apiKey=KsApiPassword=PsitemName10=ZsitemName2=Ys".encode()).hexdigest()
    parameters = {
        "itemName2": "Y",
        "itemName10": "Z",
        "apiKey": "K",
        "ApiPassword": "P",
        "empty": "",
        "shaSignature": "x",
    }
    sandbox.same(signature(parameters, "s"), by_hand, "the client's own signature")


# spec: 1 §4.1, A37; 1 §4.1, A41
@walk.in_both
def a_good_call_succeeds_in_the_chosen_encoding(sandbox, encoding):
    reply = sandbox.account(encoding=encoding).call("session/initiate", **INITIATE)
    sandbox.same(reply.error, (200, None), "initiate")
    sandbox.same(list(reply.data), ["sessionKey"], "what initiate returns")
    sandbox.matches(reply["sessionKey"], "[A-Za-z0-9]{32}", "sessionKey")


# spec: 1 §4.1, A37
@walk.step
def without_an_encoding_the_answer_is_xml(sandbox):
    reply = sandbox.account(encoding=None).call("session/initiate", **INITIATE)
    sandbox.same(reply.error, (200, None), "initiate")
    refusal = sandbox.account(encoding=None).call("session/initiate")
    sandbox.refused(refusal, 400, "133", "initiate without errorPageUrl")


# spec: 1 §4.1: Every request carries credentials and a signature.
# spec: 1 §5, A52: Every request carries apiKey, apiPassword and shaSignature.
# spec: 1 §7, A40; 2 §4.1; 2 §4.3; 2 §5; 2 §7, A40; codes ErrorCode 102
@walk.in_both
def invalid_credentials_give_401(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    cases = [
        ({"apiPassword": "wrong"}, "102", "a wrong password"),
        ({"apiPassword": None}, "102", "no password"),
        ({"apiKey": "0" * 32}, "102", "an unknown key"),
        ({"apiKey": None}, "102", "no key"),
        ({"apiPassword": sandbox.merchants["other"]["apiPassword"]}, "102", "the password of another account"),
    ]
    for given, code, what in cases:
        reply = account.call("session/initiate", **INITIATE, **given)
        sandbox.refused(reply, 401, code, what)
    sandbox.service.advance(86_400)


# spec: 1 §5, A52; 2 §5; codes ErrorCode 123
@walk.in_both
def a_wrong_signature_gives_123(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    good = account.signed(INITIATE)
    without = {name: value for name, value in good.items() if name != "shaSignature"}
    digest = good["shaSignature"]
    other_key = signature(without, sandbox.merchants["other"]["shaKey"])
    for parameters, what in [
        (without, "no signature"),
        ({**good, "shaSignature": ""}, "an empty signature"),
        ({**good, "shaSignature": digest[:-1]}, "a signature that is too short"),
        ({**good, "shaSignature": digest.upper()}, "capitals (A27)"),
        ({**good, "shaSignature": other_key}, "the key of another account"),
        ({**good, "shaSignature": ("0" if digest[0] != "0" else "1") + digest[1:]}, "one digit changed"),
        ({**good, "errorPageUrl": ERROR + "?"}, "a value changed"),
        ({**good, "merchantCustomerReference": "x"}, "a parameter added"),
        ({**good, "unknownParameter": "x"}, "an unknown parameter added (A29)"),
    ]:
        sandbox.refused(account.send("session/initiate", parameters), 401, "123", what)
        # They count towards the lockout (A53).
        sandbox.service.advance(86_400)
    sandbox.same(account.send("session/initiate", good).error, (200, None), "a good signature")


# spec: 1 §5, A25
@walk.in_both
def awkward_values_are_signed_as_they_are(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    number = sandbox.card("approved")
    for value in ["a b", "a+b", "a&b=c", "100%", "%41", "£ é 日本 🫖", "'\"<>", "  ", "0", "a/b:c?d#e", ";,"]:
        items = {f"itemName{n}": value for n in range(12)} | {f"itemPrice{n}": "1" for n in range(12)}
        reply = account.call("transaction/auth", **card(number), currency="GBP", **items)
        sandbox.approved(reply, "Auth", f"an order of {value!r}")
    every = string.printable.strip()
    reference = fresh() + every[:20]
    reply = account.call("transaction/auth", **card(number), **order(), merchantReference=reference)
    sandbox.approved(reply, "Auth", "a reference of symbols")
    found = account.call("transaction/lookup", merchantReference=reference).list("transactions", "transaction")
    sandbox.same([one["merchantReference"] for one in found], [reference], "the reference comes back as it was")


# spec: 1 §5, A09, A25
@walk.in_both
def empty_values_are_sent_and_not_signed(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    reply = account.call("session/initiate", **INITIATE, merchantCustomerReference="", other="")
    sandbox.same(reply.error, (200, None), "empty values")


# spec: codes ErrorCode 103 104
@walk.in_both
def functions_and_encodings_that_do_not_exist(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for method in ["session/nothing", "token/nothing", "transaction/nothing", "transaction/Auth"]:
        sandbox.refused(account.call(method, cardKey="a"), 400, "103", method)
    unreadable = sandbox.account(encoding="yaml")
    for method in ["session/initiate", "token/lookup", "transaction/auth"]:
        reply = sandbox.service.post(unreadable.url(method), unreadable.signed(INITIATE), "xml")
        sandbox.refused(reply, 400, "104", f"{method} in yaml")


# spec: codes ErrorCode 101
@walk.in_both
def no_data_gives_101(sandbox, encoding):
    account = sandbox.account(encoding=encoding)
    for method in ["session/initiate", "token/lookup", "token/enable", "transaction/auth", "transaction/lookup"]:
        reply = sandbox.service.send("POST", account.url(method), encoding=encoding)
        sandbox.refused(reply, 400, "101", f"{method} without a body")
    for method in ["token/lookup", "transaction/lookup"]:
        sandbox.refused(account.call(method), 400, "101", f"{method} with credentials alone (A68)")


# spec: 1 §7, A38, A20; 2 §7, A20
@walk.step
def trace_codes_tell_errors_apart(sandbox):
    account = sandbox.account()
    codes = {account.call("session/initiate")["traceCode"] for _ in range(20)}
    sandbox.same(len(codes), 20, "different trace codes of 20 errors")


# spec: 2 §4.2
@walk.step
def the_session_form_needs_no_credentials(sandbox):
    """postform is not signed; the session key is the only credential (spec 2 §5)."""
    account = sandbox.account()
    reply = post(account, form(session(account), sandbox.card("approved")))
    sandbox.same(reply.status, 303, "postform")


if __name__ == "__main__":
    walk.run()
