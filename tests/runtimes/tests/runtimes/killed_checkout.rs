//! A checkout that is kept in a file, killed with SIGKILL after every one of its steps. The customer pays as soon as there
//! is an address, also before the kill.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use pg_runtimes::driving::now;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::place::Place;

const PROGRAM: &str = env!("CARGO_BIN_EXE_checkout_in_a_file");

/// More steps than a checkout has; reaching it means that it does not end.
const MOST_STEPS: usize = 40;

/// A cart, its customer and their payment.
struct Cart<'a> {
    place: &'a Place,
    file: PathBuf,
    paid: Option<String>,
}

impl Cart<'_> {
    /// Runs the program, and kills it after the given number of lines. Returns the lines.
    async fn run(&mut self, lines: usize) -> Vec<String> {
        let mut command = self.place.program(PROGRAM, &self.place.address(), "");
        let mut child = command.arg(&self.file).arg("--step").stdin(Stdio::piped()).spawn().unwrap();
        let mut enter = child.stdin.take().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut made = Vec::new();
        while let Some(line) = out.next_line().await.unwrap() {
            if let Some(url) = line.strip_prefix("page: ")
                && self.paid.is_none()
            {
                self.paid = Some(self.place.pay_on_page(url).await);
            }
            let reports = line.starts_with("page: ");
            made.push(line);
            // After its outcome the program deletes its file.
            if made.len() == lines && !made.last().is_some_and(|line| is_outcome(line)) {
                child.kill().await.unwrap();
                return made;
            }
            let report = self.paid.clone().filter(|_| reports).unwrap_or_default();
            // After the end the program reads nothing.
            let _ = enter.write_all(format!("{report}\n").as_bytes()).await;
        }
        assert!(child.wait().await.unwrap().success(), "after {made:?}");
        made
    }
}

fn is_outcome(line: &str) -> bool {
    line.starts_with("paid: ") || line.starts_with("not paid: ") || line.starts_with("unknown")
}

