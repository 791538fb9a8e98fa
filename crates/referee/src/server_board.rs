//! Board of any game, with the server's part in a game of chance.

use zeitnot_rules::{
    Color, DynGame, GameError, GameKind, GameResult, MoveText, Outcome,
    chess::{Chess, chess960_start},
    tuc::Tuc,
};

use crate::{
    board::{Board, Rewind},
    prizes::Prizes,
};

/// Board of a game whose rules are known at run time. In TUC-Chess it deals the prizes.
#[derive(Debug)]
pub struct ServerBoard {
    game: DynGame,
    /// Positions after each move of TUC-Chess, in which prizes are dealt.
    dealt: Vec<Tuc>,
}

impl ServerBoard {
    /// Sets up a game, from its usual start or this position; `chess960`: as one of Chess960, from a random start.
    ///
    /// # Errors
    /// [`GameError::Position`] with the reason.
    pub fn new(kind: GameKind, chess960: bool, fen: Option<&str>) -> Result<ServerBoard, GameError> {
        let game = match (chess960, fen) {
            (true, Some(fen)) => Chess::parse_chess960(fen)?.into(),
            (true, None) => Chess::parse_chess960(&chess960_start(&mut fastrand::Rng::new()))?.into(),
            (false, fen) => DynGame::begin(kind, fen)?,
        };
        Ok(game.into())
    }

    /// Returns the game so far.
    pub fn game(&self) -> &DynGame {
        &self.game
    }

    /// Returns a new game with the same start.
    pub fn again(&self) -> ServerBoard {
        self.game.again().into()
    }

    /// Draws what the last move brought, and deals a new prize.
    fn deal(&mut self, before: Tuc) {
        let last = self.game.history::<Tuc>().and_then(|history| history.moves().last().copied());
        let Some(mv) = last else { return };
        let (mut now, prizes) = (before.clone(), Prizes::of(before.rules().edition));
        prizes.play(&mut now, mv);
        self.game.amend(now.clone());
        self.dealt.push(now);
    }
}

impl From<DynGame> for ServerBoard {
    /// A board for a game without moves.
    fn from(game: DynGame) -> ServerBoard {
        ServerBoard { game, dealt: Vec::new() }
    }
}

impl Board for ServerBoard {
    fn kind(&self) -> GameKind {
        self.game.kind()
    }

    fn start(&self) -> String {
        self.game.root()
    }

    fn is_own_start(&self) -> bool {
        self.game.own_start().is_some()
    }

    fn turn(&self) -> Color {
        self.game.side_to_move()
    }

    fn ply_count(&self) -> usize {
        self.game.moves().len()
    }

    fn fen(&self) -> String {
        self.game.now()
    }

    fn play(&mut self, text: &str) -> Result<(MoveText, String), GameError> {
        let before = self.game.history::<Tuc>().map(|history| history.now().clone());
        let played = Board::play(&mut self.game, text)?;
        before.into_iter().for_each(|before| self.deal(before));
        Ok(played)
    }

    fn outcome(&self) -> Outcome {
        self.game.outcome()
    }

    fn result_so_far(&self) -> GameResult {
        self.game.result_so_far()
    }

    fn can_win(&self, color: Color) -> bool {
        self.game.can_win(color)
    }
}

impl Rewind for ServerBoard {
    fn rewind(&mut self, plies: usize) {
        self.game.truncate(plies);
        self.dealt.truncate(plies);
        if let Some(position) = self.dealt.last() {
            self.game.amend(position.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chance_brought_stays_after_a_takeback() {
        for _ in 0..20 {
            let mut board = ServerBoard::new(GameKind::Tuc, false, None).unwrap();
            let mut positions = vec![board.game.now()];
            while positions.len() < 30 && !board.outcome().is_over() {
                let moves = board.game.legal_moves();
                let (mv, _) = &moves[fastrand::usize(..moves.len())];
                board.play(mv.as_str()).unwrap();
                positions.push(board.game.now());
            }
            while positions.len() > 1 {
                positions.pop();
                board.rewind(positions.len() - 1);
                assert_eq!(Some(&board.game.now()), positions.last());
            }
            let points = board.game.history::<Tuc>().unwrap().now().points();
            assert!(points.0.iter().all(|points| points % zeitnot_rules::tuc::POINT == 0));
        }
    }

    #[test]
    fn chess960_castles_by_taking_the_rook() {
        let fen = "nrk1bqrn/pppppppp/8/8/8/8/PPPPPPPP/NRK1BQRN w KQkq - 0 1";
        let board = ServerBoard::new(GameKind::Chess, true, Some(fen)).unwrap();
        let castling = board.game.legal_moves().into_iter().find(|(_, san)| san == "O-O-O");
        assert_eq!(castling.unwrap().0.as_str(), "c1b1");
        assert!(ServerBoard::new(GameKind::Chess, true, None).unwrap().game.own_start().is_some());
    }
}
