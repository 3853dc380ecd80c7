<?php
// Charges one order, once, whatever happens. PHP 8 with its curl extension.
//
// Input: the account in the environment, one JSON line on standard input. Output: one JSON line with the claim.
// The rules that keep the money safe are marked with numbers:
//   1. one uniqueMerchantReference for an order, kept before anything is sent;
//   2. every attempt carries it: the service accepts it once;
//   3. what is not a clear answer is unknown, and an unknown payment is looked up before anything else;
//   4. an empty lookup proves nothing: a request may still be on its way;
//   5. refused credentials and lockouts end it, because more refusals lock the address out for longer;
//   6. a payment that a lookup shows with another amount or currency is not this order's: unknown;
//   7. a request may arrive twice: a refusal of one copy, also of its credentials, does not prove that nothing was charged.
declare(strict_types=1);

const APPROVED = '600';
const DECLINED = ['901', '902', '903', '907']; // what your operator answers to a decline; these are the sandbox's
const DENIED = '106'; // no permission, now
const STOP = ['102', '105', '123', DENIED, '121', '122']; // refused credentials, and lockouts of a minute and of five

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
        CURLOPT_POSTFIELDS => http_build_query($form),
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_FOLLOWLOCATION => false,
        CURLOPT_TIMEOUT_MS => (int) (1000 * (float) (getenv('PAY_TIMEOUT') ?: 3)),
        CURLOPT_SSL_VERIFYPEER => true,
        CURLOPT_SSL_VERIFYHOST => 2,
    ]);
    if (getenv('SSL_CERT_FILE')) {
        curl_setopt($curl, CURLOPT_CAINFO, getenv('SSL_CERT_FILE'));
    }
    $body = curl_exec($curl);
    $reply = is_string($body) ? json_decode($body, true) : null;
    if (!is_array($reply)) {
        throw new Unclear('no reply that can be read'); // an error's text may hold the request
    }
    $code = (string) ($reply['errorCode'] ?? '');
    if (in_array($code, STOP, true)) {
        throw new Refused($code);
    }
    if ($code !== '') {
        throw new Unclear($code);
    }
    return $reply;
}

/** What a payment record says; null when it says nothing that is documented. */
function outcome(array $payment): ?array
{
    $code = (string) ($payment['transactionStatusCode'] ?? '');
    $key = (string) ($payment['transactionKey'] ?? '');
    if ($code === APPROVED && in_array($payment['transactionType'] ?? 'Auth', ['Auth', 'PreAuth'], true)) {
        return ['claim' => 'paid', 'transactionKey' => $key];
    }
    if (in_array($code, DECLINED, true)) {
        return ['claim' => 'declined', 'transactionKey' => $key];
    }
    return $code === '' ? null : ['claim' => 'unknown'];
}

/** What a payment that a lookup shows says about the payment that was sent (6). */
function ours(array $payment, array $form): ?array
{
    $shown = [(string) ($payment['transactionValue'] ?? ''), $payment['currency'] ?? ''];
    return $shown === [(string) $form['itemPrice0'], $form['currency']] ? outcome($payment) : ['claim' => 'unknown'];
}

/** The payment with this form's reference; null when none is shown, which proves nothing (4). */
function look_up(array $form): ?array
{
    $found = call('transaction/lookup', ['uniqueMerchantReference' => $form['uniqueMerchantReference']])['transactions'] ?? [];
    while (is_array($found) && isset($found['transaction'])) {
        $found = $found['transaction'];
    }
    $found = isset($found['transactionStatusCode']) ? [$found] : array_filter((array) $found, 'is_array');
    $outcomes = array_filter(array_map(fn ($one) => ours($one, $form), $found));
    foreach (['paid', 'declined', 'unknown'] as $claim) {
        foreach ($outcomes as $one) {
            if ($one['claim'] === $claim) {
                return $one;
            }
        }
    }
    return null;
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
    $file = @fopen((getenv('PG_REHEARSE_DIR') ?: '.') . "/$order.reference", 'x');
    if ($file === false) {
        return true;
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
                $known = outcome(call($method, $form)); // again under the same reference (2)
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
echo json_encode(charge($job)), "\n";