async fn killed_after_each_step(fault: Option<(&str, &str)>) {
    let place = Place::new().await;
    for lines in 1..MOST_STEPS {
        if let Some((method, kind)) = fault {
            place.fault_of(method, kind).await;
        }
        let file = place.folder.path().join(format!("cart-{lines}.json"));
        let mut cart = Cart { place: &place, file, paid: None };
        let made = cart.run(lines).await;
        let ended = made.iter().any(|line| is_outcome(line));
        let (paid_before, again) = (cart.paid.is_some(), if ended { vec![] } else { cart.run(usize::MAX).await });
        let outcome = made.iter().chain(&again).find(|line| is_outcome(line)).unwrap();
        match &cart.paid {
            Some(key) => assert_eq!(*outcome, format!("paid: {key}"), "after {made:?}, {again:?}"),
            None => assert!(outcome.starts_with("not paid: not opened"), "after {made:?}, {again:?}"),
        }
        assert!(paid_before || !ended, "the customer has paid in a run without a kill: {made:?}");
        place.no_more_faults().await;
        assert!(!cart.file.exists());
        if ended {
            return;
        }
    }
    panic!("it does not end");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_all_goes_well() {
    killed_after_each_step(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_reply_with_the_token_is_lost() {
    killed_after_each_step(Some(("enterprise/gettoken", "drop-reply"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_reply_to_the_lookup_is_lost() {
    killed_after_each_step(Some(("enterprise/transaction_lookup", "drop-reply"))).await;
}

/// Runs the program in steps. It gets what `answer` returns after each line, and its lines are returned.
async fn in_steps(place: &Place, file: &Path, mut answer: impl AsyncFnMut(&str) -> String) -> Vec<String> {
    let mut command = place.program(PROGRAM, &place.address(), "");
    let mut child = command.arg(file).arg("--step").stdin(Stdio::piped()).spawn().unwrap();
    let mut enter = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut made = Vec::new();
    while let Some(line) = out.next_line().await.unwrap() {
        let answered = answer(&line).await;
        made.push(line);
        // After the end the program reads nothing.
        let _ = enter.write_all(format!("{answered}\n").as_bytes()).await;
    }
    assert!(child.wait().await.unwrap().success(), "after {made:?}");
    made
}

/// A cart whose customer has the page, and whose program was killed. Returns its file and the address of the page.
async fn opened(place: &Place) -> (PathBuf, String) {
    let file = place.folder.path().join("cart.json");
    let mut child = place.program(PROGRAM, &place.address(), "").arg(&file).stdin(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = out.next_line().await.unwrap().unwrap();
        if let Some(url) = line.strip_prefix("page: ") {
            child.kill().await.unwrap();
            return (file, url.to_owned());
        }
    }
}

/// No customer gets an address that a crash would forget.
#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_that_cannot_be_stored_opens_no_page() {
    let place = Place::new().await;
    let file = place.folder.path().join("cart.json");
    let made = in_steps(&place, &file, async |line| {
        if line == "decided to ask" {
            // A folder is in the place of the file.
            fs::create_dir(file.with_extension("new")).unwrap();
        }
        String::new()
    });
    let made = made.await;
    assert!(made.last().unwrap().starts_with("not paid: not opened"), "{made:?}");
    assert!(made.iter().all(|line| !line.starts_with("page: ")), "{made:?}");
}

/// The page is open, and its token on the disk: the customer is still heard, and the program does not turn in circles.
#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_checkout_that_cannot_be_stored_hears_its_customer() {
    let place = Place::new().await;
    let (file, page) = opened(&place).await;
    let in_the_place = file.with_extension("new");
    fs::create_dir(&in_the_place).unwrap();
    let mut paid = String::new();
    let made = in_steps(&place, &file, async |line| {
        let Some(url) = line.strip_prefix("page: ") else { return String::new() };
        assert_eq!((url, &*paid), (&*page, ""), "it asks once");
        paid = place.pay_on_page(url).await;
        fs::remove_dir(&in_the_place).unwrap();
        paid.clone()
    });
    let made = made.await;
    assert_eq!(*made.last().unwrap(), format!("paid: {paid}"), "{made:?}");
    assert!(!file.exists());
}

/// The only callback may arrive when the page can no longer be paid, or after the outcome was unknown.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_heard_while_the_checkout_waits() {
    for has_ended in [false, true] {
        let place = Place::new().await;
        let (file, page) = opened(&place).await;
        let paid = place.pay_on_page(&page).await;
        // The customer's time is over, and late reports have 20 minutes.
        let linger = now().after(Duration::from_secs(20 * 60)).millis();
        let mut saved = fs::read_to_string(&file).unwrap();
        for (before, after) in [
            (r#""phase":"Waiting""#, r#""phase":"Lingering""#),
            (r#""cancelled":false"#, r#""cancelled":true"#),
            (r#""linger":0"#, &format!(r#""linger":{linger}"#)),
        ] {
            assert!(saved.contains(before), "{saved}");
            saved = saved.replace(before, after);
        }
        fs::write(&file, saved).unwrap();
        if has_ended {
            fs::write(file.with_extension("unknown"), "").unwrap();
        }
        let mut told = false;
        let made = in_steps(&place, &file, async |line| {
            let tells = line == "waiting" && !std::mem::replace(&mut told, true);
            if tells { paid.clone() } else { String::new() }
        });
        let made = made.await;
        assert_eq!(*made.last().unwrap(), format!("paid: {paid}"), "{has_ended}: {made:?}");
        assert!(!file.exists() && !file.with_extension("unknown").exists());
    }
}

/// The customer of a cart whose outcome is unknown may have paid.
#[tokio::test(flavor = "multi_thread")]
async fn a_cart_of_unknown_outcome_whose_file_is_gone_gets_no_second_page() {
    let place = Place::new().await;
    let file = place.folder.path().join("cart.json");
    fs::write(file.with_extension("unknown"), "").unwrap();
    let ended = place.program(PROGRAM, &place.address(), "").arg(&file).output().await.unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success() && said.contains("cart.json"), "{said}");
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "");
}
