using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using System.Threading;

/// Seconds. Own and Opponent are left for the game, Increment is added after each move, and after Limit a random move is played.
public class Clock {
    public double Own, Opponent, Increment, Limit;
}

/// A position of a game other than chess: the game's name, the position as text, and the legal moves.
public class Position {
    public string Kind, Fen;
    public string[] Moves;
}

/// Calls ChooseMove of MyBot: one line in, one line out. No need to change this file.
///
/// The other commands start it. So can anything that speaks the `lines` protocol of Zeitnot. A line in has fields separated by
/// tabs: game, position, own milliseconds, the opponent's, own increment, the legal moves separated by spaces, and optionally the
/// Unix time in ms at which to give up. A line out is a move, or `error: ` and the reason why there is none.
static class Worker {
    public static int Run() {
        var answers = new StreamWriter(Console.OpenStandardOutput()) { AutoFlush = true };
        Console.SetOut(Console.Error); // what the bot prints is not an answer
        var requests = Console.In;
        Console.SetIn(TextReader.Null);
        for (string line; (line = requests.ReadLine()) != null;) {
            answers.WriteLine(AnswerTo(line.Split('\t')));
        }
        return 0;
    }

    static string AnswerTo(string[] fields) {
        var position = new Position { Kind = fields[0], Fen = fields[1], Moves = fields[5].Split(' ') };
        var times = new[] { 2, 3, 4 }.Select(at => long.Parse(fields[at]) / 1000.0).ToArray();
        var clock = new Clock { Own = times[0], Opponent = times[1], Increment = times[2], Limit = times[0] };
        if (fields.Length > 6) {
            clock.Limit = Math.Max(0.001, (long.Parse(fields[6]) - DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()) / 1000.0);
        }
        string move = null;
        Exception mistake = null;
        var thinking = new Thread(() => {
            try {
                move = position.Kind == "chess"
                    ? MyBot.ChooseMove(new Board(position.Fen), clock).ToString()
                    : MyBot.ChooseMove(position, clock);
            } catch (TypeInitializationException error) { // of a static field
                mistake = error.InnerException ?? error;
            } catch (Exception error) {
                mistake = error;
            }
        });
        thinking.IsBackground = true; // ends with the program
        thinking.Start();
        if (!thinking.Join(TimeSpan.FromSeconds(clock.Limit))) {
            return string.Format("error: ChooseMove took longer than {0:0.0} s", clock.Limit);
        }
        if (mistake != null) {
            return Explain(mistake);
        }
        var shown = move == null ? "null" : move == new Move().ToString() ? "an empty Move, a1a1" : "'" + Shown(move) + "'";
        return position.Moves.Contains(move) ? move
            : "error: ChooseMove returned " + shown + ", which is not legal here; legal moves: " + fields[5];
    }

    /// Prints an exception with the lines of the bot, and returns it on one line.
    static string Explain(Exception mistake) {
        var frames = new StackTrace(mistake, true).GetFrames() ?? new StackFrame[0];
        var places = frames.Where(frame => !new[] { null, "Worker.cs", "Board.cs" }.Contains(Path.GetFileName(frame.GetFileName())))
            .Select(frame => string.Format("line {0} of {1} (in {2})",
                frame.GetFileLineNumber(), Path.GetFileName(frame.GetFileName()), frame.GetMethod().Name))
            .Take(10).ToArray();
        Console.Error.WriteLine(mistake.GetType().Name + ": " + mistake.Message);
        foreach (var place in places) {
            Console.Error.WriteLine("    at " + place);
        }
        var reason = mistake is OutOfMemoryException
            ? "needed more than the " + Guard.MemoryMib + " MiB that it may use"
            : "threw " + mistake.GetType().Name + ": " + Shown(mistake.Message);
        return "error: ChooseMove " + reason + (places.Length > 0 ? ", " + places[0] : "");
    }

    static string Shown(string text) {
        var line = Regex.Replace(text, "\\s+", " ");
        return line.Length > 200 ? line.Substring(0, 200) : line;
    }
}
