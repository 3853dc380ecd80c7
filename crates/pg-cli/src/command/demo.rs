//! `pg demo`: a sandbox inside this process, and a tour of all its services over real loopback HTTP.

mod tour;

use std::net::SocketAddr;

use pg_sandbox::{Config, Server, Settings, StoreChoice};

use super::{interrupt::Interrupted, walkthrough::report::Report};
use crate::{
    failure::{Exit, Failure},
    listen_address, output, shell,
};

/// Tours the whole service over HTTP, with its own sandbox
///
/// Shows payments, failures, the account updater with its callback, 3-D Secure and the hosted checkout. Each step
/// prints the request, masked, and the reply. The exit code is 0 only if every step went as expected.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg demo
  pg demo --json | jq '.steps[] | {chapter, title, ok}'
  pg demo --keep                       keeps the sandbox's records; pg sandbox --store shows them")]
pub(crate) struct Arguments {
    /// The address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = listen_address::parse)]
    listen: SocketAddr,
    /// Keeps the temporary folder with the sandbox's records
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    let mut folder = tempfile::Builder::new();
    let folder = folder.prefix("pg-demo-");
    // A minimal container has no folder for temporary files.
    let folder = folder
        .tempdir()
        .or_else(|_| folder.tempdir_in("."))
        .map_err(|error| Failure::misuse(format!("cannot create a temporary folder: {error}")))?;
    let store = folder.path().join("sandbox.sqlite");
    let settings = Settings::default();
    let merchants = settings.merchants.clone();
    let merchant = merchants.by_name("main").ok_or_else(|| Failure::misuse("the sandbox has no merchant main"))?;
    let config = Config::default().listen(arguments.listen).store(StoreChoice::File(store.clone())).settings(settings);
    let ok = super::block_on(async {
        let interrupted = Interrupted::listen()?;
        let server = Server::start(config).await.map_err(|error| super::sandbox::failure(&error))?;
        let base = listen_address::from_here(&server.base_url(), server.address());
        let mut report = Report::new(json, "A tour of the service, from the card form to the hosted checkout", base);
        let walked = tokio::select! {
            walked = tour::walk(&server, merchant, &mut report) => walked,
            () = interrupted.wait() => Err(Failure::new(Exit::Unknown, "interrupted: the tour is incomplete")),
        };
        let closed = server.shutdown().await;
        walked?;
        closed.map_err(|error| super::sandbox::unclosed(&error, &store))?;
        report.finish(None)
    });
    if arguments.keep {
        let path = shell::word(&store.display().to_string());
        output::say(&format!("pg: the records are kept: pg sandbox --store {path}"));
        drop(folder.keep());
    }
    Ok(if ok? { Exit::Done } else { Exit::Refused })
}
