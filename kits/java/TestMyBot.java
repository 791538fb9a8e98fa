import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Asks MyBot for its move in each position of positions.txt: java TestMyBot. Add positions of your own there. */
public class TestMyBot {
    private static final double SECONDS = 10; // on the clock; a move may take half of it

    public static void main(String[] args) throws Exception {
        int failed = 0;
        try (Guard guard = new Guard()) {
            for (String line : Files.readAllLines(Path.of("positions.txt"))) {
                if (line.isBlank() || line.startsWith("#")) {
                    continue;
                }
                String[] fields = line.trim().split(" *\\| *"); // name | position | good moves | legal moves
                Guard.Choice choice = guard.choose("chess", fields[1], SECONDS, SECONDS, 0, List.of(fields[3].split(" ")));
                String problem = choice.problem();
                if (problem != null) {
                    problem += "; would play " + choice.move() + " instead";
                    guard.restart();
                } else if (!List.of(fields[2].split(" ")).contains(choice.move())) {
                    problem = "MyBot plays " + choice.move() + "; good: " + fields[2];
                }
                failed += problem == null ? 0 : 1;
                System.out.println((problem == null ? "ok    " : "FAIL  ") + fields[0] + ": "
                        + (problem == null ? choice.move() : problem));
            }
        }
        if (failed > 0) {
            System.err.println(failed + " failed");
        }
        System.exit(failed > 0 ? 1 : 0);
    }
}
