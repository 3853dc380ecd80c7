//! `pg listen`: receives callbacks and returning customers, decodes what they bring, confirms it, and forwards callbacks.

mod addresses;
mod confirm;
mod event;
mod forward;
mod registered;

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use pg_hyper::{Receiver, ReceiverLimits, proto::BaseUrl};
use tokio::{net::TcpListener, sync::mpsc};

use self::{
    addresses::Addresses,
    confirm::{Claim, Confirming},
    event::Event,
    forward::{Forwarding, Target},
    registered::Registered,
};
use crate::{
    account::{AccountFlags, Details},
    command::{self, interrupt::Interrupted},
    control::{Control, SandboxFlags},
    failure::{Exit, Failure},
    indented::indented,
    output,
    transport::transport,
};

/// Receives callbacks and redirects, confirms them, and forwards callbacks to your shop
///
/// Callbacks are unsigned, so each is confirmed: a batch by retrieving its result, a payment by looking it up. Data of
/// the card form is decrypted and marked as unauthenticated. Each address ends in a token that cannot be guessed. Pass
/// the address as the callback URL of a request, or use --register: a running sandbox then sends its callbacks here,
/// whatever URL a request names, and resends callbacks that are not acknowledged. With --forward-to, each callback is
/// forwarded with its headers and body, and the service gets the status that your shop returned, so a failed forward is
/// not acknowledged. Runs until it is interrupted. Accepts plain HTTP only: if the service is on another machine, put a
/// proxy with a certificate in front.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg listen                                                     on port 8490 of this machine
  pg listen --bind 0.0.0.0 --public-url https://shop.example/pg
  pg listen --token 0123456789abcdef0123456789abcdef            the URLs of an earlier run
  pg listen --forward-to http://localhost:8000/callbacks        your shop gets each callback
  pg listen --register --forward-to http://localhost:8000/callbacks
  pg listen --json | jq .confirmed

Ctrl-C ends the command with exit code 0.")]
pub(crate) struct Arguments {
    /// The port; 0 picks a free port
    #[arg(long, value_name = "PORT", default_value_t = 8490)]
    port: u16,
    /// The address of this machine to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// The public address with which all URLs begin, for the service and for browsers
    #[arg(long, value_name = "URL", value_parser = |text: &str| BaseUrl::parse(text).map_err(|error| error.to_string()))]
    public_url: Option<BaseUrl>,
    /// 32 hexadecimal digits from which all URLs are derived; an earlier run printed them
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Forwards each callback to this address; the service gets the status that the address returns
    #[arg(long, value_name = "URL", value_parser = Target::parse)]
    forward_to: Option<Target>,
    /// Registers the callback URLs for an account of a running sandbox (default: main) until this command ends, or
    /// another one registers
    #[arg(
        long,
        value_name = "ACCOUNT",
        num_args = 0..=1,
        default_missing_value = "main",
        value_parser = crate::account::name()
    )]
    register: Option<String>,
    /// How many times the sandbox resends a callback that is not acknowledged; with --register only
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=9), requires = "register")]
    retries: u32,
    #[command(flatten)]
    at: SandboxFlags,
    /// Time limit of each confirming request
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    #[command(flatten)]
    account: AccountFlags,
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let details = Details::gather(arguments.account)?;
    let confirming = Confirming::new(&details, Duration::from_secs(arguments.timeout));
    let address = SocketAddr::new(arguments.bind, arguments.port);
    let registered = match arguments.register {
        Some(account) => Some(Registered::new(Control::new(&arguments.at)?, account, arguments.retries)),
        None => None,
    };
    crate::open_files::allow_many();
    command::block_on(async {
        let mut interrupted = Interrupted::listen()?;
        if arguments.bind.is_unspecified() && arguments.public_url.is_none() {
            output::warn(
                "these addresses contain 0.0.0.0: replace it with the name of this machine, or set --public-url",
            );
        }
        let public = arguments.public_url.as_ref();
        let token = arguments.token.as_deref();
        let place = Place { address, public, token, registered: registered.as_ref() };
        let watching = async {
            if let Some(registered) = &registered {
                registered.watch(registered::pause).await;
            }
            std::future::pending().await
        };
        let receiving = async {
            match arguments.forward_to {
                Some(target) => forward(&place, target, &confirming, json, &mut interrupted).await,
                None => tokio::select! {
                    () = interrupted.next() => Ok(()),
                    ended = receive(&place, &confirming, json) => ended,
                },
            }
        };
        let ended = tokio::select! {
            ended = receiving => ended,
            () = watching => Ok(()),
        };
        if ended.is_ok() {
            output::say("pg: stopping");
        }
        if let Some(registered) = &registered {
            registered.remove().await;
        }
        ended.map(|()| Exit::Done)
    })
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    Failure::misuse(format!("cannot listen on {address}: {error}; choose another with --bind, --port"))
}

