//! How fast the sandbox is: durable payments beside a server that answers a fixed body, few records beside a million,
//! few connections beside a thousand, its start and its memory.

mod alone;
mod durable;
mod fixed_body;
mod growth;
mod load;
mod many;
mod payment;
mod process;
mod threads;

/// As in the command `pg`. The floor has it too.
#[global_allocator]
static ALLOCATOR: zeroizing_alloc::ZeroAlloc<mimalloc::MiMalloc> = zeroizing_alloc::ZeroAlloc(mimalloc::MiMalloc);

fn main() {
    if process::is_the_process() {
        return process::serve();
    }
    if alone::is_wanted() {
        return alone::run();
    }
    // `cargo bench -p pg-sandbox -- durable threads` measures these two alone.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let parts: [(&str, fn()); 6] = [
        ("start", process::measure),
        ("durable", durable::measure),
        ("threads", threads::measure),
        ("many", many::measure),
        ("memory", many::measure_memory),
        ("growth", growth::measure),
    ];
    for (_, measure) in parts.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name))
    {
        measure();
    }
}
