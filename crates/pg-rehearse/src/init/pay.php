<?php
// Charges one order, once, whatever happens. PHP 8.1 or later with its curl extension.
//
// Input: the account in the environment, one JSON line on standard input. Output: one JSON line with the claim.
// The rules that keep the money safe are marked with numbers:
//   1. one uniqueMerchantReference for an order, kept before anything is sent;
//   2. every attempt carries it: the service accepts it once;
//   3. what is not a clear answer is unknown, and an unknown payment is looked up before anything else;
//   4. an empty lookup proves nothing: a request may still be on its way;
//   5. refused credentials and lockouts end it, because more refusals lock the address out for longer;
//   6. a reply or a row of a lookup with another reference, type, currency or amount is not this order's: a lookup follows such
//      a reply, and such a row, or several payments under the reference, are unknown;
//   7. a request may arrive twice: a refusal of one copy, also of its credentials, does not prove that nothing was charged.
declare(strict_types=1);

const APPROVED = '600';
const DECLINED = ['901', '902', '903', '907']; // what your operator answers to a decline; these are the sandbox's
const DENIED = '106'; // no permission, now
const STOP = ['102', '105', '123', DENIED, '121', '122']; // refused credentials, and lockouts of a minute and of five
const FOLLOW_UPS = ['Capture', 'CancelPreAuth', 'Refund']; // of a payment that has a row of its own
const PROTECTED_BASE = '~^(https://|http://(127\.[0-9.]+|localhost|\[::1\])(:[0-9]+)?(/|$))~'; // by TLS, or on this machine

class Unclear extends Exception {} // no answer, or none that can be read: the request may have been executed
class Refused extends Exception {} // the service refused, with this code

/** One signed request. */
function call(string $method, array $parameters): array
{
    $form = array_map('strval', ['apiKey' => getenv('PG_API_KEY'), 'apiPassword' => getenv('PG_API_PASSWORD')] + $parameters);
    $names = array_filter(array_keys($form), fn ($name) => $form[$name] !== '');
    usort($names, 'strcasecmp');
    $text = implode('', array_map(fn ($name) => $name . '=' . $form[$name] . getenv('PG_SHA_KEY'), $names));
    $form['shaSignature'] = hash('sha512', $text);
    $curl = curl_init(getenv('PG_BASE_URL') . "/v3/$method/json");
    curl_setopt_array($curl, [
        CURLOPT_POSTFIELDS => http_build_query($form, '', '&'), // whatever php.ini says
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_FOLLOWLOCATION => false,
        CURLOPT_TIMEOUT_MS => (int) (1000 * (float) (getenv('PAY_TIMEOUT') ?: 3)),
        CURLOPT_SSL_VERIFYPEER => true,
        CURLOPT_SSL_VERIFYHOST => 2,
    ]);
    if (!str_starts_with((string) getenv('PG_BASE_URL'), 'https:')) {
        curl_setopt($curl, CURLOPT_PROXY, ''); // a proxy of the environment would read the card
    }
    if (getenv('SSL_CERT_FILE')) {
        curl_setopt($curl, CURLOPT_CAINFO, getenv('SSL_CERT_FILE'));
    }
    $body = curl_exec($curl);
    $reply = is_string($body) ? json_decode($body, true) : null;
    if (!is_array($reply)) {
        throw new Unclear('no reply that can be read'); // an error's text may hold the request
    }
    $code = shown($reply, 'errorCode');
    $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
    if (in_array($code, STOP, true)) {
        throw new Refused($code);
    }
    if ($code !== '' || $status < 200 || $status > 299) {
        throw new Unclear($code);
    }
    return $reply;
}

/** The text of a field; empty when the field is missing or null. A number with a fraction, also 998.00, stays one. */
function shown(array $record, string $name): string
{
    $value = $record[$name] ?? '';
    return is_string($value) || is_int($value) ? (string) $value : (json_encode($value, JSON_PRESERVE_ZERO_FRACTION) ?: 'no text');
}

/** What a payment record says; null when it says nothing that is documented. */
function outcome(array $payment): ?array
{
    $code = shown($payment, 'transactionStatusCode');
    $key = shown($payment, 'transactionKey');
    if ($code === APPROVED) {
        return ['claim' => 'paid', 'transactionKey' => $key];
    }
    if (in_array($code, DECLINED, true)) {
        return ['claim' => 'declined', 'transactionKey' => $key];
    }
    return $code === '' ? null : ['claim' => 'unknown'];
}

/** The fields in which a record names something else than the payment that was sent (6). Missing ones do not count. */
function differing(array $record, array $form): array
{
    $sent = [
        'uniqueMerchantReference' => $form['uniqueMerchantReference'],
        'transactionType' => 'Auth',
        'currency' => $form['currency'],
        'transactionValue' => (string) $form['itemPrice0'],
    ];
    return array_filter(array_keys($sent), fn ($name) => !in_array(shown($record, $name), ['', $sent[$name]], true));
}

