//! The whole card payment service, stateful, on your machine.
