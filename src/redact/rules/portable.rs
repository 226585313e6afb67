//! Whether a pattern means the same to Rust `regex`, RE2 and Python `re` (with `re.ASCII`).
//!
//! Look-around and back-references need no word here: `regex` refuses them itself.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    AssertionKind, Ast, ClassPerlKind, ClassSetItem, Flag, Flags, FlagsItemKind, GroupKind, HexLiteralKind,
    Literal, LiteralKind, RepetitionKind, RepetitionRange, Visitor, visit,
};

/// RE2's limit on counted repetition.
const MAX_REPEAT: u32 = 1000;

/// What in `pattern` one of the three engines doesn't know or reads otherwise. A pattern that does not parse gives nothing.
pub fn problems(pattern: &str) -> Vec<String> {
    match Parser::new().parse(pattern) {
        Ok(ast) => visit(&ast, Portability { problems: Vec::new() }).unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

struct Portability {
    problems: Vec<String>,
}

impl Portability {
    fn refuse(&mut self, what: &str, instead: &str) {
        self.problems.push(format!("{what} is not portable: {instead}"));
    }

    fn literal(&mut self, literal: &Literal) {
        match literal.kind {
            LiteralKind::Octal => self.refuse("an octal escape", "write \\xHH"),
            LiteralKind::HexFixed(HexLiteralKind::X)
            | LiteralKind::Verbatim
            | LiteralKind::Meta
            | LiteralKind::Superfluous
            | LiteralKind::Special(_) => {}
            LiteralKind::HexFixed(_) | LiteralKind::HexBrace(_) => {
                self.refuse("\\u, \\U or \\x{...}", "write \\xHH or the character");
            }
        }
    }

    fn flags(&mut self, flags: &Flags) {
        for item in &flags.items {
            match item.kind {
                FlagsItemKind::Negation => self.refuse("switching a flag off", "write the classes out"),
                FlagsItemKind::Flag(Flag::CaseInsensitive | Flag::MultiLine | Flag::DotMatchesNewLine) => {}
                FlagsItemKind::Flag(_) => {
                    self.refuse("a flag other than i, m, s", "write the pattern without it")
                }
            }
        }
    }

    fn perl(&mut self, kind: &ClassPerlKind) {
        if *kind == ClassPerlKind::Space {
            self.refuse("\\s", "the engines differ on \\v; list the characters, as in [ \\t]");
        }
    }
}

impl Visitor for Portability {
    type Output = Vec<String>;
    type Err = ();

    fn finish(self) -> Result<Self::Output, ()> {
        Ok(self.problems)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        match ast {
            Ast::Literal(literal) => self.literal(literal),
            Ast::Flags(set) => {
                self.flags(&set.flags);
                if set.span.start.offset != 0 {
                    self.refuse("a flag in the middle", "put it first or scope it: (?i:...)");
                }
            }
            Ast::Group(group) => match &group.kind {
                GroupKind::CaptureName { starts_with_p: false, .. } => {
                    self.refuse("(?<name>...)", "write (?P<name>...)");
                }
                GroupKind::NonCapturing(flags) => self.flags(flags),
                GroupKind::CaptureName { .. } | GroupKind::CaptureIndex(_) => {}
            },
            Ast::Assertion(assertion) => match assertion.kind {
                AssertionKind::StartText | AssertionKind::StartLine => {}
                AssertionKind::EndLine => self.refuse("$", "Python also matches it before a last newline"),
                AssertionKind::EndText => self.refuse("\\z", "Python does not know it"),
                _ => self.refuse("a word boundary", "it hides a token after the n of \\n; see word_start"),
            },
            Ast::ClassUnicode(_) => self.refuse("\\p{...}", "Python does not know it"),
            Ast::ClassPerl(class) => self.perl(&class.kind),
            Ast::Repetition(repetition) => {
                let most = match &repetition.op.kind {
                    RepetitionKind::Range(RepetitionRange::Exactly(n) | RepetitionRange::AtLeast(n)) => *n,
                    RepetitionKind::Range(RepetitionRange::Bounded(_, n)) => *n,
                    RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => 0,
                };
                if most > MAX_REPEAT {
                    self.refuse("a repetition over 1000", "RE2 refuses it");
                }
            }
            Ast::Empty(_) | Ast::Dot(_) | Ast::ClassBracketed(_) | Ast::Alternation(_) | Ast::Concat(_) => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), ()> {
        match item {
            ClassSetItem::Literal(literal) => self.literal(literal),
            ClassSetItem::Range(range) => {
                self.literal(&range.start);
                self.literal(&range.end);
            }
            ClassSetItem::Ascii(_) => self.refuse("[:name:]", "Python does not know it"),
            ClassSetItem::Unicode(_) => self.refuse("\\p{...}", "Python does not know it"),
            ClassSetItem::Perl(class) => self.perl(&class.kind),
            ClassSetItem::Bracketed(_) => self.refuse("a class in a class", "list the characters"),
            ClassSetItem::Empty(_) | ClassSetItem::Union(_) => {}
        }
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &regex_syntax::ast::ClassSetBinaryOp) -> Result<(), ()> {
        self.refuse("&&, -- or ~~ in a class", "list the characters");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::problems;

    #[test]
    fn tells_portable_patterns_from_others() {
        for good in
            ["ab_[0-9A-Za-z_-]{20,}", "(?i)bearer[ \\t]+(?P<t>\\w+)", "\\Aa|^b", "(?:a|b)\\.\\x41", "(?i:a)b"]
        {
            assert_eq!(problems(good), Vec::<String>::new(), "{good}");
        }
        for bad in [
            "a$",
            "a\\z",
            "\\bkey",
            "\\Bkey",
            "a\\s",
            "[\\s]",
            "(?<n>a)",
            "\\p{L}",
            "[\\pL]",
            "[[:alpha:]]",
            "[a[b]]",
            "[a-z&&b]",
            "\\x{41}",
            "\\u0041",
            "a(?i)b",
            "(?-i:a)",
            "(?x)a",
            "(?U)a+",
            "a{1001}",
            "a{1001,}",
        ] {
            assert_ne!(problems(bad), Vec::<String>::new(), "{bad}");
        }
    }
}
