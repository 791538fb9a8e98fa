using System;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;

/// A legal move, and why it is not that of ChooseMove, or null.
class Choice {
    public string Move, Problem;

    public override string ToString() {
        return Problem == null ? Move : Problem + "; played " + Move + " instead";
    }
}

/// Asks a worker for moves, and plays a legal move where it has none in time. No need to change this file.
class Guard : IDisposable {
    public const int MemoryMib = 512; // what the bot may use; raise it if you need more
    const int Short = 1; // seconds of the clock; with less, a worker that replaces another gets no move
    const double Margin = 0.4; // seconds of the clock: half to wait for the worker's reason, half for the way to the arena
    static readonly Random Chance = new Random();

    Process worker;
    BlockingCollection<string> answers;
    bool isReplacement; // of a worker that failed, and not asked yet

    public Guard() {
        var built = typeof(Guard).Assembly.Location;
        foreach (var source in new DirectoryInfo(".").GetFiles("*.cs")) {
            if (built != "" && source.LastWriteTimeUtc > File.GetLastWriteTimeUtc(built)) {
                var compile = built.EndsWith(".exe") ? "mcs -debug -out:my_bot.exe *.cs" : "dotnet build";
                var program = Path.GetFileName(built);
                Console.Error.WriteLine(source.Name + " is newer than " + program + ": compile it first (" + compile + ")");
                Environment.Exit(1);
            }
        }
        Start();
    }

    /// The seconds that a move may take: half of the clock is left if ChooseMove never returns.
    static double TimeLimit(double own, double increment) {
        return Math.Max(own / 2, Math.Min(own / 2 + increment, own - Margin));
    }

    /// Chooses one of these legal moves. Times are in seconds. After a problem, Restart() must follow.
    public Choice Choose(string kind, string fen, double own, double opponent, double increment, string[] moves) {
        var random = moves[Chance.Next(moves.Length)];
        if (isReplacement && own < Short) {
            return new Choice { Move = random, Problem = "less than " + Short + " s is left after a mistake" };
        }
        isReplacement = false;
        var limit = TimeLimit(own, increment);
        var times = new[] { own, opponent, increment }.Select(seconds => ((long) (seconds * 1000)).ToString());
        var end = DateTimeOffset.UtcNow.AddSeconds(limit).ToUnixTimeMilliseconds();
        try {
            var legal = string.Join(" ", moves);
            worker.StandardInput.WriteLine(string.Join("\t", kind, fen, string.Join("\t", times), legal, end));
            worker.StandardInput.Flush();
        } catch (IOException) {
            // The worker has ended, and so will its answers.
        }
        var patience = TimeSpan.FromSeconds(limit + Math.Min(0.5, (own - limit) / 2));
        string answer;
        var inTime = answers.TryTake(out answer, patience);
        if (moves.Contains(answer)) {
            return new Choice { Move = answer };
        }
        var problem = string.Format("ChooseMove took longer than {0:0.0} s", limit);
        if (answer != null && answer.StartsWith("error: ")) {
            problem = answer.Substring("error: ".Length);
        } else if (answer != null) { // Mono's failed assertion where it has no memory for an exception
            Console.Error.WriteLine(answer);
            problem = "ChooseMove probably needed more than the " + MemoryMib + " MiB that it may use: Mono has ended";
        } else if (inTime) {
            worker.WaitForExit();
            problem = "the program that runs ChooseMove ended with code " + worker.ExitCode;
        }
        return new Choice { Move = random, Problem = problem };
    }

    /// Replaces a worker that was late or failed by a new one.
    public void Restart() {
        if (!isReplacement) {
            Dispose();
            Start();
            isReplacement = true;
        }
    }

    void Start() {
        // Mono and `dotnet` run this program's file; otherwise it runs by itself.
        var runner = Process.GetCurrentProcess().MainModule.FileName;
        var file = "\"" + typeof(Guard).Assembly.Location + "\"";
        var name = Path.GetFileName(runner);
        var before = name.StartsWith("mono") ? "--debug " + file + " " : name.StartsWith("dotnet") ? file + " " : "";
        var start = new ProcessStartInfo(runner, before + "worker") {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        start.EnvironmentVariables["MONO_GC_PARAMS"] = "max-heap-size=" + MemoryMib + "m";
        start.EnvironmentVariables["DOTNET_GCHeapHardLimit"] = (MemoryMib * 1024L * 1024L).ToString("x");
        var process = Process.Start(start);
        var lines = new BlockingCollection<string>();
        new Thread(() => {
            for (string line; (line = process.StandardOutput.ReadLine()) != null;) {
                lines.Add(line);
            }
            lines.Add(null); // the worker has ended
        }) { IsBackground = true }.Start();
        worker = process;
        answers = lines;
    }

    public void Dispose() {
        try {
            worker.Kill();
        } catch (InvalidOperationException) {
            // It has ended by itself.
        }
    }
}
