#!/usr/bin/env bash
# Charges one order by session key or card key, once, whatever happens: bash, curl, jq and `pg sign`.
#
# Input: the account in the environment, one JSON line on standard input. Output: one JSON line with the claim.
# The rules that keep the money safe are marked with numbers:
#   1. one uniqueMerchantReference for an order, kept before anything is sent;
#   2. every attempt carries it: the service accepts it once;
#   3. what is not a clear answer is unknown, and an unknown payment is looked up before anything else;
#   4. an empty lookup proves nothing: a request may still be on its way;
#   5. refused credentials and lockouts end it, because more refusals lock the address out for longer;
#   6. a reply or a row of a lookup with another reference, type, currency or amount is not this order's: a lookup follows such
#      a reply, and such a row, or several payments under the reference, are unknown;
#   7. a request may arrive twice: a refusal of one copy, also of its credentials, does not prove that nothing was charged.
set -uo pipefail
PG=${PG:-pg}
timeout=${PAY_TIMEOUT:-3} patience=${PAY_PATIENCE:-8}
approved=600
declined=' 901 902 903 907 '            # what your operator answers to a decline; these are the sandbox's
denied=106                              # no permission, now
stop=" 102 105 123 $denied 121 122 "    # refused credentials, and lockouts of a minute and of five
follow_ups=' Capture CancelPreAuth Refund '   # of a payment that has a row of its own

for program in "$PG" curl jq; do
  command -v "$program" >/dev/null || { echo "$program is not installed, or not on PATH; PG=/path/to/pg names the pg command" >&2; exit 1; }
done

# Reads the members of the job into variables of their names; those that it lacks are empty.
read -r line
eval "$(jq -r '{job, order, amount, currency, sessionKey, cardKey, attempt} | to_entries[]
  | "\(.key)=\(.value // "" | tostring | @sh)"' <<<"$line")"
[ "${job:-}" = charge ] || { echo 'this adapter charges only' >&2; exit 1; }
protected='^(https://|http://(127\.[0-9.]+|localhost|\[::1\])(:[0-9]+)?(/|$))'   # by TLS, or on this machine
[[ $PG_BASE_URL =~ $protected ]] || { echo 'PG_BASE_URL has to begin with https://, except on this machine' >&2; exit 1; }
# Without TLS, a proxy of the environment would read the credentials.
[[ $PG_BASE_URL == https:* ]] || export no_proxy='*'

