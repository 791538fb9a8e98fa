import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Asks a Worker for moves, and plays a legal move where it has none in time. No need to change this file. */
class Guard implements AutoCloseable {
    private static final String MEMORY = "-Xmx512m"; // what the bot may use; raise it if you need more
    private static final int LOADING = 30; // seconds for MyBot's static fields
    private static final int SHORT = 1; // seconds of the clock; with less, a worker that replaces another gets no move
    /** Seconds of the clock: half to wait for the worker's reason, half for the way to the arena. */
    private static final double MARGIN = 0.4;
    private static final String ENDED = "\0"; // no line of the worker

    private Process worker;
    private Writer requests;
    private BlockingQueue<String> answers;
    private boolean isReplacement; // of a worker that failed, and not asked yet

    /** A legal move, and why it is not that of chooseMove, or null. */
    record Choice(String move, String problem) {
        @Override
        public String toString() {
            return problem == null ? move : problem + "; played " + move + " instead";
        }
    }

    Guard() throws IOException, InterruptedException {
        File sources = file("MyBot.java").toAbsolutePath().getParent().toFile();
        for (File source : sources.listFiles((folder, file) -> file.endsWith(".java"))) {
            String built = source.getName().replace(".java", ".class");
            URL at = Guard.class.getResource(built);
            if (at != null && source.lastModified() > at.openConnection().getLastModified()) {
                System.err.println(source.getName() + " is newer than " + built + ": compile it first (javac *.java)");
                System.exit(1);
            }
        }
        Process check = worker("--check").redirectOutput(ProcessBuilder.Redirect.INHERIT).start();
        if (!check.waitFor(LOADING, TimeUnit.SECONDS)) {
            check.destroyForcibly();
            System.err.println("MyBot was not loaded after " + LOADING + " s. Does it wait or loop outside of functions?");
            System.exit(1);
        }
        if (check.exitValue() != 0) {
            System.exit(1); // Worker has said why
        }
        start();
    }

    /** A file of the kit: in the current folder, else beside the compiled classes. */
    static Path file(String name) {
        Path here = Path.of(name);
        try {
            Path classes = Path.of(Guard.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            return Files.exists(here) ? here : classes.resolve(name);
        } catch (URISyntaxException unusual) {
            return here;
        }
    }

    /** The seconds that a move may take: half of the clock is left if chooseMove never returns. */
    private static double limit(double own, double increment) {
        return Math.max(own / 2, Math.min(own / 2 + increment, own - MARGIN));
    }

    /** Chooses one of these legal moves. Times are in seconds. After a problem, restart() must follow. */
    Choice choose(String kind, String fen, double own, double opponent, double increment, List<String> moves)
            throws IOException, InterruptedException {
        String random = moves.get(new Random().nextInt(moves.size()));
        if (isReplacement && own < SHORT) {
            return new Choice(random, "less than " + SHORT + " s is left after a mistake");
        }
        isReplacement = false;
        double limit = limit(own, increment);
        long end = System.currentTimeMillis() + (long) (limit * 1000);
        try {
            requests.write(String.join("\t", kind, fen, millis(own), millis(opponent), millis(increment),
                    String.join(" ", moves), "" + end) + "\n");
            requests.flush();
        } catch (IOException broken) {
            // The worker has ended, and so will its answers.
        }
        long patience = (long) ((limit + Math.min(0.5, (own - limit) / 2)) * 1000);
        String answer = answers.poll(patience, TimeUnit.MILLISECONDS);
        if (answer != null && moves.contains(answer)) {
            return new Choice(answer, null);
        }
        String problem;
        if (answer == null) {
            problem = String.format(Locale.ROOT, "chooseMove took longer than %.1f s", limit);
        } else if (answer.startsWith("error: ")) {
            problem = answer.substring("error: ".length());
        } else {
            problem = "the program that runs chooseMove ended with code " + worker.waitFor();
        }
        return new Choice(random, problem);
    }

    private static String millis(double seconds) {
        return Long.toString((long) (seconds * 1000));
    }

    /** Replaces a worker that was late or failed by a new one. */
    void restart() throws IOException {
        if (!isReplacement) {
            close();
            start();
            isReplacement = true;
        }
    }

    private static ProcessBuilder worker(String... arguments) {
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        List<String> command = new ArrayList<>(List.of(java, MEMORY, "-cp", System.getProperty("java.class.path"), "Worker"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    }

    private void start() throws IOException {
        worker = worker().start();
        requests = new OutputStreamWriter(worker.getOutputStream(), "UTF-8");
        BufferedReader lines = worker.inputReader();
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> {
            try {
                lines.lines().forEach(queue::add);
            } catch (UncheckedIOException closed) {
                // The worker was stopped.
            }
            queue.add(ENDED);
        });
        reader.setDaemon(true);
        reader.start();
        answers = queue;
    }

    @Override
    public void close() {
        worker.destroyForcibly();
    }
}
