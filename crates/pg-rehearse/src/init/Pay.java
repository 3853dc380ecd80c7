// Charges one order, once, whatever happens. Java 17 or later, no library: javac -d classes Pay.java, then java -cp classes Pay
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

public class Pay {
    static final String APPROVED = "600";
    // What your operator answers to a decline; these are the sandbox's.
    static final Set<String> DECLINED = Set.of("901", "902", "903", "907");
    // No permission, now.
    static final String DENIED = "106";
    // Refused credentials, no permission, and lockouts of a minute and of five.
    static final Set<String> STOP = Set.of("102", "105", "123", DENIED, "121", "122");

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
    static String call(HttpClient client, String method, Map<String, String> parameters) throws Exception {
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
            .timeout(Duration.ofMillis((long) (1000 * Double.parseDouble(env("PAY_TIMEOUT", "3")))))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        String reply;
        try {
            reply = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (java.io.IOException error) {
            throw new Unclear(); // the text of an error may hold the request
        }
        String trimmed = reply.trim();
        if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) {
            throw new Unclear();
        }
        String code = member(reply, "errorCode");
        if (STOP.contains(code)) {
            throw new Refused(code);
        }
        if (!code.isEmpty()) {
            throw new Unclear();
        }
        return reply;
    }

    /** The first member of this name whose value is a text or a number. */
    static String member(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\"\\s*:\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|([0-9]+))").matcher(json);
        return !found.find() ? "" : found.group(1) != null ? found.group(1).replace("\\/", "/") : found.group(2);
    }

    /** What payment records say, the best first; null when none says anything. Those of a lookup have to be of this form (6). */
    static String outcome(String reply, Map<String, String> form, boolean lookup) {
        List<String> claims = new ArrayList<>();
        Matcher records = Pattern.compile("\\{[^{}]*\"transactionStatusCode\"[^{}]*\\}").matcher(reply);
        while (records.find()) {
            if (lookup && !(member(records.group(), "transactionValue").equals(form.get("itemPrice0"))
                && member(records.group(), "currency").equals(form.get("currency")))) {
                claims.add("{\"claim\": \"unknown\"}");
                continue;
            }
            String code = member(records.group(), "transactionStatusCode");
            String type = member(records.group(), "transactionType");
            boolean payment = type.isEmpty() || type.equals("Auth") || type.equals("PreAuth");
            String key = ", \"transactionKey\": \"" + member(records.group(), "transactionKey") + "\"}";
            if (code.equals(APPROVED) && payment) {
                return "{\"claim\": \"paid\"" + key;
            }
            claims.add(DECLINED.contains(code) ? "{\"claim\": \"declined\"" + key : "{\"claim\": \"unknown\"}");
        }
        // A reply whose record holds others: its own status is all that counts.
        if (!lookup && claims.isEmpty() && !member(reply, "transactionStatusCode").isEmpty()) {
            return member(reply, "transactionStatusCode").equals(APPROVED)
                ? "{\"claim\": \"paid\", \"transactionKey\": \"" + member(reply, "transactionKey") + "\"}"
                : "{\"claim\": \"unknown\"}";
        }
        claims.sort((one, other) -> Boolean.compare(other.contains("declined"), one.contains("declined")));
        return claims.isEmpty() ? null : claims.get(0);
    }

    static Map<String, String> payment(String job, String order) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("uniqueMerchantReference", order);
        form.put("currency", member(job, "currency"));
        form.put("itemName0", "Order " + order);
        form.put("itemPrice0", member(job, "amount"));
        form.put("sessionKey", member(job, "sessionKey"));
        form.put("cardKey", member(job, "cardKey"));
        form.put("cardNumber", member(job, "number"));
        form.put("cardExpiryMonth", member(job, "expiryMonth"));
        String year = member(job, "expiryYear");
        form.put("cardExpiryYear", year.length() > 2 ? year.substring(year.length() - 2) : year);
        form.put("cardCV2", member(job, "cv2"));
        form.values().removeIf(String::isEmpty);
        return form;
    }

    /** Keeps the reference before anything is sent (1). Says whether the order was begun before. */
    static boolean begin(String order) throws Exception {
        try {
            Path file = Path.of(env("PG_REHEARSE_DIR", "."), order + ".reference");
            Files.writeString(file, order, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SYNC);
            return false;
        } catch (FileAlreadyExistsException begun) {
            return true;
        }
    }

    static String charge(String job) throws Exception {
        HttpClient client = client();
        String order = member(job, "order"); // the same for every attempt, and for two workers with one order (1, 2)
        Map<String, String> form = payment(job, order);
        String method = form.containsKey("sessionKey") ? "authSessionKey" : form.containsKey("cardKey") ? "authCardKey" : "auth";
        boolean sent = begin(order) || !member(job, "attempt").isEmpty();
        boolean denied = false;
        long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(env("PAY_PATIENCE", "8")));
        for (long pause = 300;; pause *= 2) {
            try {
                String known = null;
                if (sent) {
                    known = outcome(call(client, "transaction/lookup", Map.of("uniqueMerchantReference", order)), form, true); // (3)
                }
                if (known == null && denied) {
                    return "{\"claim\": \"unknown\"}";
                }
                if (known == null) { // (4)
                    sent = true;
                    known = outcome(call(client, "transaction/" + method, form), form, false); // again under the same reference (2)
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
                return "{\"claim\": \"unknown\"}"; // (5, 7)
            } catch (Unclear nothing) {
                // (3)
            }
            if (System.nanoTime() + pause * 1_000_000 > end) {
                return "{\"claim\": \"unknown\"}";
            }
            Thread.sleep(pause);
        }
    }

    public static void main(String[] arguments) throws Exception {
        String job = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        if (!member(job, "job").equals("charge")) {
            System.err.println("this adapter charges only");
            System.exit(1);
        }
        System.out.println(charge(job));
    }
}
