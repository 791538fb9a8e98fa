using System;
using System.Collections.Generic;

/// Your bot. Only this file is yours to change; README.md explains the others.
///
/// Try it: `test`, then `local`, then `client NAME`, as in README.md.
public static class MyBot {
    static readonly Random Chance = new Random();

    /// Chooses a move in a game of chess.
    ///
    /// board: the position; Board.cs shows what it can do.
    /// clock: seconds. clock.Own and clock.Opponent are left for the game, clock.Increment is added after each move. After
    ///     clock.Limit a random move is played instead of yours.
    public static Move ChooseMove(Board board, Clock clock) {
        var best = new Move();
        var bestScore = double.NegativeInfinity;
        foreach (var move in board.LegalMoves()) {
            board.Make(move);
            var score = -BestReply(board) + Chance.NextDouble() / 10; // chance decides between equal moves
            board.Undo();
            if (score > bestScore) {
                best = move;
                bestScore = score;
            }
        }
        return best;
    }

    /// The value of the position for the side to move after its best move.
    static int BestReply(Board board) {
        var moves = board.LegalMoves();
        if (moves.Count == 0) {
            return board.InCheck() ? -1000 : 0; // checkmate or stalemate
        }
        var best = -1000;
        foreach (var move in moves) {
            board.Make(move);
            best = Math.Max(best, board.IsCheckmate() ? 1000 : -Material(board));
            board.Undo();
        }
        return best;
    }

    static readonly Dictionary<char, int> Values = new Dictionary<char, int> {
        { 'p', 1 }, { 'n', 3 }, { 'b', 3 }, { 'r', 5 }, { 'q', 9 }, { 'k', 0 }, { '.', 0 },
    };

    /// The pieces of the side to move, less those of the other side.
    static int Material(Board board) {
        var sum = 0;
        for (var square = 0; square < 64; square++) {
            var piece = board.At(square);
            var value = Values[char.ToLower(piece)];
            sum += char.IsUpper(piece) == board.WhiteToMove ? value : -value;
        }
        return sum;
    }

    /// Chooses a move in any other game of the arena, such as atomic chess: one of position.Moves.
    public static string ChooseMove(Position position, Clock clock) {
        return position.Moves[Chance.Next(position.Moves.Length)];
    }
}
