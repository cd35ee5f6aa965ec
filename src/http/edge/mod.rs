//! What surrounds the routes: the server and its limits, authentication, the OpenAPI document,
//! metrics and static files.

pub(crate) mod auth;
pub(crate) mod document;
pub(crate) mod endpoint;
pub(crate) mod hosts;
pub(crate) mod metrics;
pub(crate) mod mount;
pub(crate) mod route_table;
pub(crate) mod server;
pub(crate) mod sessions;
pub(crate) mod ui;
pub(crate) mod upload_slots;
