//! What a token must be for: each kind of request names the scopes of which one is enough.

use hyper::StatusCode;

use zeitnot_wire::lichess::{Scope, UserId};

use super::{
    answer::Answer,
    desk::DeskActor,
    route::{Call, Via},
    society::Social,
};

impl Call {
    /// Any of these is enough; where there are none, any token is.
    pub(super) fn scopes(&self) -> &'static [Scope] {
        match self {
            Call::Account | Call::Playing { .. } | Call::RevokeToken => &[],
            Call::Events => &[Scope::BotPlay, Scope::BoardPlay, Scope::ChallengeRead],
            Call::Challenges | Call::Show(_) => {
                &[Scope::ChallengeRead, Scope::ChallengeWrite, Scope::BotPlay]
            }
            Call::Challenge(..)
            | Call::Accept(..)
            | Call::Decline(..)
            | Call::Cancel(..)
            | Call::Computer(_)
            | Call::Rematch(_)
            | Call::GiveTime(..) => &[Scope::ChallengeWrite, Scope::BotPlay, Scope::BoardPlay],
            Call::JoinArena(..) | Call::LeaveArena(_) => &[Scope::TournamentWrite],
            Call::Bulk(_) => &[Scope::ChallengeBulk],
            Call::Social(Social::Relate(..)) => &[Scope::FollowWrite],
            Call::Social(Social::Following) => &[Scope::FollowRead],
            Call::Social(Social::Write(..) | Social::Thread(_)) => &[Scope::MsgWrite],
            Call::Social(Social::JoinTeam(..) | Social::QuitTeam(_)) => &[Scope::TeamWrite],
            // Whoever has to speak for a game may read its chat.
            Call::ReadChat(_) => &[Scope::BotPlay, Scope::BoardPlay],
            Call::Watch(Via::Board, _) | Call::Play(Via::Board, _, _) => &[Scope::BoardPlay],
            _ => &[Scope::BotPlay],
        }
    }
}

impl DeskActor {
    pub(super) fn check_scope(&self, who: &UserId, scopes: &[Scope]) -> Result<(), Answer> {
        let may = |scope: &Scope| self.people.find(who).is_some_and(|person| person.may(scope));
        match scopes.is_empty() || scopes.iter().any(may) {
            true => Ok(()),
            false => Err(Answer::refused(StatusCode::FORBIDDEN, "Missing scope")),
        }
    }
}
