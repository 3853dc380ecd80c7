//! Every sensitive field of every method is given a canary, in requests that succeed and in requests that fail. Then the canaries
//! are looked for wherever something may have been written or shown: never in the clear, and in no other spelling.

mod around;
mod shop;
mod talk;

use std::{collections::BTreeSet, fs, io::Read as _, net::TcpListener, path::Path, process::Command};

use pg_hyper::DurableFile;
use pg_model::{Auth, CardDetails, Currency, Item, METHODS, Order, method::AuthScheme};

use self::{shop::Shop, talk::Talk};
use crate::command::{canary::leaks, peer};

/// Something that was said, and where.
type Said = Vec<(String, Vec<u8>)>;

#[test]
fn no_secret_is_left_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let mut shop = Shop::open(folder.path());
    let mut said = Said::new();
    let mut answered = BTreeSet::new();
    let talk = Talk::default();
    talk.listening(|| {
        for info in METHODS {
            for wrong in [false, true] {
                let given = shop.parameters(info, wrong);
                let path = format!("{}/{}", info.service.name, info.name);
                let what = format!("{path}, {}", if wrong { "failing" } else { "good" });
                if shop.calls(info, &given, &what, &mut said) {
                    answered.insert(path);
                }
                shop.commands(info, &shop.parameters(info, wrong), &what, &mut said);
            }
        }
        charge(&shop, folder.path(), &mut said);
        around::fleets(&shop, folder.path(), &mut said);
    });
    said.push(("tracing at its most talkative".to_owned(), talk.said()));
    // Requests with sensitive data were executed, not only refused.
    for info in METHODS.iter().filter(|info| info.fields.iter().any(|field| field.sensitive)) {
        let path = format!("{}/{}", info.service.name, info.name);
        let by_browser = info.credentials == AuthScheme::Session;
        let errors = || said.iter().filter(|(place, _)| place.starts_with(&format!("error, {path}, good")));
        let why = || errors().map(|(_, text)| String::from_utf8_lossy(text).into_owned()).collect::<String>();
        assert!(by_browser || answered.contains(&path), "{path} was always refused: {}", why());
    }
    let callback = callback(&mut shop);
    said.push(("callback".to_owned(), callback));
    around::listener(&shop, &mut said);
    around::stories(&shop, &mut said);
    pages(&shop, &mut said);
    shop.memory();
    said.extend(shop.end());
    files(folder.path(), &mut said);
    assert!(said.len() > 4 * METHODS.len(), "too little was looked at: {}", said.len());
    let mut found: Vec<_> = said.iter().flat_map(|(place, bytes)| leaks(&shop::canaries(), place, bytes)).collect();
    // The caller gets back the customer that belongs to a token (spec 3 §2.1), and no other caller does.
    found.retain(|((canary, _, place), _)| *canary != "date of birth" || !place.ends_with("enterprise/gettoken, good"));
    println!("{} places, {} bytes", said.len(), said.iter().map(|(_, bytes)| bytes.len()).sum::<usize>());
    assert!(found.is_empty(), "{found:#?}");
}

/// A charge whose states are stored.
fn charge(shop: &Shop, folder: &Path, said: &mut Said) {
    let [number, cv2] = shop::card();
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("stored-1");
    let auth = Auth::new(CardDetails::new(number, "12", "49").cv2(cv2), order);
    let charged = shop.client().charge(auth).unwrap().store_in(DurableFile::new(folder.join("charge.json"))).run();
    said.push(("outcome of a charge".to_owned(), format!("{charged:?} {charged:#?}").into_bytes()));
    assert!(folder.join("charge.json").exists());
}

/// What the updater posts when a batch with one of these cards is finished.
fn callback(shop: &mut Shop) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    shop.batch(&address);
    shop.post("/_sandbox/clock", r#"{"advanceSeconds": 300}"#);
    shop.get("/_sandbox/batches");
    let (mut stream, _) = listener.accept().unwrap();
    peer::read_request(&mut stream).into_bytes()
}

/// Every page and every list, from the first page on.
fn pages(shop: &Shop, said: &mut Said) {
    let lists = [
        "requests",
        "transactions",
        "tokens",
        "sessions",
        "batches",
        "authentications",
        "checkouts",
        "sms",
        "callbacks",
    ];
    let mut found: Vec<String> = lists.iter().map(|list| format!("/_sandbox/{list}?limit=1000")).collect();
    found.push("/_sandbox/".to_owned());
    let mut at = 0;
    while at < found.len() {
        let page = shop.get(&found[at]);
        for link in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let link = link.replace("&amp;", "&").replace("&#38;", "&");
            let other = link.starts_with("/_sandbox/") && !link.contains("assumptions/") && !found.contains(&link);
            if other {
                found.push(link);
            }
        }
        said.push((format!("page {}", found[at]), page.into_bytes()));
        at += 1;
    }
    assert!(found.len() > lists.len() + METHODS.len(), "{found:?}");
}

/// All files below a folder: the store with its log and key, what was stored of the charge, and what was meant to be temporary.
fn files(folder: &Path, said: &mut Said) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // What the secrets come from.
            if !path.ends_with("given") {
                files(&path, said);
            }
        } else {
            said.push((format!("file {}", path.display()), fs::read(&path).unwrap()));
        }
    }
}

/// The standard output of a process until it was stopped.
fn until_stopped(child: &mut std::process::Child) -> Said {
    interrupt(child);
    let mut out = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
    assert!(child.wait().unwrap().success());
    vec![("standard output of pg sandbox".to_owned(), out)]
}

fn interrupt(child: &std::process::Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}
