//! The adapters that `pg rehearse init` writes, without drills: replies and environments that no drill has.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, LazyLock, Mutex},
    thread,
};

use pg_rehearse::Language;
use pg_support::installed;
use serde_json::Value;
use tempfile::TempDir;

struct Adapter {
    language: Language,
    needs: &'static [&'static str],
    command: &'static [&'static str],
}

const ADAPTERS: [Adapter; 5] = [
    Adapter { language: Language::Python, needs: &["python3"], command: &["python3", "pay.py"] },
    Adapter { language: Language::Node, needs: &["node"], command: &["node", "pay.mjs"] },
    // As in the php.ini of old hosts.
    Adapter {
        language: Language::Php,
        needs: &["php"],
        command: &["php", "-d", "arg_separator.output=&amp;", "pay.php"],
    },
    Adapter {
        language: Language::Java,
        needs: &["javac"],
        command: &["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", "classes", "Pay"],
    },
    // jq 1.6 can take minutes.
    Adapter {
        language: Language::Bash,
        needs: &["curl", "jq", "timeout"],
        command: &["timeout", "60", "bash", "pay.sh"],
    },
];

const PAID: &str = r#"{"transactionStatusCode": "600", "transactionType": "Auth", "transactionKey": "k"}"#;
const NOTHING: &str = r#"{"transactions": {}}"#;
/// The status and body of a reply that cannot be read.
const FAILED: (u16, &str) = (500, "failed");

