//! External engines as the factory sees them; `zeitnot-external` has the programs.

use std::sync::Arc;

use zeitnot_rules::{
    Game, GameKind,
    chess::{Chess, VariantPosition},
    minichess::MiniChess,
    tuc::Tuc,
};

use crate::thinker::Thinker;

/// An engine outside this crate.
pub trait ExternalEngine:
    ThinkerFor<Chess> + ThinkerFor<VariantPosition> + ThinkerFor<MiniChess> + ThinkerFor<Tuc> + Send + Sync
{
    /// Name that it gives itself.
    fn title(&self) -> &str;

    /// Everything that its results depend on, as text.
    fn identity(&self) -> String;

    /// Returns whether it can play this game.
    fn plays(&self, game: GameKind, chess960: bool) -> bool;

    /// Kills its processes, for good.
    fn close(&self);
}

/// Makes thinkers that ask an external engine.
pub trait ThinkerFor<G: Game> {
    /// Makes a thinker for one game. Our search, which `make_own` makes, may play where the engine cannot.
    fn thinker(self: Arc<Self>, make_own: MakeOwn<G>) -> Box<dyn Thinker<G>>;
}

/// Makes our own thinker of a game.
pub type MakeOwn<G> = Box<dyn Fn() -> Box<dyn Thinker<G>> + Send>;
