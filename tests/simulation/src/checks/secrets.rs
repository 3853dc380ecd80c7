//! No log, record of the store or journal contains a card number, security code, password or key; saved states and
//! `Debug` outputs are checked where they are made. Session keys are only searched for in logs, saved states and
//! `Debug` outputs: the sandbox stores sessions under them, and shows them in its journal on purpose.

use http::Request;

use crate::world::World;

pub(crate) fn after_each(world: &mut World<'_>) -> Result<(), String> {
    world.service.store.leak().map_or(Ok(()), Err)
}

pub(crate) fn at_the_end(world: &mut World<'_>) -> Result<(), String> {
    if let Some(secret) = world.secrets.found_in(world.log.text()) {
        return Err(format!("{secret} in the log"));
    }
    let request = Request::get("/_sandbox/requests?limit=1000").body(bytes::Bytes::new());
    let journal = world.service.serve_at_once(world.now, request.map_err(|error| error.to_string())?);
    if let Some(secret) = world.secrets.found_in_journal(&String::from_utf8_lossy(journal.body())) {
        return Err(format!("{secret} in the journal"));
    }
    Ok(())
}
