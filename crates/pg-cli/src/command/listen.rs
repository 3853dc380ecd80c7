//! `pg listen`: takes callbacks and returning customers, decodes what they bring, and finds out whether it is true.

mod addresses;
mod confirm;
mod event;

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use pg_hyper::{Receiver, proto::BaseUrl};

use self::{addresses::Addresses, confirm::Confirming};
use crate::{
    account::{AccountFlags, Details},
    command::{self, interrupt::Interrupted},
    failure::Failure,
    indented::indented,
    output::{self, Exit},
};

/// Receives callbacks and redirects, decodes them and confirms them, until it is interrupted
///
/// Nothing that comes in is signed, so nothing of it is believed: of a batch the result is fetched, of a payment its state
/// is looked up, and what the card form brings is decrypted and marked as unauthenticated. Each address ends in a token that
/// nobody can guess. It speaks plain HTTP: a proxy with a certificate belongs before it where the service is elsewhere.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg listen                                                     on port 8490 of this machine
  pg listen --bind 0.0.0.0 --public-url https://shop.example/pg
  pg listen --token 0123456789abcdef0123456789abcdef            the addresses of an earlier run
  pg listen --json | jq .confirmed

An end by Ctrl-C is exit code 0.")]
pub(crate) struct Arguments {
    /// The port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8490)]
    port: u16,
    /// The address of this machine that it listens at
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// What its addresses begin with for the service and for browsers
    #[arg(long, value_name = "URL", value_parser = |text: &str| BaseUrl::parse(text).map_err(|error| error.to_string()))]
    public_url: Option<BaseUrl>,
    /// 32 hexadecimal digits that all addresses are made of: an earlier run has told them
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Gives up on a request that confirms something after so long
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    #[command(flatten)]
    account: AccountFlags,
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let details = Details::gather(arguments.account)?;
    let confirming = Confirming::new(&details, Duration::from_secs(arguments.timeout));
    let address = SocketAddr::new(arguments.bind, arguments.port);
    crate::open_files::allow_many();
    command::runtime()?.block_on(async {
        let interrupted = Interrupted::listen()?;
        let cannot =
            |error| Failure::misuse(format!("cannot listen on {address}: {error}; choose another with --bind, --port"));
        let mut receiver = Receiver::bind(address).await.map_err(cannot)?;
        if let Some(public_url) = &arguments.public_url {
            receiver = receiver.public_url(public_url);
        }
        if arguments.bind.is_unspecified() && arguments.public_url.is_none() {
            output::warn("nobody can call these addresses: put a name of this machine into them, or give --public-url");
        }
        let addresses = Addresses::open(&receiver, arguments.token.as_deref())?;
        addresses.tell(json)?;
        confirming.tell();
        tokio::select! {
            () = interrupted.wait() => {
                output::say("pg: stopping");
                Ok(Exit::Done)
            }
            ended = listen(&mut receiver, &addresses, &confirming, json) => ended.map(|()| Exit::Done),
        }
    })
}

/// One after the other: what comes in faster than it can be confirmed waits, and beyond 256 is told to come again. So is a
/// callback that was not confirmed and shown within five seconds, though it will be.
async fn listen(
    receiver: &mut Receiver,
    addresses: &Addresses,
    confirming: &Confirming,
    json: bool,
) -> Result<(), Failure> {
    while let Some(received) = receiver.next().await {
        let event = confirming.find_out(addresses.name(&received.token), received.notification).await;
        let text = if json {
            output::to_json(&event)?
        } else {
            let record = event.record().map_or_else(String::new, |record| {
                format!("\n{}", indented(&pg_model::json::escape_invisible(record)))
            });
            event.headline() + &record
        };
        // It was taken, and does not come again.
        output::news(&text).inspect_err(|_| output::say(&format!("pg: not handed over: {}", event.headline())))?;
    }
    Err(Failure::new(Exit::NotReachable, "the system takes no connections any more"))
}
