import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jdk.net.ExtendedSocketOptions;

/**
 * Plays on an arena with chooseMove of MyBot: java Client NAME [KEY]. No need to change this file.
 *
 * The protocol is text, one message a line; docs/arena.md of Zeitnot describes it.
 */
public class Client {
    private static final int RETRY = 2; // seconds until the next try to reach the arena
    private static final int PATIENCE = 10; // seconds until a try fails

    private final String name;
    private final Guard guard = new Guard();
    private boolean isIn;
    private String last = "";
    private String kind = "chess";
    private List<String> moves = List.of();
    private List<String> players = List.of("", ""); // first and second
    private int number;
    private double increment;

    private Client(String name) throws IOException, InterruptedException {
        this.name = name;
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> settings = new HashMap<>();
        Path file = Guard.file("settings.txt");
        if (!Files.exists(file)) {
            fail("settings.txt is missing; it belongs in " + file.toAbsolutePath().getParent());
        }
        for (String line : Files.readAllLines(file)) { // `key = value`
            String[] pair = line.split("=", 2);
            if (pair.length == 2 && !line.startsWith("#")) {
                settings.put(pair[0].trim(), pair[1].trim());
            }
        }
        String name = args.length > 0 ? args[0] : settings.getOrDefault("name", "");
        String key = args.length > 1 ? args[1] : settings.getOrDefault("key", "");
        if (!name.matches("\\S+") || args.length > 2) {
            fail("under which name? java Client NAME [KEY], or `name = ...` in settings.txt; a name has no spaces");
        }
        String given = settings.getOrDefault("arena", "");
        String tournament = settings.getOrDefault("tournament", "");
        String arena = given.replaceFirst("^.*//", ""); // tcp://HOST:PORT, too
        if (!arena.matches(".+:[0-9]{1,5}") || port(arena) > 65535 || !tournament.matches("\\S+")) {
            fail("settings.txt needs the lines `arena = HOST:PORT` and `tournament = NAME`; it has `arena = " + given
                    + "` and `tournament = " + tournament + "`");
        }
        String join = String.join(" ", "JOIN", tournament, name, key, "+moves +protocol=1");
        new Client(name).run(arena, join.replace("  ", " "));
    }

    private void run(String arena, String join) throws Exception {
        String host = arena.substring(0, arena.lastIndexOf(':'));
        boolean wasIn = false;
        while (true) {
            isIn = false;
            last = "";
            String problem;
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(host, port(arena)), PATIENCE * 1000);
                play(socket, join);
                String hint = last.isEmpty() ? " Is " + arena + " its TCP port (8000 by default)?" : "";
                problem = "The arena has closed the connection." + hint;
            } catch (IOException error) {
                String why = error instanceof UnknownHostException ? "unknown host" : error.getMessage();
                problem = "Cannot reach the arena at " + arena + ": " + why
                        + ". Is it running, and is settings.txt right?";
            }
            wasIn |= isIn;
            boolean isOver = last.endsWith("is over");
            boolean mayRetry = last.contains("try again") || wasIn && last.contains("already taken");
            if (!last.isEmpty() && !isIn) {
                if (!isOver && !mayRetry) {
                    fail("The arena does not let " + name + " in: " + last);
                }
                System.out.println(last);
            }
            if (isOver) {
                System.exit(0);
            }
            System.out.println(problem);
            System.out.println("Trying again in " + RETRY + " s; Ctrl-C stops.");
            Thread.sleep(RETRY * 1000);
        }
    }

    private static int port(String arena) {
        return Integer.parseInt(arena.substring(arena.lastIndexOf(':') + 1));
    }

    /** Joins and plays until the connection ends. */
    private void play(Socket socket, String join) throws Exception {
        socket.setTcpNoDelay(true);
        enableKeepAlive(socket);
        PrintStream arena = new PrintStream(socket.getOutputStream(), true, "UTF-8");
        BufferedReader lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), "UTF-8"));
        arena.println(join);
        String line;
        while ((line = lines.readLine()) != null) {
            String[] words = line.split(" ", 7);
            switch (words[0].split("/")[0]) {
                case "HTTP" -> last = "this is its WebSocket or web port; settings.txt needs its TCP port (8000 by default)";
                case "INFO" -> {
                    last = line.substring("INFO ".length());
                    isIn |= last.startsWith("You joined");
                    if (isIn && !last.startsWith("Game over: ")) { // GAME_OVER follows
                        System.out.println(last);
                    }
                }
                case "GAME_PAIRED" -> { // game first second seconds increment
                    increment = Double.parseDouble(words[5]);
                    arena.println("ACK " + words[1]);
                }
                case "VARIANT" -> kind = words[2];
                case "GAME_STARTED" -> {
                    number = 0;
                    players = List.of(words[2], words[3]);
                    System.out.println("Game of " + kind + ": " + words[2] + " (first) against " + words[3]);
                }
                case "LEGAL_MOVES" -> moves = List.of(line.split(" ")).subList(2, line.split(" ").length);
                case "YOUR_MOVE" -> { // game first second first's-seconds second's-seconds position
                    boolean first = words[2].equals(name);
                    double own = Double.parseDouble(words[first ? 4 : 5]);
                    double opponent = Double.parseDouble(words[first ? 5 : 4]);
                    Guard.Choice choice = guard.choose(kind, words[6], own, opponent, increment, moves);
                    arena.println("MOVE " + words[1] + " " + choice.move());
                    System.out.println("Move " + ++number + ": " + choice);
                    if (choice.problem() != null) {
                        guard.restart();
                    }
                }
                case "GAME_OVER" -> System.out.println(outcome(line.split(" ", 4))); // game result reason
                case "GAME_ABORTED" -> System.out.println("The game was aborted: " + line.substring("GAME_ABORTED".length()).trim());
                default -> {} // moves of both players, clock updates, chat
            }
        }
    }

    /** How a game has ended for us. */
    private String outcome(String[] words) {
        boolean first = players.get(0).equals(name);
        String ended = words[2].equals("0.5-0.5") ? "drew" : words[2].equals("1-0") == first ? "won" : "lost";
        return name + " " + ended + " against " + players.get(first ? 1 : 0) + ": " + words[3];
    }

    /** Enables TCP keep-alive, so that a connection that died silently ends. */
    private static void enableKeepAlive(Socket socket) throws IOException {
        socket.setKeepAlive(true);
        var values = Map.of(ExtendedSocketOptions.TCP_KEEPIDLE, 20, ExtendedSocketOptions.TCP_KEEPINTERVAL, 5,
                ExtendedSocketOptions.TCP_KEEPCOUNT, 3);
        for (var option : values.entrySet()) {
            if (socket.supportedOptions().contains(option.getKey())) {
                socket.setOption(option.getKey(), option.getValue());
            }
        }
    }

    private static void fail(String reason) {
        System.err.println(reason);
        System.exit(1);
    }
}
