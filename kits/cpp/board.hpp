#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

inline std::string square_name(int square) {
    return {static_cast<char>('a' + square % 8), static_cast<char>('1' + square / 8)};
}

/// A move from one square to another. `promotion` is 'q', 'r', 'b', 'n', or 0 for other moves.
struct Move {
    int from = 0;
    int to = 0;
    char promotion = 0;

    /// The move in coordinates, such as e2e4 or e7e8q.
    std::string text() const {
        return square_name(from) + square_name(to) + (promotion ? std::string(1, promotion) : "");
    }
};

/// A chess position. Squares are numbers: a1 is 0, b1 is 1, h8 is 63.
/// Pieces are letters: white PNBRQK, black pnbrqk, and '.' for an empty square.
class Board {
public:
    static constexpr const char* START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    explicit Board(const std::string& fen = START) {
        std::string rows, side, en_passant;
        std::istringstream(fen) >> rows >> side >> now.castling >> en_passant >> now.halfmoves >> now.fullmoves;
        now.squares.fill('.');
        int square = 56;
        for (char letter : rows) {
            if (letter == '/') {
                square -= 16;
            } else if (std::isdigit(letter)) {
                square += letter - '0';
            } else {
                now.squares.at(square++) = letter;
            }
        }
        now.white = side == "w";
        now.en_passant = en_passant.size() == 2 ? (en_passant[1] - '1') * 8 + en_passant[0] - 'a' : -1;
    }

    std::string fen() const {
        std::string rows;
        for (char letter : text()) {
            if (letter == '.' && !rows.empty() && std::isdigit(rows.back())) {
                rows.back()++;
            } else if (letter != ' ') {
                rows += letter == '.' ? '1' : letter == '\n' ? '/' : letter;
            }
        }
        return rows + (now.white ? " w " : " b ") + now.castling + " " + (now.en_passant < 0 ? "-" : square_name(now.en_passant)) +
               " " + std::to_string(now.halfmoves) + " " + std::to_string(now.fullmoves);
    }

    /// The board as text, a line for each rank.
    std::string text() const {
        std::string text;
        for (int rank = 7; rank >= 0; rank--) {
            for (int file = 0; file < 8; file++) {
                text += at(rank * 8 + file);
                text += file < 7 ? " " : rank > 0 ? "\n" : "";
            }
        }
        return text;
    }

    /// The piece on a square, or '.'
    char at(int square) const { return now.squares[square]; }
    bool white_to_move() const { return now.white; }
    /// Plies since the last capture or pawn move; the game is drawn at 100.
    int halfmoves() const { return now.halfmoves; }

    bool is_capture(const Move& move) const {
        return at(move.to) != '.' || (kind(at(move.from)) == 'P' && move.to == now.en_passant);
    }

    /// Returns whether the side to move is in check.
    bool in_check() const { return attacked(king(now.white), !now.white); }
    bool is_checkmate() { return in_check() && legal_moves().empty(); }

    std::vector<Move> legal_moves() {
        std::vector<Move> legal;
        for (const Move& move : pseudo_legal_moves()) {
            make(move);
            if (!attacked(king(!now.white), now.white)) {
                legal.push_back(move);
            }
            undo();
        }
        return legal;
    }

    /// Plays a legal move. undo() takes it back.
    void make(const Move& move) {
        past.push_back(now);
        const char piece = at(move.from);
        const bool pawn = kind(piece) == 'P';
        const int behind = move.to + (now.white ? -8 : 8); // the square behind the move's end
        now.halfmoves = pawn || is_capture(move) ? 0 : now.halfmoves + 1;
        now.fullmoves += now.white ? 0 : 1;
        if (pawn && move.to == now.en_passant) {
            now.squares[behind] = '.';
        }
        now.squares[move.from] = '.';
        now.squares[move.to] = move.promotion ? colour(move.promotion) : piece;
        if (kind(piece) == 'K' && std::abs(move.to - move.from) == 2) {
            now.squares[move.to > move.from ? move.to + 1 : move.to - 2] = '.';
            now.squares[(move.from + move.to) / 2] = colour('r');
        }
        now.en_passant = pawn && std::abs(move.to - move.from) == 16 ? behind : -1;
        forbid_castling(move.from);
        forbid_castling(move.to);
        now.white = !now.white;
    }

    void undo() {
        now = past.back();
        past.pop_back();
    }

private:
    /// All that a move changes. make() stores a copy, undo() returns to it.
    struct State {
        std::array<char, 64> squares;
        bool white = true;
        std::string castling = "-";
        int en_passant = -1;
        int halfmoves = 0;
        int fullmoves = 1;
    };
    using Directions = std::vector<std::array<int, 2>>;

    inline static const Directions ROOK = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    inline static const Directions BISHOP = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    inline static const Directions QUEEN = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    inline static const Directions KNIGHT = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
    inline static const Directions WHITE_PAWN = {{1, 1}, {-1, 1}};
    inline static const Directions BLACK_PAWN = {{1, -1}, {-1, -1}};

