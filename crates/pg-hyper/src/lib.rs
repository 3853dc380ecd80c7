//! Thin hyper transports for the card payment service.
