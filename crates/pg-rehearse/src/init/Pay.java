// Charges one order, once, whatever happens. Java 17 or later, no library: javac -d classes Pay.java, then java -cp classes Pay
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
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

public class Pay {
    static final String UNKNOWN = "{\"claim\": \"unknown\"}";
    static final String APPROVED = "600";
    // What your operator answers to a decline; these are the sandbox's.
    static final Set<String> DECLINED = Set.of("901", "902", "903", "907");
    // No permission, now.
    static final String DENIED = "106";
    // Refused credentials, no permission, and lockouts of a minute and of five.
    static final Set<String> STOP = Set.of("102", "105", "123", DENIED, "121", "122");

    // Of a payment that has a row of its own.
    static final Set<String> FOLLOW_UPS = Set.of("Capture", "CancelPreAuth", "Refund");
    // By TLS, or on this machine.
    static final Pattern PROTECTED = Pattern.compile("^(https://|http://(127\\.[0-9.]+|localhost|\\[::1\\])(:[0-9]+)?(/|$))");

    /** No answer, or none that can be read: the request may have been executed. */
    static class Unclear extends Exception {}

    /** The service refused, with this code. */
    static class Refused extends Exception {
        Refused(String code) {
            super(code);
        }
    }

    static String env(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    static HttpClient client() throws Exception {
        HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER);
        String roots = env("SSL_CERT_FILE", "");
        if (!roots.isEmpty()) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            try (FileInputStream file = new FileInputStream(roots)) {
                int number = 0;
                for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
                    store.setCertificateEntry("root-" + number++, one);
                }
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            builder.sslContext(context);
        }
        return builder.build();
    }

    /** One signed request. */
    static Map<String, Object> call(HttpClient client, String method, Map<String, String> parameters) throws Exception {
        TreeMap<String, String> form = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        form.put("apiKey", env("PG_API_KEY", ""));
        form.put("apiPassword", env("PG_API_PASSWORD", ""));
        form.putAll(parameters);
        form.values().removeIf(String::isEmpty);
        StringBuilder text = new StringBuilder();
        form.forEach((name, value) -> text.append(name).append('=').append(value).append(env("PG_SHA_KEY", "")));
        byte[] digest = MessageDigest.getInstance("SHA-512").digest(text.toString().getBytes(StandardCharsets.UTF_8));
        form.put("shaSignature", HexFormat.of().formatHex(digest));
        String body = form.entrySet().stream()
            .map(one -> one.getKey() + "=" + URLEncoder.encode(one.getValue(), StandardCharsets.UTF_8))
            .collect(Collectors.joining("&"));
        HttpRequest request = HttpRequest.newBuilder(URI.create(env("PG_BASE_URL", "") + "/v3/" + method + "/json"))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> response;
        Map<String, Object> reply;
        // A limit for the whole reply: that of HttpRequest ends with the headers.
        long limit = (long) (1000 * Double.parseDouble(env("PAY_TIMEOUT", "3")));
        CompletableFuture<HttpResponse<String>> pending = client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        try {
            response = pending.get(limit, TimeUnit.MILLISECONDS);
            reply = new Json(response.body()).object();
        } catch (ExecutionException | TimeoutException | RuntimeException error) {
            pending.cancel(true);
            throw new Unclear(); // the text of an error may hold the request
        }
        String code = shown(reply, "errorCode");
        int status = response.statusCode();
        if (STOP.contains(code)) {
            throw new Refused(code);
        }
        if (!code.isEmpty() || status < 200 || status > 299) {
            throw new Unclear();
        }
        return reply;
    }

    /** Reads JSON into maps, lists, and texts. Numbers stay as they are written: 998.00 is not 998. */
    static class Json {
        private static final Pattern TOKEN = Pattern.compile("\\s*(\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"|[\\[\\]{},:]|[^\\s\\[\\]{},:\"]+)");
        private static final int MOST = 100; // levels: a stack that overflows is no RuntimeException
        private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u([0-9a-fA-F]{4})|(.))");
        private final String text;
        private final Matcher tokens;
        private int at;

        Json(String text) {
            this.text = text.strip();
            this.tokens = TOKEN.matcher(this.text);
        }

        /** The whole text as one object. Throws a RuntimeException when it is none. */
        Map<String, Object> object() {
            @SuppressWarnings("unchecked")
            Map<String, Object> object = (Map<String, Object>) value(next(), 0);
            if (object == null || at != text.length()) {
                throw new IllegalArgumentException("null, or text after the object");
            }
            return object;
        }

        private String next() {
            if (!tokens.find(at) || tokens.start() != at) {
                throw new IllegalArgumentException("no token");
            }
            at = tokens.end();
            return tokens.group(1);
        }

        private Object value(String token, int level) {
            if (level > MOST) {
                throw new IllegalArgumentException("too many levels");
            }
            if (token.equals("{")) {
                Map<String, Object> members = new LinkedHashMap<>();
                for (String name = next(); !name.equals("}"); name = more("}")) {
                    expect(":");
                    String member = (String) value(name, level + 1);
                    if (members.containsKey(member)) {
                        throw new IllegalArgumentException("a member twice"); // not clear (3)
                    }
                    members.put(member, value(next(), level + 1));
                }
                return members;
            }
            if (token.equals("[")) {
                List<Object> elements = new ArrayList<>();
                for (String element = next(); !element.equals("]"); element = more("]")) {
                    elements.add(value(element, level + 1));
                }
                return elements;
            }
            if (token.startsWith("\"")) {
                return ESCAPE.matcher(token.substring(1, token.length() - 1)).replaceAll(found -> Matcher.quoteReplacement(
                    found.group(1) != null ? String.valueOf((char) Integer.parseInt(found.group(1), 16)) : unescaped(found.group(2))));
            }
            if (token.length() == 1 && "]},:".contains(token)) {
                throw new IllegalArgumentException("no value");
            }
            return token.equals("null") ? null : token;
        }

        /** What follows a member or an element: the end, or the first token of the next one. */
        private String more(String end) {
            String token = next();
            if (token.equals(end)) {
                return end;
            }
            if (!token.equals(",")) {
                throw new IllegalArgumentException("no comma");
            }
            return next();
        }

        private void expect(String wanted) {
            if (!next().equals(wanted)) {
                throw new IllegalArgumentException("no " + wanted);
            }
        }

        private static String unescaped(String letter) {
            int known = "bfnrt".indexOf(letter);
            return known < 0 ? letter : "\b\f\n\r\t".substring(known, known + 1);
        }
    }

    /** The text of a field; empty when the field is missing or null. */
    static String shown(Map<?, ?> record, String name) {
        return record.get(name) == null ? "" : record.get(name).toString();
    }

    /** What a payment record says; null when it says nothing that is documented. */
    static String outcome(Map<?, ?> payment) {
        String code = shown(payment, "transactionStatusCode");
        String key = "\", \"transactionKey\": \"" + shown(payment, "transactionKey").replaceAll("[^0-9A-Za-z-]", "") + "\"}";
        if (code.equals(APPROVED)) {
            return "{\"claim\": \"paid" + key;
        }
        if (DECLINED.contains(code)) {
            return "{\"claim\": \"declined" + key;
        }
        return code.isEmpty() ? null : UNKNOWN;
    }

    /** The fields in which a record names something else than the payment that was sent (6). Missing ones do not count. */
    static Set<String> differing(Map<?, ?> record, Map<String, String> form) {
        Map<String, String> sent = new TreeMap<>(Map.of(
            "uniqueMerchantReference", form.get("uniqueMerchantReference"),
            "transactionType", "Auth",
            "currency", form.get("currency"),
            "transactionValue", form.get("itemPrice0")));
        sent.entrySet().removeIf(one -> Set.of("", one.getValue()).contains(shown(record, one.getKey())));
        return sent.keySet();
    }

    /** What the reply to the payment says; null when it is the reply to something else (6). */
    static String answer(Map<String, Object> reply, Map<String, String> form) {
        return differing(reply, form).isEmpty() ? outcome(reply) : null;
    }

    /** The payment with this form's reference; null when none is shown, which proves nothing (4). */
    static String lookUp(HttpClient client, Map<String, String> form) throws Exception {
        Map<String, String> wanted = Map.of("uniqueMerchantReference", form.get("uniqueMerchantReference"));
        Object found = call(client, "transaction/lookup", wanted).get("transactions");
        while (found instanceof Map<?, ?> map && map.containsKey("transaction")) {
            found = map.get("transaction");
        }
        if (found instanceof Map<?, ?> map) {
            found = map.containsKey("transactionStatusCode") ? List.of(map) : new ArrayList<>(map.values());
        }
        List<Map<?, ?>> ours = new ArrayList<>();
        for (Object one : found instanceof List<?> list ? list : List.of()) {
            if (one instanceof Map<?, ?> record && !differing(record, form).contains("uniqueMerchantReference")) {
                ours.add(record);
            }
        }
        List<Map<?, ?>> payments = ours.stream().filter(one -> !FOLLOW_UPS.contains(shown(one, "transactionType"))).toList();
        if (payments.size() == 1 && differing(payments.get(0), form).isEmpty()) {
            return outcome(payments.get(0));
        }
        return ours.isEmpty() ? null : UNKNOWN; // (6)
    }

    static Map<String, String> payment(Map<String, Object> job, String order) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("uniqueMerchantReference", order);
        form.put("currency", shown(job, "currency"));
        form.put("itemName0", "Order " + order);
        form.put("itemPrice0", shown(job, "amount"));
        form.put("sessionKey", shown(job, "sessionKey"));
        form.put("cardKey", shown(job, "cardKey"));
        if (job.get("card") instanceof Map<?, ?> card) {
            String year = shown(card, "expiryYear");
            form.put("cardNumber", shown(card, "number"));
            form.put("cardExpiryMonth", shown(card, "expiryMonth"));
            form.put("cardExpiryYear", year.length() > 2 ? year.substring(year.length() - 2) : year);
            form.put("cardCV2", shown(card, "cv2"));
        }
        form.values().removeIf(String::isEmpty);
        return form;
    }

    /** Keeps the reference before anything is sent (1). Says whether the order was begun before. */
    static boolean begin(String order) throws Exception {
        try {
            // An order such as 2026/17 is no file name, and a name has at most 255 bytes.
            String name = URLEncoder.encode(order, StandardCharsets.UTF_8);
            if (name.length() > 200) {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(order.getBytes(StandardCharsets.UTF_8));
                name = HexFormat.of().formatHex(digest);
            }
            Path file = Path.of(env("PG_REHEARSE_DIR", "."), name + ".reference");
            Files.writeString(file, order, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SYNC);
            return false;
        } catch (FileAlreadyExistsException begun) {
            return true;
        }
    }

    static String charge(Map<String, Object> job) throws Exception {
        HttpClient client = client();
        String order = shown(job, "order"); // the same for every attempt, and for two workers with one order (1, 2)
        Map<String, String> form = payment(job, order);
        String method = form.containsKey("sessionKey") ? "authSessionKey" : form.containsKey("cardKey") ? "authCardKey" : "auth";
        boolean sent = begin(order) || !shown(job, "attempt").isEmpty();
        boolean denied = false;
        long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(env("PAY_PATIENCE", "8")));
        for (long pause = 300;; pause *= 2) {
            try {
                String known = sent ? lookUp(client, form) : null; // (3)
                if (known == null && denied) {
                    return UNKNOWN;
                }
                if (known == null) { // (4)
                    sent = true;
                    known = answer(call(client, "transaction/" + method, form), form); // again under the same reference (2)
                }
                if (known != null) {
                    return known;
                }
            } catch (Refused refused) {
                String code = refused.getMessage();
                if (code.equals(DENIED) && !denied) {
                    denied = true; // one lookup, and no second payment
                    continue;
                }
                return UNKNOWN; // (5, 7)
            } catch (Unclear nothing) {
                // (3)
            }
            if (System.nanoTime() + pause * 1_000_000 > end) {
                return UNKNOWN;
            }
            Thread.sleep(pause);
        }
    }

    public static void main(String[] arguments) throws Exception {
        String line = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        Map<String, Object> job = new Json(line).object();
        if (!shown(job, "job").equals("charge")) {
            System.err.println("this adapter charges only");
            System.exit(1);
        }
        if (!PROTECTED.matcher(env("PG_BASE_URL", "")).find()) {
            System.err.println("PG_BASE_URL has to begin with https://, except on this machine");
            System.exit(1);
        }
        System.out.println(charge(job));
    }
}
