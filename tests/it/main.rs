//! The service from outside: the real application over in-memory adapters, driven through its
//! routes. `routes/` mirrors the sections of the contract.

mod auth;
mod errors;
mod limits;
mod openapi;
mod routes;
mod support;
mod tidy;
