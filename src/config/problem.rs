//! What is wrong with a configuration, and where a value came from.
//!
//! Every step of `config` adds to one list, so that one start reports all mistakes. A problem never quotes a value that
//! may be secret: header values, and whatever was expanded from the environment or a file.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nowhere: it is the built-in default.
    Default,
    /// In a file, or in the text of `--config yaml:` and `--config env:`.
    File {
        /// As the user named it.
        name: Arc<str>,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// In an environment variable.
    Variable(Arc<str>),
    /// On the command line.
    Flag(Arc<str>),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { name, line, column } => write!(f, "{name}:{line}:{column}"),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// One mistake in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub origin: Origin,
    /// The key, `exporters.otlp_grpc.timeout`; empty where the whole document is meant.
    pub key: String,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.origin != Origin::Default {
            write!(f, "{}: ", self.origin)?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// Every mistake that was found, in the order of the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Collects problems while the configuration is read.
#[derive(Debug, Default)]
pub(crate) struct Sink(RefCell<Vec<Problem>>);

impl Sink {
    /// Notes one problem.
    pub(crate) fn add(&self, origin: &Origin, key: impl Into<String>, message: impl Into<String>) {
        let problem = Problem { origin: origin.clone(), key: key.into(), message: message.into() };
        let mut list = self.0.borrow_mut();
        if !list.contains(&problem) {
            list.push(problem);
        }
    }

    /// Whether nothing was noted.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Everything that was noted: in files by line, then the rest as it came.
    pub(crate) fn into_problems(self) -> Problems {
        let mut list = self.0.into_inner();
        list.sort_by_key(|problem| match &problem.origin {
            Origin::File { name, line, column } => (false, Arc::clone(name), *line, *column),
            _ => (true, Arc::from(""), 0, 0),
        });
        Problems(list)
    }
}
