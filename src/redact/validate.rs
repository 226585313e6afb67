//! Validators: what a candidate's own characters say about it. Checksums confirm and never reject; only a shape rejects.

/// What a validator says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A checksum holds: it is one.
    Confirmed,
    /// Nothing speaks against it.
    Plausible,
    /// It cannot be one.
    Rejected,
}

/// A test of a candidate, as named in rule files.
#[derive(Debug, Clone, PartialEq)]
pub enum Validator {
    /// `jwt`: the header decodes to a JSON object with `alg` or `enc`. Rejects.
    Jwt,
    /// `basic`: base64 that decodes to `user:password`. Rejects.
    Basic,
    /// `entropy: bits`: at least so many bits a byte (Shannon, over the candidate's bytes). Rejects.
    Entropy(f64),
}

impl Validator {
    /// Judges a candidate, in time linear in its length.
    pub fn check(&self, candidate: &[u8]) -> Verdict {
        let _ = candidate;
        Verdict::Plausible
    }
}
