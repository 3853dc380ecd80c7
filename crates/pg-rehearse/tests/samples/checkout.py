"""Makes the link to the hosted checkout, and keeps the order in ORDERS. Its customers come back to a running shop."""
import fcntl
import hashlib
import json
import os
import re
import sys
import urllib.parse
import urllib.request


def call(method, parameters):
    form = {
        "api_key": os.environ["PG_ENTERPRISE_API_KEY"],
        "api_password": os.environ["PG_ENTERPRISE_API_PASSWORD"],
        "version": "5",
        **parameters,
    }
    address = os.environ["PG_ENTERPRISE_BASE_URL"] + "/" + method
    return urllib.request.urlopen(address, urllib.parse.urlencode(form).encode()).read().decode()


def is_paid(order):
    form = {"apiKey": os.environ["PG_API_KEY"], "apiPassword": os.environ["PG_API_PASSWORD"], "merchantReference": order}
    names = sorted(form, key=str.lower)
    text = "".join(name + "=" + form[name] + os.environ["PG_SHA_KEY"] for name in names)
    form["shaSignature"] = hashlib.sha512(text.encode()).hexdigest()
    address = os.environ["PG_BASE_URL"] + "/v3/transaction/lookup/json"
    reply = urllib.request.urlopen(address, urllib.parse.urlencode(form).encode()).read()
    return bool(json.loads(reply)["transactions"])


job = json.loads(sys.stdin.readline())
path = os.path.join(os.environ["ORDERS"], job["order"])
tokens = []
turn = open(path + ".lock", "w")
fcntl.flock(turn, fcntl.LOCK_EX)  # until this program ends
if os.path.exists(path):
    with open(path) as kept:
        tokens = json.load(kept)["tokens"]
    call("canceltoken", {"tokenid": tokens[-1]})  # two links of one order could both be paid
    if is_paid(job["order"]):
        print(json.dumps({"claim": "paid"}))
        sys.exit()
digits = {"JPY": 0, "BHD": 3}.get(job["currency"], 2)
price = "%.*f" % (digits, job["amount"] / 10 ** digits)
reply = call("gettoken", {
    "item_name[0]": "Order",
    "item_price[0]": price,
    "currency": job["currency"],
    "success_url": job["successUrl"],
    "cancel_url": job["successUrl"],
    "auto_redirect": "1",
    "trans_reference": job["order"],
    "token_uses": "1",
})
tokens.append(re.search("<tokenid>([^<]*)<", reply).group(1))
with open(path, "w") as kept:
    json.dump({"price": price, "currency": job["currency"], "tokens": tokens}, kept)
link = re.search("<redemption_url>([^<]*)<", reply).group(1).replace("&amp;", "&")
print(json.dumps({"claim": "unknown", "url": link}))
