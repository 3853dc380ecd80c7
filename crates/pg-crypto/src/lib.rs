//! Request signing and session-data encryption of the card payment service.
