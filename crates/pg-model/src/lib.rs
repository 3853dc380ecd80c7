//! Wire types, validators and code tables of the card payment service; XML and JSON shapes.