/// Why an event was not confirmed.
const STOPPED: &str = "pg listen was stopped";

/// The listening address, and the base and token of its URLs.
struct Place<'a> {
    address: SocketAddr,
    public: Option<&'a BaseUrl>,
    token: Option<&'a str>,
    /// The sandbox at which the addresses are registered.
    registered: Option<&'a Registered>,
}

impl Place<'_> {
    /// Prints the addresses, and registers those for callbacks at the sandbox.
    async fn tell(&self, addresses: &Addresses, json: bool) -> Result<(), Failure> {
        if let Some(registered) = self.registered {
            registered.set(addresses).await?;
        }
        addresses.tell(json)
    }
}

/// Receives callbacks and returning customers.
async fn receive(place: &Place<'_>, confirming: &Confirming, json: bool) -> Result<(), Failure> {
    let address = place.address;
    let mut receiver = Receiver::bind(address).await.map_err(|error| cannot_listen(address, &error))?;
    if let Some(public_url) = place.public {
        receiver = receiver.public_url(public_url);
    }
    let addresses = Addresses::open(&receiver, place.token, false)?;
    place.tell(&addresses, json).await?;
    confirming.tell();
    listen(&mut receiver, &addresses, confirming, json).await
}

/// Receives callbacks and hands them on until it is interrupted. What the shop has acknowledged by then is shown, without confirmation.
async fn forward(
    place: &Place<'_>,
    target: Target,
    confirming: &Confirming,
    json: bool,
    interrupted: &mut Interrupted,
) -> Result<(), Failure> {
    let opened = tokio::select! {
        () = interrupted.next() => return Ok(()),
        opened = open_forwarding(place, target, json) => opened,
    };
    let (forwarding, mut arriving) = opened?;
    confirming.tell();
    let showing = async {
        while let Some(claim) = first(interrupted, arriving.recv()).await.flatten() {
            let Some(event) = first(interrupted, confirming.confirm(claim.clone())).await else {
                show(&claim.unconfirmed(STOPPED), json)?;
                break;
            };
            show(&event, json)?;
        }
        Ok(())
    };
    let ended = tokio::select! {
        () = forwarding.serve() => Ok(()),
        shown = showing => shown,
    };
    arriving.close();
    while let Some(claim) = arriving.recv().await {
        show(&claim.unconfirmed(STOPPED), json)?;
    }
    ended
}

/// Returns the result, or `None` after an interruption.
async fn first<T>(interrupted: &mut Interrupted, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        () = interrupted.next() => None,
        done = work => Some(done),
    }
}

async fn open_forwarding(
    place: &Place<'_>,
    target: Target,
    json: bool,
) -> Result<(Forwarding, mpsc::Receiver<Claim>), Failure> {
    let address = place.address;
    let http = transport(forward::DEADLINE)?;
    let listener = TcpListener::bind(address).await.map_err(|error| cannot_listen(address, &error))?;
    let local = Forwarding::address(&listener).map_err(|error| cannot_listen(address, &error))?;
    let base = match place.public {
        Some(base) => base.clone(),
        None => BaseUrl::parse(&format!("http://{local}")).map_err(|error| Failure::misuse(error.to_string()))?,
    };
    // This receiver opens no port: only its URLs are used, and requests go to this program's own server.
    let addresses = Addresses::open(&Receiver::nested(&base, ReceiverLimits::default()), place.token, true)?;
    place.tell(&addresses, json).await?;
    Ok(Forwarding::new(listener, target, addresses.names(), http))
}

/// Handles one notification after the other. Up to 256 notifications wait; further ones are refused with 503. A
/// callback that is not confirmed and shown within five seconds is refused too, but it is still shown.
async fn listen(
    receiver: &mut Receiver,
    addresses: &Addresses,
    confirming: &Confirming,
    json: bool,
) -> Result<(), Failure> {
    while let Some(received) = receiver.next().await {
        show(&confirming.find_out(addresses.name(&received.token), received.notification).await, json)?;
        received.receipt.acknowledge();
    }
    Ok(())
}

fn show(event: &Event, json: bool) -> Result<(), Failure> {
    let text = if json {
        output::to_json(event)?
    } else {
        let record = event
            .record()
            .map_or_else(String::new, |record| format!("\n{}", indented(&pg_model::json::escape_invisible(record))));
        event.headline() + &record
    };
    // A callback that was forwarded is acknowledged as the shop did, so the service may not send it again.
    output::news(&text).inspect_err(|_| output::say(&format!("pg: not printed: {}", event.headline())))
}