/** What the reply to the payment says; null when it is the reply to something else (6). */
function answer(array $reply, array $form): ?array
{
    return differing($reply, $form) ? null : outcome($reply);
}

/** The payment with this form's reference; null when none is shown, which proves nothing (4). */
function look_up(array $form): ?array
{
    $found = call('transaction/lookup', ['uniqueMerchantReference' => $form['uniqueMerchantReference']])['transactions'] ?? [];
    while (is_array($found) && isset($found['transaction'])) {
        $found = $found['transaction'];
    }
    $found = isset($found['transactionStatusCode']) ? [$found] : array_filter((array) $found, 'is_array');
    $ours = array_filter($found, fn ($one) => !in_array('uniqueMerchantReference', differing($one, $form), true));
    $payments = array_values(array_filter($ours, fn ($one) => !in_array(shown($one, 'transactionType'), FOLLOW_UPS, true)));
    if (count($payments) === 1 && !differing($payments[0], $form)) {
        return outcome($payments[0]);
    }
    return $ours ? ['claim' => 'unknown'] : null; // (6)
}

function payment(array $job, string $reference): array
{
    $form = [
        'uniqueMerchantReference' => $reference,
        'currency' => $job['currency'],
        'itemName0' => 'Order ' . $job['order'],
        'itemPrice0' => $job['amount'],
    ];
    if (isset($job['sessionKey'])) {
        return ['transaction/authSessionKey', $form + ['sessionKey' => $job['sessionKey']]];
    }
    if (isset($job['cardKey'])) {
        return ['transaction/authCardKey', $form + ['cardKey' => $job['cardKey']]];
    }
    $card = $job['card'];
    return ['transaction/auth', $form + [
        'cardNumber' => $card['number'],
        'cardExpiryMonth' => $card['expiryMonth'],
        'cardExpiryYear' => substr((string) $card['expiryYear'], -2),
        'cardCV2' => $card['cv2'] ?? '',
    ]];
}

/** Keeps the reference before anything is sent (1). Says whether the order was begun before. */
function begin(string $order): bool
{
    // An order such as 2026/17 is no file name, and a name has at most 255 bytes.
    $name = rawurlencode($order);
    $name = strlen($name) <= 200 ? $name : hash('sha256', $order);
    $path = (getenv('PG_REHEARSE_DIR') ?: '.') . "/$name.reference";
    $file = @fopen($path, 'x');
    if ($file === false && file_exists($path)) {
        return true;
    }
    if ($file === false) {
        fwrite(STDERR, "the reference cannot be kept: $path\n");
        exit(1);
    }
    fwrite($file, $order);
    fflush($file);
    fsync($file);
    fclose($file);
    return false;
}

function charge(array $job): array
{
    $reference = $job['order']; // the same for every attempt, and for two workers with one order (1, 2)
    [$method, $form] = payment($job, $reference);
    $sent = begin($job['order']) || ($job['attempt'] ?? 1) > 1;
    $denied = false;
    $end = microtime(true) + (float) (getenv('PAY_PATIENCE') ?: 8);
    for ($pause = 0.3;; $pause *= 2) {
        try {
            $known = $sent ? look_up($form) : null; // (3)
            if ($known === null && $denied) {
                return ['claim' => 'unknown', 'error' => DENIED];
            }
            if ($known === null) {
                $sent = true;
                $known = answer(call($method, $form), $form); // again under the same reference (2)
            }
            if ($known !== null) {
                return $known;
            }
        } catch (Refused $refused) {
            $code = $refused->getMessage();
            if ($code === DENIED && !$denied) {
                $denied = true; // one lookup, and no second payment
                continue;
            }
            return ['claim' => 'unknown', 'error' => $code]; // (5, 7)
        } catch (Unclear) {
            // (3)
        }
        if (microtime(true) + $pause > $end) {
            return ['claim' => 'unknown'];
        }
        usleep((int) (1e6 * $pause));
    }
}

if (!extension_loaded('curl')) {
    fwrite(STDERR, "PHP's curl extension is not installed (Debian: apt-get install php-curl)\n");
    exit(1);
}
$job = json_decode((string) fgets(STDIN), true);
if (($job['job'] ?? '') !== 'charge') {
    fwrite(STDERR, "this adapter charges only\n");
    exit(1);
}
if (!preg_match(PROTECTED_BASE, (string) getenv('PG_BASE_URL'))) {
    fwrite(STDERR, "PG_BASE_URL has to begin with https://, except on this machine\n");
    exit(1);
}
echo json_encode(charge($job)), "\n";
