import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A chess position. Squares are numbers: a1 is 0, b1 is 1, h8 is 63.
 * Pieces are letters: white PNBRQK, black pnbrqk, and '.' for an empty square.
 */
public class Board {
    public static final String START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    /** All that a move changes. make() stores a copy, undo() returns to it. */
    private record State(char[] squares, boolean white, String castling, int enPassant, int halfmoves, int fullmoves) {}

    private static final int[][] ROOK = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    private static final int[][] BISHOP = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    private static final int[][] QUEEN = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    private static final int[][] KNIGHT = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

    /** Castling rights that a move from or to the square ends. */
    private static final String[] LOST = ("Q,,,,KQ,,,K" + ",".repeat(49) + "q,,,,kq,,,k").split(",", -1);

    private State now;
    private final ArrayDeque<State> past = new ArrayDeque<>();

    public Board(String fen) {
        String[] fields = fen.trim().split("\\s+");
        char[] squares = ".".repeat(64).toCharArray();
        int square = 56;
        for (char letter : fields[0].toCharArray()) {
            if (letter == '/') {
                square -= 16;
            } else if (Character.isDigit(letter)) {
                square += letter - '0';
            } else {
                squares[square++] = letter;
            }
        }
        int enPassant = fields[3].equals("-") ? -1 : square(fields[3]);
        int halfmoves = fields.length > 4 ? Integer.parseInt(fields[4]) : 0;
        int fullmoves = fields.length > 5 ? Integer.parseInt(fields[5]) : 1;
        now = new State(squares, fields[1].equals("w"), fields[2], enPassant, halfmoves, fullmoves);
    }

    public String fen() {
        String rows = toString().replace(" ", "").replace("\n", "/");
        for (int empty = 8; empty > 0; empty--) {
            rows = rows.replace(".".repeat(empty), "" + empty);
        }
        String enPassant = now.enPassant < 0 ? "-" : name(now.enPassant);
        return rows + (now.white ? " w " : " b ") + now.castling + " " + enPassant + " " + now.halfmoves + " " + now.fullmoves;
    }

    /** The board as text, a line for each rank. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int rank = 7; rank >= 0; rank--) {
            for (int file = 0; file < 8; file++) {
                text.append(at(rank * 8 + file)).append(file < 7 ? " " : rank > 0 ? "\n" : "");
            }
        }
        return text.toString();
    }

    public static String name(int square) {
        return "" + (char) ('a' + square % 8) + (char) ('1' + square / 8);
    }

    public static int square(String name) {
        return (name.charAt(1) - '1') * 8 + name.charAt(0) - 'a';
    }

    /** The piece on a square, or '.' */
    public char at(int square) {
        return now.squares[square];
    }

    public boolean whiteToMove() {
        return now.white;
    }

    /** Plies since the last capture or pawn move; the game is drawn at 100. */
    public int halfmoves() {
        return now.halfmoves;
    }

    public boolean isCapture(Move move) {
        boolean pawn = Character.toUpperCase(at(move.from())) == 'P';
        return at(move.to()) != '.' || pawn && move.to() == now.enPassant;
    }

    /** Whether the side to move is in check. */
    public boolean inCheck() {
        return attacked(king(now.white), !now.white);
    }

    public boolean isCheckmate() {
        return inCheck() && legalMoves().isEmpty();
    }

    /** The legal move with these coordinates, such as e2e4, or null. */
    public Move find(String coordinates) {
        return legalMoves().stream().filter(move -> move.toString().equals(coordinates)).findFirst().orElse(null);
    }

    public List<Move> legalMoves() {
        List<Move> legal = new ArrayList<>();
        for (Move move : pseudoLegalMoves()) {
            make(move);
            if (!attacked(king(!now.white), now.white)) {
                legal.add(move);
            }
            undo();
        }
        return legal;
    }

    /** Plays a legal move. undo() takes it back. */
    public void make(Move move) {
        past.push(now);
        char[] squares = now.squares.clone();
        char piece = squares[move.from()];
        boolean pawn = Character.toUpperCase(piece) == 'P';
        boolean capture = isCapture(move);
        int behind = move.to() + (now.white ? -8 : 8); // the square behind the move's end
        if (pawn && move.to() == now.enPassant) {
            squares[behind] = '.';
        }
        squares[move.from()] = '.';
        squares[move.to()] = move.promotion() == 0 ? piece : colour(move.promotion());
        if (Character.toUpperCase(piece) == 'K' && Math.abs(move.to() - move.from()) == 2) {
            boolean kingside = move.to() > move.from();
            squares[kingside ? move.to() + 1 : move.to() - 2] = '.';
            squares[(move.from() + move.to()) / 2] = colour('r');
        }
        boolean doubleStep = pawn && Math.abs(move.to() - move.from()) == 16;
        now = new State(squares, !now.white, castlingAfter(move), doubleStep ? behind : -1,
                pawn || capture ? 0 : now.halfmoves + 1, now.fullmoves + (now.white ? 0 : 1));
    }

