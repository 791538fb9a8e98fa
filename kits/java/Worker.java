import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Seconds. `own` and `opponent` are left for the game, `increment` is added after each move, and after `limit` a random move is
 * played.
 */
record Clock(double own, double opponent, double increment, double limit) {}

/** A position of a game other than chess: the game's name, the position as text, and the legal moves. */
record Position(String kind, String fen, List<String> moves) {}

/**
 * Calls chooseMove of MyBot: one line in, one line out. No need to change this file.
 *
 * Client, PlayLocal and TestMyBot start it. So can anything that speaks the `lines` protocol of Zeitnot. A line in has fields
 * separated by tabs: game, position, own milliseconds, the opponent's, own increment, the legal moves separated by spaces, and
 * optionally the Unix time in ms at which to give up. A line out is a move, or "error: " and the reason why there is none.
 */
public class Worker {
    private static final int MAX_FRAMES = 10;

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("--check")) {
            check();
        }
        PrintStream answers = System.out;
        System.setOut(System.err); // what the bot prints is not an answer
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        System.setIn(InputStream.nullInputStream());
        String line;
        while ((line = requests.readLine()) != null) {
            answers.println(answerTo(line.split("\t")));
        }
        Runtime.getRuntime().halt(0); // even if chooseMove is still running
    }

    /** Loads the bot, or says on one line why it cannot be used. */
    private static void check() {
        try {
            Class.forName("MyBot");
            Runtime.getRuntime().halt(0);
        } catch (ClassNotFoundException missing) {
            System.err.println("MyBot is not compiled: javac *.java");
        } catch (Throwable failed) { // of static fields
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            System.err.println("MyBot cannot be loaded: " + shown(cause.toString()) + where(", line ", cause.getStackTrace()));
        }
        Runtime.getRuntime().halt(1);
    }

    private static String answerTo(String[] fields) throws InterruptedException {
        long limit = Long.parseLong(fields[2]);
        if (fields.length > 6) {
            limit = Math.max(1, Long.parseLong(fields[6]) - System.currentTimeMillis());
        }
        Clock clock = new Clock(seconds(fields[2]), seconds(fields[3]), seconds(fields[4]), limit / 1000.0);
        List<String> moves = List.of(fields[5].split(" "));
        FutureTask<String> choice = new FutureTask<>(() -> String.valueOf(fields[0].equals("chess")
                ? MyBot.chooseMove(new Board(fields[1]), clock)
                : MyBot.chooseMove(new Position(fields[0], fields[1], moves), clock)));
        Thread thinking = new Thread(choice);
        thinking.start();
        try {
            String move = choice.get(limit, TimeUnit.MILLISECONDS);
            String shown = move.equals("null") ? move : "'" + shown(move) + "'";
            return moves.contains(move) ? move
                    : "error: chooseMove returned " + shown + ", which is not legal here; legal moves: " + fields[5];
        } catch (TimeoutException late) {
            return String.format(Locale.ROOT, "error: chooseMove took longer than %.1f s", clock.limit())
                    + where(", at line ", thinking.getStackTrace());
        } catch (ExecutionException failed) {
            Throwable cause = failed.getCause();
            System.err.println(cause);
            ownFrames(cause.getStackTrace()).forEach(frame -> System.err.println("    at " + frame));
            String what = cause instanceof OutOfMemoryError
                    ? "needed more than the " + (Runtime.getRuntime().maxMemory() >> 20) + " MiB that it may use"
                    : "threw " + shown(cause.toString());
            return "error: chooseMove " + what + where(", line ", cause.getStackTrace());
        }
    }

    private static double seconds(String milliseconds) {
        return Long.parseLong(milliseconds) / 1000.0;
    }

    private static String shown(String text) {
        String line = String.valueOf(text).replaceAll("\\s+", " ");
        return line.length() > 200 ? line.substring(0, 200) : line;
    }

    /** The innermost line of the bot that was running. */
    private static String where(String before, StackTraceElement[] trace) {
        return ownFrames(trace).stream().findFirst()
                .map(at -> before + at.getLineNumber() + " of " + at.getFileName() + " (in " + at.getMethodName() + ")")
                .orElse("");
    }

    /** Leaves out Java's own classes, which are in modules, and the kit's. */
    private static List<StackTraceElement> ownFrames(StackTraceElement[] trace) {
        return List.of(trace).stream()
                .filter(frame -> frame.getModuleName() == null && !frame.getClassName().matches("(Worker|Board)\\b.*"))
                .limit(MAX_FRAMES).toList();
    }
}
