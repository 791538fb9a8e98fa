//! Offers that need the consent of both players.

use zeitnot_rules::{ByColor, Color};

/// Change of an offer.
#[allow(missing_docs)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OfferChange {
    Made,
    Accepted,
    Declined,
    Withdrawn,
}

#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Offers {
    open: ByColor<bool>,
}

impl Offers {
    pub(crate) fn is_open(self, color: Color) -> bool {
        self.open[color]
    }

    /// Says yes or no: to the opponent's offer, if there is one, or by an offer of one's own.
    pub(crate) fn say(&mut self, color: Color, yes: bool, may_offer: bool) -> Option<OfferChange> {
        match (yes, self.open[!color]) {
            (true, true) => Some(OfferChange::Accepted),
            (true, false) if may_offer && !self.open[color] => {
                self.open[color] = true;
                Some(OfferChange::Made)
            }
            (false, true) => {
                self.open[!color] = false;
                Some(OfferChange::Declined)
            }
            (false, false) if self.open[color] => {
                self.open[color] = false;
                Some(OfferChange::Withdrawn)
            }
            _ => None,
        }
    }

    pub(crate) fn drop(&mut self, color: Color) {
        self.open[color] = false;
    }
}
