//! retrieval
