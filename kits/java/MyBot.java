import java.util.List;
import java.util.Random;

/**
 * Your bot. Only this file is yours to change; README.md explains the others.
 *
 * Try it: javac *.java, java TestMyBot, then java PlayLocal, then java Client NAME.
 */
public class MyBot {
    private static final Random RANDOM = new Random();

    /**
     * Chooses a move in a game of chess.
     *
     * board: the position; Board.java shows what it can do.
     * clock: seconds. clock.own() and clock.opponent() are left for the game, clock.increment() is added after each move.
     *     After clock.limit() a random move is played instead of yours.
     */
    public static Move chooseMove(Board board, Clock clock) {
        Move best = null;
        double bestScore = Double.NEGATIVE_INFINITY;
        for (Move move : board.legalMoves()) {
            board.make(move);
            double score = -bestReply(board) + RANDOM.nextDouble() / 10; // chance decides between equal moves
            board.undo();
            if (score > bestScore) {
                best = move;
                bestScore = score;
            }
        }
        return best;
    }

    /** The value of the position for the side to move after its best move. */
    private static int bestReply(Board board) {
        List<Move> moves = board.legalMoves();
        if (moves.isEmpty()) {
            return board.inCheck() ? -1000 : 0; // checkmate or stalemate
        }
        int best = -1000;
        for (Move move : moves) {
            board.make(move);
            best = Math.max(best, board.isCheckmate() ? 1000 : -material(board));
            board.undo();
        }
        return best;
    }

    /** The pieces of the side to move, less those of the other side. */
    private static int material(Board board) {
        int sum = 0;
        for (int square = 0; square < 64; square++) {
            char piece = board.at(square);
            int value = switch (Character.toLowerCase(piece)) {
                case 'p' -> 1;
                case 'n', 'b' -> 3;
                case 'r' -> 5;
                case 'q' -> 9;
                default -> 0;
            };
            sum += Character.isUpperCase(piece) == board.whiteToMove() ? value : -value;
        }
        return sum;
    }

    /** Chooses a move in any other game of the arena, such as atomic chess: one of position.moves(). */
    public static String chooseMove(Position position, Clock clock) {
        return position.moves().get(RANDOM.nextInt(position.moves().size()));
    }
}
