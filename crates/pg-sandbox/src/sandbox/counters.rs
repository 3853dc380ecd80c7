//! The counters of the process, which are answered without the store.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};

use super::events;
use crate::{
    basis::Basis,
    metrics::Metrics,
    route::Route,
    service::{self, Answer},
    settings::Settings,
    timestamp::Timestamp,
};

/// Answers calls for the counters, on any thread.
#[derive(Clone)]
pub(crate) struct Counters {
    pub(super) settings: Arc<Settings>,
    pub(super) metrics: Arc<Metrics>,
}

impl Counters {
    /// Answers a GET or HEAD of the counters, and counts and logs it as every call of the control interface.
    pub(crate) fn answer(&self, real_now: Timestamp, request: &Request<Bytes>) -> Response<Bytes> {
        let is_head = request.method() == Method::HEAD;
        let answer = Answer::new(service::metrics(&self.settings, &self.metrics, request), Basis::default());
        let response = if is_head { answer.without_body() } else { answer }.into_response();
        self.metrics.request(&Route::of(request.uri().path()), Some(response.status()));
        if let Some(log) = &self.settings.log {
            events::control(log, real_now, request, is_head, response.status());
        }
        response
    }
}