    State now;
    std::vector<State> past;

    static char kind(char piece) { return static_cast<char>(std::toupper(piece)); }
    char colour(char letter) const { return now.white ? kind(letter) : letter; }
    static bool is_of(char piece, bool white) { return piece != '.' && (std::isupper(piece) != 0) == white; }
    bool own(int square) const { return is_of(at(square), now.white); }

    /// Ends the castling rights of the king or rook that starts on this square.
    void forbid_castling(int square) {
        for (const auto& [from, lost] : {std::pair{4, 'K'}, {7, 'K'}, {4, 'Q'}, {0, 'Q'}, {60, 'k'}, {63, 'k'}, {60, 'q'}, {56, 'q'}}) {
            if (from == square) {
                now.castling.erase(std::remove(now.castling.begin(), now.castling.end(), lost), now.castling.end());
            }
        }
        if (now.castling.empty()) {
            now.castling = "-";
        }
    }

    int king(bool white) const {
        auto found = std::find(now.squares.begin(), now.squares.end(), white ? 'K' : 'k');
        return found == now.squares.end() ? -1 : static_cast<int>(found - now.squares.begin());
    }

    /// The square one step from here, or -1 beyond the edge.
    static int step(int square, const std::array<int, 2>& direction) {
        const int file = square % 8 + direction[0];
        const int rank = square / 8 + direction[1];
        return file < 0 || file > 7 || rank < 0 || rank > 7 ? -1 : rank * 8 + file;
    }

    /// Returns whether a piece of this colour attacks the square.
    bool attacked(int square, bool by_white) const {
        return square >= 0 && (reaches(square, KNIGHT, false, by_white, "N") || reaches(square, QUEEN, false, by_white, "K") ||
                               reaches(square, ROOK, true, by_white, "RQ") || reaches(square, BISHOP, true, by_white, "BQ") ||
                               reaches(square, by_white ? BLACK_PAWN : WHITE_PAWN, false, by_white, "P"));
    }

    bool reaches(int square, const Directions& directions, bool slides, bool by_white, const std::string& pieces) const {
        for (const auto& direction : directions) {
            int next = step(square, direction);
            while (slides && next >= 0 && at(next) == '.') {
                next = step(next, direction);
            }
            if (next >= 0 && is_of(at(next), by_white) && pieces.find(kind(at(next))) != std::string::npos) {
                return true;
            }
        }
        return false;
    }

    /// All moves by the pieces' rules; some may leave the own king in check.
    std::vector<Move> pseudo_legal_moves() const {
        std::vector<Move> moves;
        for (int from = 0; from < 64; from++) {
            if (own(from)) {
                switch (kind(at(from))) {
                case 'P': add_pawn_moves(from, moves); break;
                case 'N': add_moves(from, KNIGHT, false, moves); break;
                case 'B': add_moves(from, BISHOP, true, moves); break;
                case 'R': add_moves(from, ROOK, true, moves); break;
                case 'Q': add_moves(from, QUEEN, true, moves); break;
                default: add_king_moves(from, moves);
                }
            }
        }
        return moves;
    }

    void add_moves(int from, const Directions& directions, bool slides, std::vector<Move>& moves) const {
        for (const auto& direction : directions) {
            int to = step(from, direction);
            while (to >= 0 && !own(to)) {
                moves.push_back({from, to, 0});
                to = slides && at(to) == '.' ? step(to, direction) : -1;
            }
        }
    }

    void add_pawn_moves(int from, std::vector<Move>& moves) const {
        const int forward = now.white ? 1 : -1;
        const int one = step(from, {0, forward});
        if (one >= 0 && at(one) == '.') {
            add_pawn_move(from, one, moves);
            if (from / 8 == (now.white ? 1 : 6) && at(one + 8 * forward) == '.') {
                moves.push_back({from, one + 8 * forward, 0});
            }
        }
        for (const auto& direction : now.white ? WHITE_PAWN : BLACK_PAWN) {
            const int to = step(from, direction);
            if (to >= 0 && (to == now.en_passant || (at(to) != '.' && !own(to)))) {
                add_pawn_move(from, to, moves);
            }
        }
    }

    static void add_pawn_move(int from, int to, std::vector<Move>& moves) {
        for (char promotion : to / 8 == 0 || to / 8 == 7 ? std::string("qrbn") : std::string(1, 0)) {
            moves.push_back({from, to, promotion});
        }
    }

    void add_king_moves(int king, std::vector<Move>& moves) const {
        add_moves(king, QUEEN, false, moves);
        for (int direction : {1, -1}) {
            const int next = king + direction;
            const int two = king + 2 * direction;
            const bool allowed = now.castling.find(colour(direction > 0 ? 'k' : 'q')) != std::string::npos;
            const bool free = allowed && at(next) == '.' && at(two) == '.' && (direction > 0 || at(king - 3) == '.');
            if (free && !attacked(king, !now.white) && !attacked(next, !now.white)) {
                moves.push_back({king, two, 0});
            }
        }
    }
};