    public void undo() {
        now = past.pop();
    }

    private char colour(char letter) {
        return now.white ? Character.toUpperCase(letter) : letter;
    }

    private boolean own(char piece) {
        return piece != '.' && Character.isUpperCase(piece) == now.white;
    }

    private String castlingAfter(Move move) {
        String rights = now.castling;
        for (char lost : LOST[move.from()].concat(LOST[move.to()]).toCharArray()) {
            rights = rights.replace("" + lost, "");
        }
        return rights.isEmpty() ? "-" : rights;
    }

    private int king(boolean white) {
        return new String(now.squares).indexOf(white ? 'K' : 'k');
    }

    /** The square one step from here, or -1 beyond the edge. */
    private static int step(int square, int[] direction) {
        int file = square % 8 + direction[0];
        int rank = square / 8 + direction[1];
        return file < 0 || file > 7 || rank < 0 || rank > 7 ? -1 : rank * 8 + file;
    }

    /** Whether a piece of this colour attacks the square. */
    private boolean attacked(int square, boolean byWhite) {
        int forward = byWhite ? 1 : -1;
        return square >= 0 && (reaches(square, KNIGHT, false, byWhite, "N") || reaches(square, QUEEN, false, byWhite, "K")
                || reaches(square, ROOK, true, byWhite, "RQ") || reaches(square, BISHOP, true, byWhite, "BQ")
                || reaches(square, new int[][] {{1, -forward}, {-1, -forward}}, false, byWhite, "P"));
    }

    private boolean reaches(int square, int[][] directions, boolean slides, boolean byWhite, String pieces) {
        for (int[] direction : directions) {
            int next = step(square, direction);
            while (slides && next >= 0 && at(next) == '.') {
                next = step(next, direction);
            }
            if (next >= 0 && Character.isUpperCase(at(next)) == byWhite && pieces.indexOf(Character.toUpperCase(at(next))) >= 0) {
                return true;
            }
        }
        return false;
    }

    /** All moves by the pieces' rules; some may leave the own king in check. */
    private List<Move> pseudoLegalMoves() {
        List<Move> moves = new ArrayList<>();
        for (int from = 0; from < 64; from++) {
            if (own(at(from))) {
                switch (Character.toUpperCase(at(from))) {
                    case 'P' -> addPawnMoves(from, moves);
                    case 'N' -> addMoves(from, KNIGHT, false, moves);
                    case 'B' -> addMoves(from, BISHOP, true, moves);
                    case 'R' -> addMoves(from, ROOK, true, moves);
                    case 'Q' -> addMoves(from, QUEEN, true, moves);
                    default -> addKingMoves(from, moves);
                }
            }
        }
        return moves;
    }

    private void addMoves(int from, int[][] directions, boolean slides, List<Move> moves) {
        for (int[] direction : directions) {
            int to = step(from, direction);
            while (to >= 0 && !own(at(to))) {
                moves.add(new Move(from, to, (char) 0));
                to = slides && at(to) == '.' ? step(to, direction) : -1;
            }
        }
    }

    private void addPawnMoves(int from, List<Move> moves) {
        int forward = now.white ? 1 : -1;
        int one = step(from, new int[] {0, forward});
        if (at(one) == '.') {
            addPawnMove(from, one, moves);
            int two = one + 8 * forward;
            if (from / 8 == (now.white ? 1 : 6) && at(two) == '.') {
                moves.add(new Move(from, two, (char) 0));
            }
        }
        for (int side : new int[] {-1, 1}) {
            int to = step(from, new int[] {side, forward});
            if (to >= 0 && (to == now.enPassant || at(to) != '.' && !own(at(to)))) {
                addPawnMove(from, to, moves);
            }
        }
    }

    private void addPawnMove(int from, int to, List<Move> moves) {
        for (char promotion : to / 8 == 0 || to / 8 == 7 ? "qrbn".toCharArray() : new char[1]) {
            moves.add(new Move(from, to, promotion));
        }
    }

    private void addKingMoves(int king, List<Move> moves) {
        addMoves(king, QUEEN, false, moves);
        for (int direction : new int[] {1, -1}) {
            int next = king + direction;
            int two = king + 2 * direction;
            boolean free = now.castling.indexOf(colour(direction > 0 ? 'k' : 'q')) >= 0 && at(next) == '.' && at(two) == '.'
                    && (direction > 0 || at(king - 3) == '.');
            if (free && !attacked(king, !now.white) && !attacked(next, !now.white)) {
                moves.add(new Move(king, two, (char) 0));
            }
        }
    }
}
