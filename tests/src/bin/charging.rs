//! Charges once with its state in a file, and stops at a chosen place, where a test kills it.
//!
//! ```text
//! charging BASE_URL STATE_FILE REFERENCE PLACE
//! ```
//!
//! It continues from the state file if that exists. Places are counted from 1: before and after each write of the state, before
//! and after each request. At `PLACE` it prints `here` and stops; with 0 it continues to the end, and prints the outcome.

use std::{
    env,
    error::Error,
    fs,
    future::pending,
    io::{Write, stdout},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{ClientBuilder, HyperTransport, Transport, TransportError};
use pg_model::{Auth, CardDetails};
use pg_proto::machine::{SavedState, charge::ChargeOutcome};
use pg_tests::{
    clocks,
    shop::{account_at, order},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [base_url, file, reference, place] = &arguments[..] else { return Err("wrong arguments".into()) };
    let places = Places { last: place.parse()?, passed: Arc::default() };
    let transport = Stopping { hyper: HyperTransport::new(), places: places.clone() };
    let client =
        ClientBuilder::with_transport(account_at(base_url, "main"), transport).clock(clocks::leaping()).build();
    let payment = Auth::new(CardDetails::new("4000000000001000", "12", "49").cv2("123"), order(reference, 499));
    let charging = match fs::read_to_string(file) {
        Ok(saved) => client.resume_charge(&SavedState::from_text(saved), Some(payment))?,
        Err(_) => client.charge(payment)?,
    };
    let file = file.clone();
    let charging = charging.store(move |saved| {
        let (places, file) = (places.clone(), file.clone());
        async move {
            places.pass().await;
            store(Path::new(&file), &saved)?;
            places.pass().await;
            Ok::<_, std::io::Error>(())
        }
    });
    say(&match charging.await {
        ChargeOutcome::Approved(paid) => format!("approved {}", paid.transaction_key),
        other => format!("{other:?}"),
    });
    Ok(())
}

/// Stores the state atomically: syncs a new file, then renames it.
fn store(file: &Path, saved: &SavedState) -> std::io::Result<()> {
    let fresh = file.with_extension("new");
    let mut written = fs::File::create(&fresh)?;
    written.write_all(saved.text().as_bytes())?;
    written.sync_all()?;
    fs::rename(fresh, file)
}

fn say(line: &str) {
    // If this fails, the reader has ended.
    let _ = writeln!(stdout(), "{line}").and_then(|()| stdout().flush());
}

/// Counts the passed places.
#[derive(Clone)]
struct Places {
    last: usize,
    passed: Arc<AtomicUsize>,
}

impl Places {
    async fn pass(&self) {
        if self.passed.fetch_add(1, Ordering::SeqCst) + 1 == self.last {
            say("here");
            pending().await
        }
    }
}

/// Stops before each request, and after its reply.
#[derive(Clone)]
struct Stopping {
    hyper: HyperTransport,
    places: Places,
}

impl Transport for Stopping {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self.places.pass().await;
        let reply = self.hyper.send(request).await;
        self.places.pass().await;
        reply
    }
}
