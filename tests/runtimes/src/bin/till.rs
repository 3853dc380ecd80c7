//! The program of `docs/guide/custom-runtime.md`. A test compares the two.
#![expect(clippy::disallowed_methods, reason = "a driver is where time and randomness come in, and where it waits")]

use std::{
    env,
    error::Error,
    fs::{self, File},
    io::{self, Write},
    thread,
    time::{Duration, SystemTime},
};

use pg_proto::{
    Account, BaseUrl, Credentials,
    bytes::Bytes,
    http::{Request, Response},
    machine::{
        Action, Event, Failure, Machine, Moment, SavedState,
        charge::{Charge, ChargeBounds, ChargeOutcome},
    },
    model::{Auth, CardDetails, Currency, Dialect, Item, Order},
};
use ureq::Agent;

fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| env::var(name).map_err(|_| format!("{name} is not set"));
    let base = BaseUrl::parse(&variable("PG_BASE_URL")?)?;
    if !base.is_private() {
        return Err("neither https nor this machine: card data must not travel there".into());
    }
    let credentials = Credentials::new(variable("PG_API_KEY")?, variable("PG_API_PASSWORD")?, variable("PG_SHA_KEY")?);
    let mut account = Account::new(base, credentials);
    // What the documents leave open. Without the file, a decline is an unknown outcome.
    if let Some(file) = env::var_os("PG_DIALECT") {
        let text = fs::read_to_string(&file).map_err(|error| format!("PG_DIALECT: {}: {error}", file.display()))?;
        account = account.with_dialect(Dialect::from_toml(&text)?);
    }
    let reference = env::args().nth(1).ok_or("which order?")?;
    let (machine_file, outcome_file) = (format!("{reference}.json"), format!("{reference}.txt"));

    // If it has ended, its outcome is final and the machine is not resumed; an unknown outcome is only looked up.
    let noted = read(&outcome_file)?;
    if let Some(outcome) = noted.as_ref().filter(|outcome| !outcome.starts_with(UNKNOWN)) {
        println!("{outcome}");
        return Ok(());
    }
    // A test card of the sandbox. A real shop never sees the card: it pays with AuthSessionKey.
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference(reference);
    let payment = Auth::new(CardDetails::new("4000000000001000", "12", "49"), order);
    let payment = Some(payment).filter(|_| noted.is_none());

    // Continue a charge that an earlier process began.
    let mut charge = match (read(&machine_file)?, payment) {
        (Some(text), payment) => Charge::resume(&SavedState::from_text(text), account, payment)?,
        (None, Some(payment)) => Charge::new(account, payment, ChargeBounds::default())?,
        (None, None) => return Err("the outcome is unknown, and the machine's file is gone".into()),
    };

    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(60)))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_idle_connections(0)
        .proxy(None)
        .build()
        .into();
    let mut event = Event::Begin;
    let charged = loop {
        event = match charge.step(event, now(), random()) {
            Action::Send(request) => match store(&machine_file, charge.save().text()) {
                Ok(()) => send(&agent, request).map_or_else(Event::Failed, Event::Reply),
                Err(_) => Event::Failed(Failure::HeldBack),
            },
            Action::WaitUntil(moment) => {
                thread::sleep(moment.since(now()));
                Event::Woken
            }
            Action::Ask(never) => match never {},
            Action::Done(charged) => break charged,
        };
    };
    let outcome = match charged {
        ChargeOutcome::Approved(paid) => format!("paid: {}", paid.transaction_key),
        ChargeOutcome::Unknown { why, .. } => format!("{UNKNOWN}, run this again later: {why}"),
        other => format!("not paid: {other:?}"),
    };
    // First the outcome is on the disk, then the machine may go.
    store(&outcome_file, &outcome)?;
    if !outcome.starts_with(UNKNOWN) {
        let _ = fs::remove_file(machine_file);
    }
    println!("{outcome}");
    Ok(())
}

const UNKNOWN: &str = "unknown";

/// The store: writes and syncs a new file, renames it, and syncs the folder, so that the file is always complete.
fn store(file: &str, text: &str) -> io::Result<()> {
    let beside = format!("{file}.new");
    let mut new = File::create(&beside)?;
    new.write_all(text.as_bytes())?;
    new.sync_all()?;
    fs::rename(beside, file)?;
    File::open(".")?.sync_all()
}

/// What was stored. A file that cannot be read is an error: it may contain a payment.
fn read(file: &str) -> io::Result<Option<String>> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

/// The transport: an error counts as not sent only when that is certain.
fn send(agent: &Agent, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    let (head, body) = request.into_parts();
    let reply = agent.run(Request::from_parts(head, &body[..])).map_err(|error| match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => Failure::NotSent,
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => Failure::NotSent,
        _ => Failure::MaybeSent,
    })?;
    let (head, mut body) = reply.into_parts();
    let body = body.with_config().limit(1 << 20).read_to_vec().map_err(|_| Failure::MaybeSent)?;
    Ok(Response::from_parts(head, body.into()))
}

/// The clock: the wall's, since the machine may outlive this process.
fn now() -> Moment {
    Moment::default().after(SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default())
}

/// Random numbers: they spread the pauses of machines that failed together. Any number keeps every promise.
fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}
