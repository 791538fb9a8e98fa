import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** Asks MyBot for its move in each position of positions.txt: java TestMyBot. Add positions of your own there. */
public class TestMyBot {
    private static final double SECONDS = 10; // on the clock; a move may take half of it

    private record TestPosition(String name, String fen, List<String> good, List<String> legal) {}

    public static void main(String[] args) throws Exception {
        int failed = 0;
        try (Guard guard = new Guard()) {
            for (TestPosition position : readPositions()) {
                Guard.Choice choice = guard.choose("chess", position.fen(), SECONDS, SECONDS, 0, position.legal());
                String problem = choice.problem();
                if (problem != null) {
                    problem += "; would play " + choice.move() + " instead";
                    guard.restart();
                } else if (!position.good().contains(choice.move())) {
                    problem = "MyBot plays " + choice.move() + "; good: " + String.join(" ", position.good());
                }
                failed += problem == null ? 0 : 1;
                System.out.println((problem == null ? "ok    " : "FAIL  ") + position.name() + ": "
                        + (problem == null ? choice.move() : problem));
            }
        }
        if (failed > 0) {
            System.err.println(failed + " failed");
        }
        System.exit(failed > 0 ? 1 : 0);
    }

    private static List<TestPosition> readPositions() throws IOException {
        List<TestPosition> positions = new ArrayList<>();
        List<String> lines = Files.readAllLines(Guard.file("positions.txt"));
        for (int at = 0; at < lines.size(); at++) {
            if (!lines.get(at).isBlank() && !lines.get(at).startsWith("#")) {
                positions.add(readPosition(lines.get(at).trim().split("\\s*\\|\\s*"), "positions.txt, line " + (at + 1) + ": "));
            }
        }
        return positions;
    }

    private static TestPosition readPosition(String[] fields, String place) {
        List<String> legal = List.of();
        try {
            legal = new Board(fields[1]).legalMoves().stream().map(Move::toString).toList();
        } catch (RuntimeException unreadable) {
            // Not a position: reported below.
        }
        if (legal.isEmpty() || fields.length < 3 || fields[2].isEmpty()) {
            fail(place + "expected `name | FEN | moves that pass`");
        }
        List<String> good = List.of(fields[2].split("\\s+"));
        for (String move : good) {
            if (!legal.contains(move)) {
                fail(place + "'" + move + "' is not legal there; write moves such as e2e4");
            }
        }
        return new TestPosition(fields[0], fields[1], good, legal);
    }

    private static void fail(String reason) {
        System.err.println(reason);
        System.exit(1);
    }
}
