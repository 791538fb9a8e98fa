using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;

/// Asks MyBot for its move in each position of positions.txt: my_bot test. Add positions of your own there.
static class TestMyBot {
    const double Seconds = 10; // on the clock; a move may take half of it

    public static int Run() {
        if (!File.Exists("positions.txt")) {
            Console.Error.WriteLine("positions.txt is missing; run this in the folder of the kit");
            return 1;
        }
        // Before the guard: Mono crashes if a program ends while the guard's thread begins.
        var positions = new List<string[][]>(); // fields, good moves, legal moves
        var number = 0;
        foreach (var line in File.ReadAllLines("positions.txt")) {
            number++;
            if (line.Trim() == "" || line.StartsWith("#")) {
                continue;
            }
            var fields = line.Split('|').Select(field => field.Trim()).ToArray(); // name | position | good moves
            var good = fields.Length > 2 ? Regex.Split(fields[2], "\\s+") : new string[0];
            var legal = good.Length > 0 ? LegalMoves(fields[1]) : good;
            if (legal.Length == 0 || fields[2] == "") {
                Console.Error.WriteLine("positions.txt, line " + number + ": expected `name | FEN | moves that pass`");
                return 1;
            }
            var wrong = good.FirstOrDefault(move => !legal.Contains(move));
            if (wrong != null) {
                Console.Error.WriteLine("positions.txt, line " + number + ": '" + wrong
                    + "' is not legal there; write moves such as e2e4");
                return 1;
            }
            positions.Add(new[] { fields, good, legal });
        }
        var failed = 0;
        using (var guard = new Guard()) {
            foreach (var position in positions) {
                string[] fields = position[0], good = position[1], legal = position[2];
                var choice = guard.Choose("chess", fields[1], Seconds, Seconds, 0, legal);
                var passed = choice.Problem == null && good.Contains(choice.Move);
                var instead = passed || choice.Problem != null ? "" : "; good: " + fields[2];
                Console.WriteLine((passed ? "ok    " : "FAIL  ") + fields[0] + ": " + choice + instead);
                failed += passed ? 0 : 1;
                if (choice.Problem != null) {
                    guard.Restart();
                }
            }
        }
        if (failed > 0) {
            Console.Error.WriteLine(failed + " failed");
        }
        return failed > 0 ? 1 : 0;
    }

    /// The legal moves, or none if this is not a position.
    static string[] LegalMoves(string fen) {
        try {
            return new Board(fen).LegalMoves().Select(move => move.ToString()).ToArray();
        } catch (Exception error) when (error is IndexOutOfRangeException || error is FormatException) {
            return new string[0];
        }
    }
}
