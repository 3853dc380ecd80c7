//! `cargo xtask simulate`: runs many worlds and prints the results.

use std::{
    env,
    io::{IsTerminal as _, Write as _, stderr},
    process::ExitCode,
    time::Instant,
};

use mimalloc::MiMalloc;
use pg_simulation::{Many, Played, Scenario, fleets, many, planted, play};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const USAGE: &str = "usage: pg-simulation [--fleets] [--seeds N] [--seed S] | [--fleets] --planted
  --seeds N  lives the worlds of N seeds, 1,000 if nothing is said
  --seed S   begins with this one; without --seeds it lives this one alone and prints its log
  --fleets   worlds of several workers that share a database, in place of worlds of one process
  --planted  shows for each planted bug which check finds it, and after how many seeds";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut arguments = arguments.iter().map(String::as_str);
    let (mut seeds, mut seed, mut with_planted, mut of_fleets) = (None, None, false, false);
    while let Some(name) = arguments.next() {
        if name == "--planted" || name == "--fleets" {
            *(if name == "--planted" { &mut with_planted } else { &mut of_fleets }) = true;
            continue;
        }
        let number = arguments.next().and_then(|text| text.replace('_', "").parse::<u64>().ok());
        let known = match name {
            "--seeds" => Some(&mut seeds),
            "--seed" => Some(&mut seed),
            _ => None,
        };
        match known.zip(number) {
            Some((place, number)) => *place = Some(number),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    if seeds == Some(0) {
        eprintln!("--seeds 0 would live no world\n{USAGE}");
        return ExitCode::from(2);
    }
    if with_planted {
        return if of_fleets { all_planted_stores() } else { all_planted() };
    }
    match (seed, seeds) {
        (Some(seed), None) => one(if of_fleets { fleets::play } else { play }, seed),
        _ => all(of_fleets, seed.unwrap_or(1), seeds.unwrap_or(1_000)),
    }
}

/// The table of planted bugs of the store that workers share.
fn all_planted_stores() -> ExitCode {
    let mut missed = false;
    println!("| planted bug of the store | found by | after seeds | allowed | of 300 worlds |\n|---|---|---|---|---|");
    for bug in fleets::ALL {
        let first = bug.first(bug.within);
        missed |= first.is_none();
        let seed = first.map_or("NOT FOUND".to_owned(), |played| played.scenario.seed.to_string());
        println!("| {} | {} | {seed} | {} | {} |", bug.name, bug.check, bug.within, bug.count(300));
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The table of planted bugs.
fn all_planted() -> ExitCode {
    let mut missed = false;
    println!("| planted bug | found by | after seeds | allowed | of 300 worlds |\n|---|---|---|---|---|");
    for bug in planted::ALL {
        let first = bug.first(bug.within);
        missed |= first.is_none();
        let seed = first.map_or("NOT FOUND".to_owned(), |played| played.scenario.seed.to_string());
        println!("| {} | {} | {seed} | {} | {} |", bug.name, bug.check, bug.within, bug.count(300));
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// One world with its whole log.
fn one(play: fn(Scenario) -> Played, seed: u64) -> ExitCode {
    let played = play(Scenario::new(seed));
    print!("{}", played.log);
    if played.violation.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[expect(clippy::disallowed_methods, reason = "a person wants to know how much faster than real time it was")]
fn all(of_fleets: bool, first: u64, count: u64) -> ExitCode {
    let begin = Instant::now();
    let on_terminal = stderr().is_terminal();
    let progress = |over: u64| {
        // Prints every tenth in a log; a terminal shows progress more often.
        let step = if on_terminal { (count / 200).max(1) } else { (count / 10).max(1) };
        if over.is_multiple_of(step) {
            let (end, percent) = (if on_terminal { "\r" } else { "\n" }, over * 100 / count);
            let _ = write!(stderr(), "{over} of {count} worlds, {percent} %{end}");
        }
    };
    let Many { seeds, tally, failing } =
        if of_fleets { fleets::many(first, count, &progress) } else { many(first, count, &progress) };
    if on_terminal {
        eprintln!();
    }
    let seconds = begin.elapsed().as_secs_f64();
    let hours = tally.virtual_millis / 3_600_000;
    let ratio = tally.virtual_millis as f64 / 1_000.0 / seconds;
    println!("{seeds} worlds from seed {first} in {seconds:.1} s: {hours} virtual hours, {ratio:.0} times real time,");
    println!("{} requests reached the service, {} crashes", tally.requests, tally.crashes);
    for (claim, times) in &tally.claims {
        println!("  {times:>9}  {claim}");
    }
    let Some(failing) = failing else {
        println!("no check was violated");
        return ExitCode::SUCCESS;
    };
    println!("\n{}\nA check was violated; the smallest world that shows it is {}:\n", failing.log, failing.scenario);
    if let Some(violation) = failing.violation {
        println!("{violation}");
    }
    ExitCode::FAILURE
}
