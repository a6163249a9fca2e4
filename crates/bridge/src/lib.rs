//! One warm process for every client.
