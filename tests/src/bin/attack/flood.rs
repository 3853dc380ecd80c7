//! Thousands of connections that try to deny service to others.

use std::time::Duration;

use tokio::time::sleep;

use crate::{
    Result, Wanted,
    hostile::{Crowd, FOR_RECEIVERS, KINDS, Kind, TLS_KINDS},
    payment,
    row::{Row, Table},
    target::{NESTED, RECEIVER, Target},
};

/// What is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whom {
    Sandbox,
    SecureSandbox,
    Receiver,
    Nested,
}

impl Whom {
    const fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::SecureSandbox => "sandbox over TLS",
            Self::Receiver => "receiver",
            Self::Nested => "receiver within axum",
        }
    }

    fn start(self, wanted: &Wanted) -> Result<Target> {
        match self {
            Self::Sandbox => wanted.program.sandbox(&[], &[]),
            Self::SecureSandbox => wanted.program.secure_sandbox(),
            Self::Receiver => Target::receiver(RECEIVER),
            Self::Nested => Target::receiver(NESTED),
        }
    }

    const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Sandbox => &KINDS,
            Self::SecureSandbox => &TLS_KINDS,
            // They have no large page.
            Self::Receiver | Self::Nested => &FOR_RECEIVERS,
        }
    }

    const fn is_sandbox(self) -> bool {
        matches!(self, Self::Sandbox | Self::SecureSandbox)
    }

    /// The result when it was found.
    const fn before(self, kind: Kind) -> &'static str {
        match (kind, self) {
            (Kind::Idle, Self::Sandbox) => "1,024 of them: 30 s and more",
            (Kind::Idle, Self::Receiver) => "64 of them: 30 s and more",
            (Kind::Body, Self::Sandbox) => "1,000 of them: 1.5 GB",
            (Kind::Body, Self::Nested) => "64 of them: 30 s",
            (Kind::NeverRead | Kind::Pipeline, Self::Sandbox | Self::Receiver) => "they keep their place for minutes",
            _ => "not measured",
        }
    }
}

/// The maximum extra delay of an honest request.
const MOST_DELAY: Duration = Duration::from_millis(100);
/// The most memory, in megabytes.
const MOST_MEMORY: f64 = 100.0;
/// How long the attackers are left to themselves before honest requests are measured.
const SETTLE: Duration = Duration::from_secs(2);

pub(crate) async fn run(wanted: &Wanted, table: &mut Table<'_>) -> Result<()> {
    for whom in [Whom::Sandbox, Whom::SecureSandbox, Whom::Receiver, Whom::Nested] {
        for many in [false, true] {
            for &kind in whom.kinds() {
                let from = if many { "from many addresses" } else { "from one address" };
                let attack = format!("{}: {} {}, {from}", whom.name(), wanted.connections, kind.name());
                if table.wants(&attack) {
                    let targets = [whom.start(wanted)?, whom.start(wanted)?];
                    table.add(attacked(&targets, whom, kind, many, wanted.connections, attack).await?);
                }
            }
        }
    }
    capped(wanted, table).await
}

/// The cap per address, which loopback addresses have only when it is asked for.
async fn capped(wanted: &Wanted, table: &mut Table<'_>) -> Result<()> {
    let attack =
        format!("sandbox: {} idle connections, from one address, at most 256 of an address", wanted.connections);
    if !table.wants(&attack) {
        return Ok(());
    }
    let start = || wanted.program.sandbox(&["--connections-per-address", "256"], &[]);
    let targets = [start()?, start()?];
    table.add(attacked(&targets, Whom::Sandbox, Kind::Idle, false, wanted.connections, attack).await?);
    Ok(())
}

/// Attacks the first of two targets. The other one shows the cost of the attackers' own work on the same machine.
async fn attacked(
    targets: &[Target; 2],
    whom: Whom,
    kind: Kind,
    many: bool,
    connections: usize,
    attack: String,
) -> Result<Row> {
    let [target, beside] = targets;
    let is_sandbox = whom.is_sandbox();
    let quiet = payment::measure(target, is_sandbox).await?.median();
    let quiet_beside = payment::measure(beside, is_sandbox).await?.median();
    let attackers =
        Crowd { kind, to: target.address, many, paths: target.hostile_paths.clone(), is_sandbox, connections }
            .start()?;
    sleep(SETTLE).await;
    let (times, control) =
        tokio::try_join!(payment::measure(target, is_sandbox), payment::measure(beside, is_sandbox))?;
    let memory = target.peak_memory()?;
    drop(attackers);
    let more = |time: Duration, quiet: Duration| time.saturating_sub(quiet).as_secs_f64() * 1e3;
    let kept = times.slowest().saturating_sub(quiet) < MOST_DELAY && memory < MOST_MEMORY;
    let now = format!(
        "{:.1} ms more (slowest {:.1} ms), {memory:.0} MB; at a server beside it {:.1} ms (slowest {:.1} ms)",
        more(times.median(), quiet),
        more(times.slowest(), quiet),
        more(control.median(), quiet_beside),
        more(control.slowest(), quiet_beside),
    );
    Ok(Row { attack, before: whom.before(kind), now, bar: "slowest < 100 ms more, < 100 MB", kept })
}
