using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

/// A move from one square to another. Promotion is 'q', 'r', 'b', 'n', or '\0' for other moves.
public struct Move {
    public readonly int From;
    public readonly int To;
    public readonly char Promotion;

    public Move(int from, int to, char promotion = '\0') {
        From = from;
        To = to;
        Promotion = promotion;
    }

    /// The move in coordinates, such as e2e4 or e7e8q.
    public override string ToString() {
        return Board.Name(From) + Board.Name(To) + (Promotion == '\0' ? "" : Promotion.ToString());
    }
}

/// A chess position. Squares are numbers: a1 is 0, b1 is 1, h8 is 63.
/// Pieces are letters: white PNBRQK, black pnbrqk, and '.' for an empty square.
public class Board {
    public const string Start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    /// All that a move changes. Make() stores a copy, Undo() returns to it.
    struct State {
        public char[] Squares;
        public bool White;
        public string Castling;
        public int EnPassant;
        public int Halfmoves;
        public int Fullmoves;
    }

    static readonly int[][] Rook = { new[] {1, 0}, new[] {-1, 0}, new[] {0, 1}, new[] {0, -1} };
    static readonly int[][] Bishop = { new[] {1, 1}, new[] {1, -1}, new[] {-1, 1}, new[] {-1, -1} };
    static readonly int[][] Queen = Rook.Concat(Bishop).ToArray();
    static readonly int[][] Knight = {
        new[] {1, 2}, new[] {2, 1}, new[] {2, -1}, new[] {1, -2}, new[] {-1, -2}, new[] {-2, -1}, new[] {-2, 1}, new[] {-1, 2},
    };
    static readonly int[][] WhitePawn = { new[] {1, 1}, new[] {-1, 1} };
    static readonly int[][] BlackPawn = { new[] {1, -1}, new[] {-1, -1} };

    /// Castling rights that a move from or to the square ends.
    static readonly string[] Lost = ("Q,,,,KQ,,,K" + new string(',', 49) + "q,,,,kq,,,k").Split(',');

    State now;
    readonly Stack<State> past = new Stack<State>();

    public Board(string fen = Start) {
        var fields = fen.Split(' ');
        now.Squares = new string('.', 64).ToCharArray();
        var square = 56;
        foreach (var letter in fields[0]) {
            if (letter == '/') {
                square -= 16;
            } else if (char.IsDigit(letter)) {
                square += letter - '0';
            } else {
                now.Squares[square++] = letter;
            }
        }
        now.White = fields[1] == "w";
        now.Castling = fields[2];
        now.EnPassant = fields[3] == "-" ? -1 : (fields[3][1] - '1') * 8 + fields[3][0] - 'a';
        now.Halfmoves = fields.Length > 4 ? int.Parse(fields[4]) : 0;
        now.Fullmoves = fields.Length > 5 ? int.Parse(fields[5]) : 1;
    }

    public string Fen() {
        var rows = ToString().Replace(" ", "").Replace("\n", "/");
        for (var empty = 8; empty > 0; empty--) {
            rows = rows.Replace(new string('.', empty), empty.ToString());
        }
        var enPassant = now.EnPassant < 0 ? "-" : Name(now.EnPassant);
        return rows + (now.White ? " w " : " b ") + now.Castling + " " + enPassant + " " + now.Halfmoves + " " + now.Fullmoves;
    }

    /// The board as text, a line for each rank.
    public override string ToString() {
        var text = new StringBuilder();
        for (var rank = 7; rank >= 0; rank--) {
            for (var file = 0; file < 8; file++) {
                text.Append(At(rank * 8 + file)).Append(file < 7 ? " " : rank > 0 ? "\n" : "");
            }
        }
        return text.ToString();
    }

    public static string Name(int square) {
        return "" + (char) ('a' + square % 8) + (char) ('1' + square / 8);
    }

    /// The piece on a square, or '.'
    public char At(int square) {
        return now.Squares[square];
    }

    public bool WhiteToMove { get { return now.White; } }

    /// Plies since the last capture or pawn move; the game is drawn at 100.
    public int Halfmoves { get { return now.Halfmoves; } }

    public bool IsCapture(Move move) {
        return At(move.To) != '.' || char.ToUpper(At(move.From)) == 'P' && move.To == now.EnPassant;
    }

    /// Returns whether the side to move is in check.
    public bool InCheck() {
        return Attacked(King(now.White), !now.White);
    }

    public bool IsCheckmate() {
        return InCheck() && LegalMoves().Count == 0;
    }

    public List<Move> LegalMoves() {
        var legal = new List<Move>();
        foreach (var move in PseudoLegalMoves()) {
            Make(move);
            if (!Attacked(King(!now.White), now.White)) {
                legal.Add(move);
            }
            Undo();
        }
        return legal;
    }

