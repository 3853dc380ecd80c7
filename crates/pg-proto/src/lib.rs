//! Sans-IO protocol of the card payment service: typed requests to http::Request, http::Response to typed replies.
