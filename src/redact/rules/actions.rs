//! What becomes of what a rule set finds: the operator's choice by kind or id, else the rule's own, else the default.

use super::rule::{Confidence, Rule};
use super::set::{NAMED_PAIR_KIND, RuleSet};
use crate::redact::action::{Action, HmacKey};

/// The choices of a rule set. Those for single rules are kept in the rules.
#[derive(Debug, Clone, Default)]
pub(super) struct Actions {
    /// For rules that nothing is said of.
    default: Action,
    /// For the values of secret-named pairs.
    pair: Option<Action>,
    key: Option<HmacKey>,
}

impl RuleSet {
    /// Says what becomes of secrets whose rules nothing else is said of.
    pub fn set_default_action(&mut self, action: Action) {
        self.actions.default = action;
    }

    /// Says what becomes of secrets of these kinds or ids (`secret`: the values of secret-named pairs). An id counts more
    /// than a kind. Returns the names that named nothing.
    pub fn set_actions<'k>(&mut self, chosen: &[(&'k str, Action)]) -> Vec<&'k str> {
        let mut unknown = Vec::new();
        for (name, action) in chosen {
            let mut known = *name == NAMED_PAIR_KIND;
            if known {
                self.actions.pair = Some(*action);
            }
            let by_id = |rule: &Rule| chosen.iter().any(|(id, _)| *rule.id == **id);
            for rule in &mut self.rules {
                if *rule.id == **name || (*rule.kind == **name && !by_id(rule)) {
                    rule.action = Some(*action);
                }
                known |= *rule.kind == **name || *rule.id == **name;
            }
            if !known {
                unknown.push(*name);
            }
        }
        unknown
    }

    /// Says what tags are made with.
    pub fn set_hmac_key(&mut self, key: HmacKey) {
        self.actions.key = Some(key);
    }

    /// What tags are made with.
    pub fn hmac_key(&self) -> Option<&HmacKey> {
        self.actions.key.as_ref()
    }

    /// What becomes of what a rule of this set finds.
    pub fn action_of(&self, rule: &Rule) -> Action {
        rule.action.unwrap_or_else(|| self.default_for(rule.confidence))
    }

    /// What becomes of the values of secret-named pairs.
    pub fn pair_action(&self) -> Action {
        self.actions.pair.unwrap_or_else(|| self.default_for(Confidence::Contextual))
    }

    /// What a name or neighbour gives away may be a password, short or made of words: its end is shown only where the
    /// operator has named the kind.
    fn default_for(&self, confidence: Confidence) -> Action {
        match (self.actions.default, confidence) {
            (Action::KeepLast4, Confidence::Contextual) => Action::Marker,
            (action, _) => action,
        }
    }

    /// A kind that wants tags where there is no key to make them with.
    pub fn lacks_key(&self) -> Option<&str> {
        if self.hmac_key().is_some() {
            return None;
        }
        let pairs = self.named_pairs() && self.pair_action() == Action::Hmac;
        let rule = self.rules().iter().find(|rule| self.action_of(rule) == Action::Hmac);
        rule.map(|rule| &*rule.kind).or_else(|| pairs.then_some(NAMED_PAIR_KIND))
    }
}
