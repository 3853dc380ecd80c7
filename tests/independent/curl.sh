#!/usr/bin/env bash
# A payment driven by hand: curl sends it, `pg sign` signs it, `pg decrypt` reads what the browser is sent away with.
#
# usage: PG_BASE_URL=… PG_API_KEY=… PG_API_PASSWORD=… PG_SHA_KEY=… curl.sh PATH-TO-PG
set -euo pipefail
pg=$1

# call METHOD name=value … : a signed call; the reply, and nothing if it is not a success (spec 1 §4.1, §5).
call() {
  local method=$1 form=() pair
  shift
  for pair in "apiKey=$PG_API_KEY" "apiPassword=$PG_API_PASSWORD" "$@" \
    "shaSignature=$("$pg" sign --with-credentials "$@")"; do
    form+=(--data-urlencode "$pair")
  done
  curl --silent --show-error --fail-with-body "$PG_BASE_URL/v3/$method/json" "${form[@]}"
}

# value NAME : the member of the reply on standard input that has this name.
value() {
  local reply
  reply=$(cat)
  [[ $reply =~ \"$1\":\"([^\"]*)\" ]] || { echo "no $1 in $reply" >&2; return 1; }
  echo "${BASH_REMATCH[1]}"
}

# expect WHAT GOT WANTED
expect() {
  [[ $2 == "$3" ]] || { echo "$1: $2 instead of $3" >&2; exit 1; }
  echo "$1: $2"
}

session=$(call session/initiate errorPageUrl=https://shop.example/error | value sessionKey)
expect 'length of the session key' "${#session}" 32

# As the customer's browser would: no credentials, no signature (spec 2 §4.2).
location=$(curl --silent --show-error --output /dev/null --write-out '%{http_code} %{redirect_url}' \
  "$PG_BASE_URL/v3/session/postform/json" \
  --data-urlencode "sessionKey=$session" \
  --data-urlencode cardNumber=4000000000001000 \
  --data-urlencode cardExpiryDate=1249 \
  --data-urlencode cardCV2=123 \
  --data-urlencode 'cardholderName=Zoë & Söhne' \
  --data-urlencode formId=form7 \
  --data-urlencode nextPageUrl=https://shop.example/review \
  --data-urlencode currentPageUrl=https://shop.example/card)
expect 'status of the card form' "${location%% *}" 303
expect 'where the browser goes' "${location#* }" "https://shop.example/review?formId=form7&data=${location#*&data=}"

data=$("$pg" decrypt "${location#* }")
expect 'card number in the data' "$(value cardNumber <<<"$data")" '400000******1000'
expect 'name in the data' "$(value cardholderName <<<"$data")" 'Zoë & Söhne'
expect 'security code in the data' "$(value cardCV2 <<<"$data")" ''

paid=$(call transaction/authSessionKey "sessionKey=$session" currency=GBP \
  'itemName0=Tea & Söhne, 100 % + more' itemPrice0=499 itemQuantity0=2 merchantReference=curl-7)
expect 'the payment' "$(value transactionStatusCode <<<"$paid") $(value transactionType <<<"$paid")" '600 Auth'
key=$(value transactionKey <<<"$paid")

found=$(call transaction/lookup merchantReference=curl-7)
expect 'its value' "$(value transactionValue <<<"$found")" 998

refunded=$(call transaction/refund "transactionKey=$key" transactionValue=98)
expect 'the refund' "$(value transactionStatusCode <<<"$refunded") $(value transactionType <<<"$refunded")" '600 Refund'

refused=$(call transaction/refund "transactionKey=$key" transactionValue=901) && { echo "refunded too much" >&2; exit 1; }
expect 'a refund of more than is left' "$(value errorCode <<<"$refused")" 107
echo 'paid and refunded with curl alone'
