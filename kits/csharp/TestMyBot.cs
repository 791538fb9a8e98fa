using System;
using System.IO;
using System.Linq;

/// Asks MyBot for its move in each position of positions.txt: my_bot test. Add positions of your own there.
static class TestMyBot {
    const double Seconds = 10; // on the clock; a move may take half of it

    public static int Run() {
        var failed = 0;
        using (var guard = new Guard()) {
            foreach (var line in File.ReadAllLines("positions.txt")) {
                var fields = line.Split('|').Select(field => field.Trim()).ToArray(); // name | position | good moves | legal moves
                if (line.StartsWith("#") || fields.Length != 4) {
                    continue;
                }
                var choice = guard.Choose("chess", fields[1], Seconds, Seconds, 0, fields[3].Split(' '));
                var passed = choice.Problem == null && fields[2].Split(' ').Contains(choice.Move);
                var good = passed || choice.Problem != null ? "" : "; good: " + fields[2];
                Console.WriteLine((passed ? "ok    " : "FAIL  ") + fields[0] + ": " + choice + good);
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
}
