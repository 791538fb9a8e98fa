using System;
using System.IO;
using System.Linq;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Threading;

/// Plays on an arena with ChooseMove of MyBot: my_bot client NAME [KEY]. No need to change this file.
///
/// The protocol is text, one message a line; docs/arena.md of Zeitnot describes it.
class Client {
    const int Retry = 2; // seconds until the next try to reach the arena
    const int Patience = 10; // seconds until a try fails

    readonly string name;
    readonly Guard guard = new Guard();
    bool isIn;
    string last = ""; // INFO
    string kind = "chess";
    string[] moves = {};
    string[] players = { "", "" }; // first and second
    int number;
    double increment;

    Client(string name) {
        this.name = name;
    }

    /// Reads a setting from settings.txt: lines `key = value`.
    static string Setting(string key) {
        var pairs = File.ReadAllLines("settings.txt").Select(line => line.Split(new[] { '=' }, 2));
        return pairs.Where(pair => pair.Length == 2 && pair[0].Trim() == key).Select(pair => pair[1].Trim()).FirstOrDefault() ?? "";
    }

    static bool IsWord(string text) {
        return text != "" && !text.Any(char.IsWhiteSpace);
    }

    public static int Run(string[] arguments) {
        if (!File.Exists("settings.txt")) {
            Console.Error.WriteLine("settings.txt is missing; run this in the folder of the kit");
            return 1;
        }
        var name = arguments.Length > 0 ? arguments[0] : Setting("name");
        var key = arguments.Length > 1 ? arguments[1] : Setting("key");
        if (!IsWord(name) || arguments.Length > 2) {
            Console.Error.WriteLine("under which name? my_bot client NAME [KEY], or `name = ...` in settings.txt; "
                + "a name has no spaces");
            return 1;
        }
        var given = Setting("arena");
        var tournament = Setting("tournament");
        var arena = given.Split('/').Last(); // tcp://HOST:PORT, too
        var colon = arena.LastIndexOf(':');
        ushort port;
        if (colon < 1 || !ushort.TryParse(arena.Substring(colon + 1), out port) || !IsWord(tournament)) {
            Console.Error.WriteLine("settings.txt needs the lines `arena = HOST:PORT` and `tournament = NAME`; "
                + "it has `arena = " + given + "` and `tournament = " + tournament + "`");
            return 1;
        }
        try {
            RuntimeHelpers.RunClassConstructor(typeof(MyBot).TypeHandle);
        } catch (TypeInitializationException error) {
            Console.Error.WriteLine("MyBot cannot be loaded: " + error.GetBaseException());
            return 1;
        }
        var join = string.Join(" ", "JOIN", tournament, name, key, "+moves +protocol=1").Replace("  ", " ");
        var client = new Client(name);
        using (client.guard) {
            return client.PlayAt(arena.Substring(0, colon), port, join);
        }
    }

    int PlayAt(string host, int port, string join) {
        var arena = host + ":" + port;
        for (var wasIn = false; ; Thread.Sleep(Retry * 1000)) {
            isIn = false;
            last = "";
            string problem;
            try {
                using (var connection = new TcpClient()) {
                    if (!connection.ConnectAsync(host, port).Wait(Patience * 1000)) {
                        throw new IOException("no answer within " + Patience + " s");
                    }
                    connection.NoDelay = true;
                    EnableKeepAlive(connection.Client);
                    Play(connection.GetStream(), join);
                }
                var hint = last == "" ? " Is " + arena + " its TCP port (8000 by default)?" : "";
                problem = "The arena has closed the connection." + hint;
            } catch (Exception error) when (error is SocketException || error is IOException || error is AggregateException) {
                problem = "Cannot reach the arena at " + arena + ": " + error.GetBaseException().Message
                    + ". Is it running, and is settings.txt right?";
            }
            wasIn |= isIn;
            var isOver = last.EndsWith("is over");
            var mayRetry = last.Contains("try again") || wasIn && last.Contains("already taken");
            if (last != "" && !isIn) {
                if (!isOver && !mayRetry) {
                    Console.Error.WriteLine("The arena does not let " + name + " in: " + last);
                    return 1;
                }
                Console.WriteLine(last);
            }
            if (isOver) {
                return 0;
            }
            Console.WriteLine(problem);
            Console.WriteLine("Trying again in " + Retry + " s; Ctrl-C stops.");
        }
    }

    /// Enables TCP keep-alive, so that a connection that died silently ends.
    static void EnableKeepAlive(Socket socket) {
        try {
            var values = new[] { 1, 20000, 5000 }; // on; milliseconds until the first probe, and between probes
            socket.IOControl(IOControlCode.KeepAliveValues, values.SelectMany(value => BitConverter.GetBytes(value)).ToArray(), null);
        } catch (PlatformNotSupportedException) { // .NET on Linux and macOS
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
            socket.SetSocketOption(SocketOptionLevel.Tcp, (SocketOptionName) 3, 20); // TcpKeepAliveTime in seconds; not in Mono
            socket.SetSocketOption(SocketOptionLevel.Tcp, (SocketOptionName) 17, 5); // TcpKeepAliveInterval
        }
    }

    /// Describes the end of a game for us.
    string Outcome(string result) {
        var first = players[0] == name;
        var ended = result == "0.5-0.5" ? "drew" : (result == "1-0") == first ? "won" : "lost";
        return name + " " + ended + " against " + players[first ? 1 : 0];
    }

    /// Joins and plays until the connection ends.
    void Play(Stream connection, string join) {
        var lines = new StreamReader(connection);
        var arena = new StreamWriter(connection) { AutoFlush = true, NewLine = "\n" };
        arena.WriteLine(join);
        for (string line; (line = lines.ReadLine()) != null;) {
            var words = line.Split(' ');
            var message = words[0];
            if (message == "INFO") {
                last = string.Join(" ", words.Skip(1));
                isIn |= last.StartsWith("You joined");
                if (isIn && !last.StartsWith("Game over: ")) { // GAME_OVER follows
                    Console.WriteLine(last);
                }
            } else if (message.StartsWith("HTTP/")) {
                last = "this is its WebSocket or web port; settings.txt needs its TCP port (8000 by default)";
            } else if (message == "GAME_PAIRED") { // game first second seconds increment
                increment = double.Parse(words[5]);
                arena.WriteLine("ACK " + words[1]);
            } else if (message == "VARIANT") {
                kind = words[2];
            } else if (message == "GAME_STARTED") {
                number = 0;
                players = new[] { words[2], words[3] };
                Console.WriteLine("Game of " + kind + ": " + words[2] + " (first) against " + words[3]);
            } else if (message == "LEGAL_MOVES") {
                moves = words.Skip(2).ToArray();
            } else if (message == "YOUR_MOVE") { // game first second first's-seconds second's-seconds position
                var first = words[2] == name;
                var own = double.Parse(words[first ? 4 : 5]);
                var opponent = double.Parse(words[first ? 5 : 4]);
                var choice = guard.Choose(kind, string.Join(" ", words.Skip(6)), own, opponent, increment, moves);
                arena.WriteLine("MOVE " + words[1] + " " + choice.Move);
                Console.WriteLine("Move " + ++number + ": " + choice);
                if (choice.Problem != null) {
                    guard.Restart();
                }
            } else if (message == "GAME_OVER") { // game result reason
                Console.WriteLine(Outcome(words[2]) + ": " + string.Join(" ", words.Skip(3)));
            } else if (message == "GAME_ABORTED") {
                Console.WriteLine("The game was aborted: " + string.Join(" ", words.Skip(1)));
            }
        }
    }
}
