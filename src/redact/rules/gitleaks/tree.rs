//! TOML as a tree whose tables know their lines.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A parsed file.
pub(super) struct Tree<'t> {
    text: &'t str,
    root: Spanned<DeTable<'t>>,
}

/// A table.
#[derive(Clone, Copy)]
pub(super) struct Entries<'t> {
    text: &'t str,
    table: &'t DeTable<'t>,
    start: usize,
}

impl<'t> Tree<'t> {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// The line and what is wrong there.
    pub(super) fn parse(text: &'t str) -> Result<Self, (usize, String)> {
        match DeTable::parse(text) {
            Ok(root) => Ok(Self { text, root }),
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(text, span.start));
                Err((line, format!("not valid TOML: {}", error.message().replace('\n', ", "))))
            }
        }
    }

    pub(super) fn root(&'t self) -> Entries<'t> {
        Entries { text: self.text, table: self.root.get_ref(), start: 0 }
    }
}

impl<'t> Entries<'t> {
    /// Where the table begins.
    pub(super) fn line(&self) -> usize {
        line_of(self.text, self.start)
    }

    /// The keys and their lines, in the order of the file.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&'t str, usize)> + use<'t> {
        let (text, table) = (self.text, self.table);
        let mut keys: Vec<_> = table.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        keys.into_iter().map(move |key| (key.get_ref().as_ref(), line_of(text, key.span().start)))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    pub(super) fn text(&self, key: &str) -> Option<&'t str> {
        self.get(key)?.get_ref().as_str()
    }

    pub(super) fn boolean(&self, key: &str) -> Option<bool> {
        self.get(key)?.get_ref().as_bool()
    }

    pub(super) fn integer(&self, key: &str) -> Option<usize> {
        self.get(key)?.get_ref().as_integer()?.as_str().parse().ok()
    }

    /// A number with or without a fraction.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        let value = self.get(key)?.get_ref();
        let written = value.as_float().map(|n| n.as_str()).or_else(|| value.as_integer().map(|n| n.as_str()));
        written?.parse().ok()
    }

    /// The texts of a list.
    pub(super) fn texts(&self, key: &str) -> Vec<&'t str> {
        let list = self.get(key).and_then(|value| value.get_ref().as_array());
        list.into_iter().flatten().filter_map(|item| item.get_ref().as_str()).collect()
    }

    pub(super) fn table(&self, key: &str) -> Option<Entries<'t>> {
        let value = self.get(key)?;
        self.entries(value)
    }

    /// The tables of a list of tables.
    pub(super) fn tables(&self, key: &str) -> Vec<Entries<'t>> {
        let list = self.get(key).and_then(|value| value.get_ref().as_array());
        list.into_iter().flatten().filter_map(|item| self.entries(item)).collect()
    }

    fn entries(&self, value: &'t Spanned<DeValue<'t>>) -> Option<Entries<'t>> {
        Some(Entries { text: self.text, table: value.get_ref().as_table()?, start: value.span().start })
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}