/// A service with one reply to lookups and one to payments, and the requests that it received.
struct Service {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Service {
    fn new(lookup: (u16, &str), payment: (u16, &str)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("it works");
        let address = format!("http://{}", listener.local_addr().expect("it works"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let owned = |(status, body): (u16, &str)| (status, body.to_owned());
        let (lookup, payment) = (owned(lookup), owned(payment));
        thread::spawn(move || {
            for caller in listener.incoming() {
                let mut caller = caller.expect("it works");
                let request = received(&caller);
                let (status, body) = if request.contains("/transaction/lookup/") { &lookup } else { &payment };
                seen.lock().expect("it works").push(request);
                let head =
                    format!("HTTP/1.1 {status} -\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
                // A caller may hang up when it has read enough.
                let _ = caller.write_all(head.as_bytes()).and_then(|()| caller.write_all(body.as_bytes()));
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("it works").clone()
    }
}

/// The request line and the body.
fn received(caller: &TcpStream) -> String {
    let mut reader = BufReader::new(caller);
    let (mut request, mut length) = (String::new(), 0);
    // A proxy that is wrongly used is asked for a tunnel, or for nothing.
    while let Ok(count @ 3..) = reader.read_line(&mut request) {
        let line = request.split_off(request.len() - count).to_ascii_lowercase();
        match line.split_once("content-length:") {
            Some((_, value)) => length = value.trim().parse().expect("a number"),
            None if line.starts_with("post ") => request.push_str(&line),
            None => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("it works");
    request + &String::from_utf8(body).expect("it works")
}

/// The adapter in Java, compiled once for all tests: a compiler takes two seconds of processor time.
static COMPILED: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("it works");
    pg_rehearse::init(folder.path(), Language::Java).expect("it works");
    let mut javac = Command::new("javac");
    javac.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-d", "classes", "Pay.java"]);
    assert!(javac.current_dir(&folder).status().expect("it works").success());
    folder
});

/// Makes a folder with an adapter that is ready to run.
pub(crate) fn prepared(language: Language) -> TempDir {
    let folder = tempfile::tempdir().expect("it works");
    pg_rehearse::init(folder.path(), language).expect("it works");
    if language == Language::Java {
        let (from, to) = (COMPILED.path().join("classes"), folder.path().join("classes"));
        fs::create_dir(&to).expect("it works");
        for class in fs::read_dir(from).expect("it works") {
            let class = class.expect("it works");
            fs::copy(class.path(), to.join(class.file_name())).expect("it works");
        }
    }
    // With `PG=sh`, the adapter in bash runs this in place of `pg sign`, which reads such values from elsewhere.
    let sign = "for one; do case ${one#*=} in -|@[!@]*) exit 1;; esac; done; echo signature";
    fs::write(folder.path().join("sign"), sign).expect("it works");
    folder
}

/// Runs an adapter. Returns its claim if it ended well.
fn run(adapter: &Adapter, folder: &Path, kept: &Path, base: &str, order: &str, attempt: Option<u8>) -> Option<String> {
    let proxy = Service::new(FAILED, FAILED);
    let mut command = Command::new(adapter.command[0]);
    command.args(&adapter.command[1..]).current_dir(folder);
    command.envs([("PG_API_KEY", "key"), ("PG_API_PASSWORD", "password"), ("PG_SHA_KEY", "sha"), ("PG", "sh")]);
    command.envs([("PAY_TIMEOUT", "20"), ("PAY_PATIENCE", "0"), ("PG_BASE_URL", base), ("LC_ALL", "C")]);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env(name, &proxy.address);
    }
    command.env_remove("no_proxy").env_remove("NO_PROXY").env("PG_REHEARSE_DIR", kept);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut job =
        serde_json::json!({"job": "charge", "order": order, "amount": 499, "currency": "GBP", "sessionKey": "s"});
    if let Some(attempt) = attempt {
        job["attempt"] = attempt.into();
    }
    let mut process = command.spawn().expect("it works");
    // A process that refuses to start may not read it.
    let _ = writeln!(process.stdin.take().expect("it is piped"), "{job}");
    let output = process.wait_with_output().expect("it works");
    assert!(proxy.requests().is_empty(), "{:?}: {:?}", adapter.language, proxy.requests());
    let claim =
        || serde_json::from_slice::<Value>(&output.stdout).expect("it is JSON")["claim"].as_str().map(str::to_owned);
    output.status.success().then(claim).flatten()
}

fn each(what: &str, check: impl Fn(&Adapter, &Path) + Sync) {
    thread::scope(|scope| {
        for adapter in &ADAPTERS {
            if installed(adapter.needs, &format!("{what}, in {}", adapter.language.name())) {
                let check = &check;
                scope.spawn(move || check(adapter, prepared(adapter.language).path()));
            }
        }
    });
}

#[test]
fn a_reply_that_is_no_clear_answer_is_unknown_in_every_adapter() {
    let deep = format!("{{\"errorCode\": {}{}}}", "[".repeat(20_000), "]".repeat(20_000));
    let page = format!("<html>{}", "<p class=\"x12\">row 12345 6.7</p>\n".repeat(50_000));
    let replies = [
        ((200, "null"), (200, "null")),
        ((200, r#"{"transactions": {"transaction": null}}"#), (200, r#"{"transactionStatusCode": 1e999}"#)),
        ((200, r#"{"transactions": true}"#), (200, &*deep)),
        ((500, &*page), FAILED),
        // Another payment's reply, which names neither reference nor amount.
        ((200, PAID), FAILED),
    ];
    each("unclear replies", |adapter, folder| {
        for (number, (lookup, payment)) in replies.iter().enumerate() {
            let service = Service::new(*lookup, *payment);
            let order = format!("order-{number}");
            let claim = run(adapter, folder, folder, &service.address, &order, Some(2));
            assert_eq!(claim.as_deref(), Some("unknown"), "{:?}: {number}", adapter.language);
            assert!(service.requests()[0].contains("/transaction/lookup/"), "{:?}: {number}", adapter.language);
        }
    });
}

/// A parser takes the last one, which need not be the right one. Those of Node and PHP hide that there are two.
#[test]
fn a_reply_with_a_member_twice_is_unclear() {
    let twice = PAID.replacen('{', "{\"transactionStatusCode\": \"901\", ", 1);
    let listed = format!("{{\"transactions\": {{\"0\": {twice}}}}}");
    each("a member twice", |adapter, folder| {
        if matches!(adapter.language, Language::Node | Language::Php) {
            return;
        }
        for (order, lookup, payment) in [("reply", NOTHING, &*twice), ("lookup", &*listed, "failed")] {
            let service = Service::new((200, lookup), (200, payment));
            let claim = run(adapter, folder, folder, &service.address, order, (order == "lookup").then_some(2));
            assert_eq!(claim.as_deref(), Some("unknown"), "{:?}: {order}", adapter.language);
        }
    });
}

#[test]
fn an_order_with_any_name_is_kept_in_the_folder_before_it_is_paid() {
    each("names of orders", |adapter, folder| {
        let service = Service::new((200, NOTHING), (200, PAID));
        let kept = tempfile::tempdir().expect("it works");
        let pay = |kept: &Path, base: &str| run(adapter, folder, kept, base, "@../2026/17-é", None);
        assert_eq!(pay(kept.path(), &service.address).as_deref(), Some("paid"), "{:?}", adapter.language);
        assert_eq!(fs::read_dir(kept.path()).expect("it works").count(), 1, "{:?}", adapter.language);
        let [paid] = &service.requests()[..] else { panic!("{:?}: {:?}", adapter.language, service.requests()) };
        let form: Vec<_> = form_urlencoded::parse(paid.split_once('\n').expect("a body").1.as_bytes()).collect();
        for (name, value) in [("apiPassword", "password"), ("uniqueMerchantReference", "@../2026/17-é")] {
            assert!(form.contains(&(name.into(), value.into())), "{:?}: {form:?}", adapter.language);
        }
        // Nothing is sent for an order that cannot be kept, nor in clear text to another machine.
        assert_eq!(pay(&kept.path().join("missing"), &service.address), None, "{:?}", adapter.language);
        for clear in ["http://198.51.100.1", "http://127.0.0.1@shop.example"] {
            let elsewhere = tempfile::tempdir().expect("it works");
            assert_eq!(pay(elsewhere.path(), clear), None, "{:?}: {clear}", adapter.language);
            assert_eq!(fs::read_dir(elsewhere.path()).expect("it works").count(), 0, "{:?}: {clear}", adapter.language);
        }
        assert_eq!(service.requests().len(), 1, "{:?}", adapter.language);
        // A reference has at most 128 characters (spec 2 §4.3), and the encoded one would be too long for the name of a file.
        let service = Service::new((200, NOTHING), (200, PAID));
        let long = run(adapter, folder, kept.path(), &service.address, &"é".repeat(128), None);
        assert_eq!(long.as_deref(), Some("paid"), "{:?}", adapter.language);
        assert_eq!(fs::read_dir(kept.path()).expect("it works").count(), 2, "{:?}", adapter.language);
    });
}