    /// Plays a legal move. Undo() takes it back.
    public void Make(Move move) {
        past.Push(now);
        var piece = At(move.From);
        var pawn = char.ToUpper(piece) == 'P';
        var behind = move.To + (now.White ? -8 : 8); // the square behind the move's end
        now.Halfmoves = pawn || IsCapture(move) ? 0 : now.Halfmoves + 1;
        now.Fullmoves += now.White ? 0 : 1;
        now.Squares = (char[]) now.Squares.Clone();
        if (pawn && move.To == now.EnPassant) {
            now.Squares[behind] = '.';
        }
        now.Squares[move.From] = '.';
        now.Squares[move.To] = move.Promotion == '\0' ? piece : Colour(move.Promotion);
        if (char.ToUpper(piece) == 'K' && Math.Abs(move.To - move.From) == 2) {
            now.Squares[move.To > move.From ? move.To + 1 : move.To - 2] = '.';
            now.Squares[(move.From + move.To) / 2] = Colour('r');
        }
        now.EnPassant = pawn && Math.Abs(move.To - move.From) == 16 ? behind : -1;
        foreach (var lost in Lost[move.From] + Lost[move.To]) {
            now.Castling = now.Castling.Replace(lost.ToString(), "");
        }
        now.Castling = now.Castling == "" ? "-" : now.Castling;
        now.White = !now.White;
    }

    public void Undo() {
        now = past.Pop();
    }

    char Colour(char letter) {
        return now.White ? char.ToUpper(letter) : letter;
    }

    static bool IsOf(char piece, bool white) {
        return piece != '.' && char.IsUpper(piece) == white;
    }

    int King(bool white) {
        return Array.IndexOf(now.Squares, white ? 'K' : 'k');
    }

    /// The square one step from here, or -1 beyond the edge.
    static int Step(int square, int[] direction) {
        var file = square % 8 + direction[0];
        var rank = square / 8 + direction[1];
        return file < 0 || file > 7 || rank < 0 || rank > 7 ? -1 : rank * 8 + file;
    }

    /// Returns whether a piece of this colour attacks the square.
    bool Attacked(int square, bool byWhite) {
        return square >= 0 && (Reaches(square, Knight, false, byWhite, "N") || Reaches(square, Queen, false, byWhite, "K")
            || Reaches(square, Rook, true, byWhite, "RQ") || Reaches(square, Bishop, true, byWhite, "BQ")
            || Reaches(square, byWhite ? BlackPawn : WhitePawn, false, byWhite, "P"));
    }

    bool Reaches(int square, int[][] directions, bool slides, bool byWhite, string pieces) {
        foreach (var direction in directions) {
            var next = Step(square, direction);
            while (slides && next >= 0 && At(next) == '.') {
                next = Step(next, direction);
            }
            if (next >= 0 && IsOf(At(next), byWhite) && pieces.IndexOf(char.ToUpper(At(next))) >= 0) {
                return true;
            }
        }
        return false;
    }

    /// All moves by the pieces' rules; some may leave the own king in check.
    List<Move> PseudoLegalMoves() {
        var moves = new List<Move>();
        for (var from = 0; from < 64; from++) {
            if (IsOf(At(from), now.White)) {
                switch (char.ToUpper(At(from))) {
                    case 'P': AddPawnMoves(from, moves); break;
                    case 'N': AddMoves(from, Knight, false, moves); break;
                    case 'B': AddMoves(from, Bishop, true, moves); break;
                    case 'R': AddMoves(from, Rook, true, moves); break;
                    case 'Q': AddMoves(from, Queen, true, moves); break;
                    default: AddKingMoves(from, moves); break;
                }
            }
        }
        return moves;
    }

    void AddMoves(int from, int[][] directions, bool slides, List<Move> moves) {
        foreach (var direction in directions) {
            var to = Step(from, direction);
            while (to >= 0 && !IsOf(At(to), now.White)) {
                moves.Add(new Move(from, to));
                to = slides && At(to) == '.' ? Step(to, direction) : -1;
            }
        }
    }

    void AddPawnMoves(int from, List<Move> moves) {
        var forward = now.White ? 1 : -1;
        var one = Step(from, new[] {0, forward});
        if (one >= 0 && At(one) == '.') {
            AddPawnMove(from, one, moves);
            if (from / 8 == (now.White ? 1 : 6) && At(one + 8 * forward) == '.') {
                moves.Add(new Move(from, one + 8 * forward));
            }
        }
        foreach (var direction in now.White ? WhitePawn : BlackPawn) {
            var to = Step(from, direction);
            if (to >= 0 && (to == now.EnPassant || IsOf(At(to), !now.White))) {
                AddPawnMove(from, to, moves);
            }
        }
    }

    static void AddPawnMove(int from, int to, List<Move> moves) {
        foreach (var promotion in to / 8 == 0 || to / 8 == 7 ? "qrbn" : "\0") {
            moves.Add(new Move(from, to, promotion));
        }
    }

    void AddKingMoves(int king, List<Move> moves) {
        AddMoves(king, Queen, false, moves);
        foreach (var direction in new[] {1, -1}) {
            var (next, two) = (king + direction, king + 2 * direction);
            var allowed = now.Castling.IndexOf(Colour(direction > 0 ? 'k' : 'q')) >= 0;
            var free = allowed && At(next) == '.' && At(two) == '.' && (direction > 0 || At(king - 3) == '.');
            if (free && !Attacked(king, !now.White) && !Attacked(next, !now.White)) {
                moves.Add(new Move(king, two));
            }
        }
    }
}
