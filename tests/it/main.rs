//! The one integration binary: bytes into a listening server, bytes out of a recording backend.
