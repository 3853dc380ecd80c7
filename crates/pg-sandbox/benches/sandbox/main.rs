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
    process::measure();
    durable::measure();
    many::measure();
    many::measure_memory();
    growth::measure();
}
