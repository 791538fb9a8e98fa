using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

/// Plays a game against MyBot without an arena: my_bot local [greedy|random|me]. No need to change this file.
///
/// greedy (the default) takes the most valuable piece, random plays any move, and `me` asks you: e2e4.
static class PlayLocal {
    const double Seconds = 60;
    const double Increment = 0.5;
    static readonly Random Chance = new Random();

    public static int Run(string opponent) {
        if (!new[] { "greedy", "random", "me" }.Contains(opponent)) {
            Console.Error.WriteLine("against whom? my_bot local greedy, random or me; the game is chess");
            return 1;
        }
        var board = new Board();
        var seen = new Dictionary<string, int>();
        var botIsWhite = Chance.Next(2) == 0;
        var own = Seconds;
        string end = null;
        Console.WriteLine("MyBot is " + (botIsWhite ? "white (capital letters)" : "black (small letters)"));
        using (var guard = new Guard()) {
            for (var ply = 0; end == null; ply++) {
                var legal = board.LegalMoves().ToDictionary(candidate => candidate.ToString());
                string move;
                if (board.WhiteToMove == botIsWhite) {
                    var watch = Stopwatch.StartNew();
                    var choice = guard.Choose("chess", board.Fen(), own, Seconds, Increment, legal.Keys.ToArray());
                    own += Increment - watch.Elapsed.TotalSeconds;
                    move = choice.Move;
                    if (choice.Problem != null) {
                        Console.WriteLine("Move " + (ply / 2 + 1) + ": " + choice);
                        guard.Restart();
                    }
                } else {
                    move = opponent == "me" ? Person(legal.Keys) : Computer(board, opponent == "greedy");
                }
                if (move == null) {
                    Console.WriteLine("\nStopped.");
                    return 0;
                }
                Console.WriteLine("\n" + (ply / 2 + 1) + ". " + (board.WhiteToMove ? "" : "... ") + move);
                board.Make(legal[move]);
                Console.WriteLine(board);
                var position = string.Join(" ", board.Fen().Split(' ').Take(4));
                seen[position] = seen.ContainsKey(position) ? seen[position] + 1 : 1;
                end = End(board, seen[position]);
            }
        }
        var result = !board.IsCheckmate() ? "a draw" : board.WhiteToMove == botIsWhite ? "MyBot loses" : "MyBot wins";
        Console.WriteLine("\n" + result + ": " + end);
        return 0;
    }

    /// The game's end in words, or null. times: how often the position has been on the board.
    static string End(Board board, int times) {
        if (board.LegalMoves().Count == 0) {
            return board.InCheck() ? "checkmate" : "stalemate";
        }
        return times == 3 ? "threefold repetition" : board.Halfmoves >= 100 ? "fifty moves" : null;
    }

    static string Computer(Board board, bool greedy) {
        Func<Move, int> gain = move => greedy ? ".pnbrqk".IndexOf(char.ToLower(board.At(move.To))) : 0;
        return board.LegalMoves().OrderByDescending(gain).ThenBy(move => Chance.Next()).First().ToString();
    }

    static string Person(ICollection<string> moves) {
        while (true) {
            Console.Write("Your move: ");
            var move = Console.ReadLine();
            if (move == null || moves.Contains(move.Trim())) {
                return move?.Trim();
            }
            Console.WriteLine("Not a legal move. Legal: " + string.Join(" ", moves));
        }
    }
}
