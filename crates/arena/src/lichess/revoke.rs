//! A token that is revoked: nothing is done for it any more, and what was opened with it closes.

use hyper::StatusCode;

use zeitnot_wire::lichess::UserId;

use super::{
    answer::{Answer, Body, feed},
    desk::{Bearer, DeskActor},
};

impl DeskActor {
    pub(super) fn revoke(&mut self, who: &UserId, bearer: &Bearer) -> Answer {
        if let Bearer::Token(token) = bearer {
            self.people.revoke(token);
        }
        self.cut(who);
        Answer { status: StatusCode::NO_CONTENT, body: Body::Nothing }
    }

    /// Closes all streams of an account. One with a second token opens them again.
    fn cut(&mut self, who: &UserId) {
        if let Some(person) = self.people.find_mut(who) {
            person.stop_listening();
        }
        for game in self.games.passing() {
            if let Some(side) = game.side_of(who) {
                game.part(side);
            }
        }
        for pending in self.pending.passing().filter(|pending| pending.from == *who) {
            if let Some(kept) = &mut pending.kept {
                // Nobody waits there any more, and so the challenge is taken back.
                *kept = feed(Vec::new()).0;
            }
        }
    }
}