# One signed request. The reply is in $reply; 0: read, 1: unclear, 2: refused with $code.
call() {
  local method=$1 signature status one given=()
  shift
  reply='' code=''
  # `pg sign` reads the value @FILE from a file, and @@FILE as @FILE.
  for one in "$@"; do [[ ${one#*=} != @* ]] || one=${one%%=*}=@${one#*=}; given+=("$one"); done
  # It takes the credentials from the environment, so that no list of processes shows them.
  signature=$("$PG" sign --with-credentials "${given[@]}" 2>/dev/null) || return 1
  local form=("apiKey=$PG_API_KEY" "apiPassword=$PG_API_PASSWORD" "$@" "shaSignature=$signature")
  reply=$(printf '%s\n' "${form[@]}" | jq -Rr 'capture("(?<n>[^=]*)=(?<v>.*)") | "\(.n)=\(.v|@uri)"' | paste -sd '&' - |
    curl -s --max-time "$timeout" --data @- -H 'Content-Type: application/x-www-form-urlencoded' -w '\n%{http_code}' \
      "$PG_BASE_URL/v3/$method/json" | head -c 32768) || return 1
  # An error page is not read: jq 1.6 takes minutes for a large one.
  [[ $reply =~ ^[[:space:]]*\{ ]] || return 1
  status=${reply##*$'\n'}
  # A reply with a value twice is not clear (3): jq alone would take the last one.
  jq -en --stream '[inputs | select(length == 2)[0]] | length == (unique | length)' <<<"${reply%$'\n'*}" &>/dev/null || return 1
  # Numbers become texts, as they are written: 998.00 is not 998. The first line is the code, the second the reply.
  reply=$(jq -Rscr 'gsub("(?<text>\"([^\"\\\\]|\\\\.)*\")|(?<number>-?[0-9][0-9.eE+-]*)"; .text // "\"\(.number)\"") | fromjson
    | if type == "object" then (.errorCode // "" | tostring | @uri), . else error end' <<<"${reply%$'\n'*}" 2>/dev/null) || return 1
  code=${reply%%$'\n'*} reply=${reply#*$'\n'}
  [[ $status == 2?? && -z $code ]] && return 0
  [[ -n $code && $stop == *" $code "* ]] && return 2
  return 1
}

# Prints the claim that $reply to the payment or to the lookup ($1) allows, if any.
claim() {
  jq -c --arg approved "$approved" --arg declined "$declined" --arg follow_ups "$follow_ups" --arg step "$1" \
    --arg reference "$order" --arg currency "$currency" --arg amount "$amount" '
    def differs(field; value): field | if . == null then "" else tostring end | . != "" and . != value;
    def is_other: differs(.uniqueMerchantReference; $reference);
    def is_ours: (is_other or differs(.transactionType; "Auth") or differs(.currency; $currency)
      or differs(.transactionValue; $amount)) | not;
    def outcome: (.transactionStatusCode // "" | tostring) as $code
      | {transactionKey: (.transactionKey // "" | tostring)}
        + {claim: (if $code == $approved then "paid" elif $declined | contains(" \($code) ") then "declined" else "unknown" end)};
    def is_payment: "\(.transactionType // "")" as $type | $follow_ups | contains(" \($type) ") | not;
    if $step != "transaction/lookup" then select(has("transactionStatusCode") and is_ours) | outcome
    else [.transactions // empty | .. | objects | select(has("transactionStatusCode") and (is_other | not))]
      | map(select(is_payment)) as $payments
      | if ($payments | length) == 1 and ($payments[0] | is_ours) then $payments[0] | outcome
        elif . == [] then empty else {claim: "unknown"} end   # (6)
    end' <<<"$reply"
}

form=("uniqueMerchantReference=$order" "currency=$currency" "itemName0=Order $order" "itemPrice0=$amount")
if [ -n "$sessionKey" ]; then
  method=transaction/authSessionKey
  form+=("sessionKey=$sessionKey")
elif [ -n "$cardKey" ]; then
  method=transaction/authCardKey
  form+=("cardKey=$cardKey")
else
  # A card number does not belong into the arguments of a process.
  echo '{"claim": "not-charged"}'
  exit
fi

for one in "${form[@]}"; do   # pg sign would read it from standard input
  [ "${one#*=}" != - ] || { echo "the value - cannot be signed: $one" >&2; exit 1; }
done

sent=0 looked=0
# Keeps the reference before anything is sent (1). An order such as 2026/17 is no file name, and a name has at most 255 bytes.
name=$(jq -rn --arg order "$order" '$order | @uri')
[ ${#name} -le 200 ] || name="${name:0:150}-$(cksum <<<"$order" | tr ' ' -)"
kept="${PG_REHEARSE_DIR:-.}/$name.reference"
if ! (set -o noclobber; echo "$order" >"$kept") 2>/dev/null; then
  [ -e "$kept" ] || { echo "the reference cannot be kept: $kept" >&2; exit 1; }
  sent=1
fi
[ "$attempt" ] && sent=1
SECONDS=0 pause=1
while :; do
  steps=("$method")
  [ $sent = 1 ] && steps=(transaction/lookup "$method")   # (3)
  [ $looked = 1 ] && steps=(transaction/lookup)
  for step in "${steps[@]}"; do
    sent=1
    if [ "$step" = transaction/lookup ]; then call "$step" "uniqueMerchantReference=$order"; else call "$step" "${form[@]}"; fi  # (2)
    case $? in
      0) known=$(claim "$step"); [ -n "$known" ] && { echo "$known"; exit; } ;;   # (4) nothing shown: go on
      1) break ;;   # (3)
      2) [ $looked$code = "0$denied" ] && { looked=1; continue 2; }   # one lookup, and no second payment
         echo '{"claim": "unknown"}'; exit ;;   # (5, 7)
    esac
  done
  [ $looked = 1 ] && { echo '{"claim": "unknown"}'; exit; }
  [ $((SECONDS + pause)) -gt "${patience%.*}" ] && { echo '{"claim": "unknown"}'; exit; }
  sleep "$pause"
  pause=$((pause * 2))
done
