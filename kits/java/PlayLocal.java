import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;

/**
 * Plays a game against MyBot without an arena: java PlayLocal [greedy|random|me]. No need to change this file.
 *
 * greedy (the default) takes the most valuable piece, random plays any move, and `me` asks you: e2e4.
 */
public class PlayLocal {
    private static final double CLOCK = 60; // seconds
    private static final double INCREMENT = 0.5;
    private static final Scanner INPUT = new Scanner(System.in);

    public static void main(String[] args) throws Exception {
        String opponent = args.length > 0 ? args[0] : "greedy";
        if (!List.of("greedy", "random", "me").contains(opponent)) {
            System.err.println("against whom? java PlayLocal greedy, random or me; the game is chess");
            System.exit(1);
        }
        Board board = new Board(Board.START);
        Map<String, Integer> seen = new HashMap<>();
        boolean botIsWhite = Math.random() < 0.5;
        double own = CLOCK;
        String end = null;
        System.out.println("MyBot is " + (botIsWhite ? "white (capital letters)" : "black (small letters)"));
        try (Guard guard = new Guard()) {
            for (int ply = 0; end == null; ply++) {
                List<String> moves = board.legalMoves().stream().map(Move::toString).toList();
                String move;
                if (board.whiteToMove() == botIsWhite) {
                    long began = System.nanoTime();
                    Guard.Choice choice = guard.choose("chess", board.fen(), own, CLOCK, INCREMENT, moves);
                    own += INCREMENT - (System.nanoTime() - began) / 1e9;
                    move = choice.move();
                    if (choice.problem() != null) {
                        System.out.println("Move " + (ply / 2 + 1) + ": " + choice);
                        guard.restart();
                    }
                } else {
                    move = opponent.equals("me") ? person(moves) : program(board, opponent);
                }
                System.out.println("\n" + (ply / 2 + 1) + ". " + (board.whiteToMove() ? "" : "... ") + move);
                board.make(board.find(move));
                System.out.println(board);
                end = end(board, seen.merge(board.fen().replaceAll(" \\d+ \\d+$", ""), 1, Integer::sum));
            }
        }
        String winner = board.whiteToMove() == botIsWhite ? "MyBot loses" : "MyBot wins";
        System.out.println("\n" + (board.isCheckmate() ? winner : "a draw") + ": " + end);
        System.exit(0);
    }

    /** How the game has ended, or null. `times`: how often the position has been on the board. */
    private static String end(Board board, int times) {
        if (board.legalMoves().isEmpty()) {
            return board.inCheck() ? "checkmate" : "stalemate";
        }
        return times == 3 ? "threefold repetition" : board.halfmoves() >= 100 ? "fifty moves" : null;
    }

    private static String program(Board board, String opponent) {
        List<Move> moves = board.legalMoves();
        Collections.shuffle(moves);
        Comparator<Move> gain = Comparator.comparing(move -> ".pnbrqk".indexOf(Character.toLowerCase(board.at(move.to()))));
        return (opponent.equals("random") ? moves.get(0) : Collections.max(moves, gain)).toString();
    }

    private static String person(List<String> moves) {
        while (true) {
            System.out.print("Your move: ");
            if (!INPUT.hasNextLine()) {
                System.out.println("\nStopped.");
                System.exit(0);
            }
            String move = INPUT.nextLine().trim();
            if (moves.contains(move)) {
                return move;
            }
            System.out.println("Not a legal move. Legal: " + String.join(" ", moves));
        }
    }
}
