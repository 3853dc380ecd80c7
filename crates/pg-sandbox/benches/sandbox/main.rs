//! How fast the sandbox is: durable payments beside a server that answers a fixed body, few records beside a million,
//! its start and its memory.

mod alone;
mod durable;
mod fixed_body;
mod growth;
mod load;
mod payment;
mod process;

fn main() {
    if process::is_the_process() {
        return process::serve();
    }
    if alone::is_wanted() {
        return alone::run();
    }
    process::measure();
    durable::measure();
    growth::measure();
}
