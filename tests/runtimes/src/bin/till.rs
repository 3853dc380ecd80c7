//! The program of `docs/custom-runtime.md`; a test holds the two to each other.
#![expect(clippy::disallowed_methods, reason = "a driver is where time comes in, and where it waits")]

use std::{
    env,
    error::Error,
    fs, io, thread,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{Request, Response};
use pg_proto::{
    Account, BaseUrl, Credentials,
    machine::{
        Action, Event, Failure, Machine, Moment, Saved,
        charge::{Bounds, Charge, Charged},
    },
    model::{Auth, CardDetails, Currency, Item, Order},
};
use ureq::Agent;

fn main() -> Result<(), Box<dyn Error>> {
    let account = Account::new(
        BaseUrl::parse(&env::var("PG_BASE_URL")?)?,
        Credentials::new(env::var("PG_API_KEY")?, env::var("PG_API_PASSWORD")?, env::var("PG_SHA_KEY")?),
    );
    let reference = env::args().nth(1).ok_or("which order?")?;
    let file = format!("{reference}.json");

    // A test card of the sandbox. A real shop has the browser post the card to a session, and pays with AuthSessionKey.
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference(reference);
    let payment = Auth::new(CardDetails::new("4000000000001000", "12", "49"), order);

    // Begun before? Then it goes on where it was.
    let mut charge = match fs::read_to_string(&file) {
        Ok(text) => Charge::resume(&Saved::from_text(text), account, Some(payment))?,
        Err(_) => Charge::new(account, payment, Bounds::default())?,
    };

    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(60)))
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .into();
    let mut event = Event::Begin;
    let charged = loop {
        event = match charge.step(event, now(), random()) {
            Action::Send(request) => {
                fs::write(&file, charge.save().text())?;
                send(&agent, request).map_or_else(Event::Failed, Event::Reply)
            }
            Action::WaitUntil(moment) => {
                thread::sleep(moment.since(now()));
                Event::Woken
            }
            Action::Ask(never) => match never {},
            Action::Done(charged) => break charged,
        };
    };
    match charged {
        Charged::Approved(paid) => println!("paid: {}", paid.transaction_key),
        Charged::Unknown { why, .. } => println!("nobody knows, ask again later: {why}"),
        other => println!("not paid: {other:?}"),
    }
    Ok(())
}

/// The transport: what goes wrong is told as not sent only when that is certain.
fn send(agent: &Agent, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    let (head, body) = request.into_parts();
    let reply = agent.run(Request::from_parts(head, &body[..])).map_err(|error| match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => Failure::NotSent,
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => Failure::NotSent,
        _ => Failure::MaybeSent,
    })?;
    let (head, mut body) = reply.into_parts();
    let body = body.read_to_vec().map_err(|_| Failure::MaybeSent)?;
    Ok(Response::from_parts(head, body.into()))
}

/// The clock: the wall's, since the machine may outlive this process.
fn now() -> Moment {
    Moment::default().after(SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default())
}

/// The dice: any number will do. It spreads the pauses of machines that failed together.
fn random() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().subsec_nanos().into()
}
