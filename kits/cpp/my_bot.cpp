// Your bot. Only this file is yours to change; README.md explains the others.
//
// Try it: g++ -std=c++17 -O2 -g -Wall -o my_bot *.cpp, ./my_bot test, then ./my_bot local, then ./my_bot client NAME.

#include "my_bot.hpp"

#include <cctype>
#include <random>

static std::mt19937 generator{std::random_device{}()};

/// The pieces of the side to move, less those of the other side.
static int material(const Board& board) {
    int sum = 0;
    for (int square = 0; square < 64; square++) {
        const char piece = board.at(square);
        int value = 0;
        switch (std::tolower(piece)) {
        case 'p': value = 1; break;
        case 'n':
        case 'b': value = 3; break;
        case 'r': value = 5; break;
        case 'q': value = 9; break;
        }
        const bool is_white = std::isupper(piece);
        sum += is_white == board.white_to_move() ? value : -value;
    }
    return sum;
}

/// The value of the position for the side to move after its best move.
static int best_reply(Board& board) {
    const std::vector<Move> moves = board.legal_moves();
    if (moves.empty()) {
        return board.in_check() ? -1000 : 0; // checkmate or stalemate
    }
    int best = -1000;
    for (const Move& move : moves) {
        board.make(move);
        best = std::max(best, board.is_checkmate() ? 1000 : -material(board));
        board.undo();
    }
    return best;
}

/// Chooses a move in a game of chess.
///
/// board: the position; board.hpp shows what it can do.
/// clock: seconds. clock.own and clock.opponent are left for the game, clock.increment is added after each move. After
///     clock.limit a random move is played instead of yours.
Move choose_move(Board& board, const Clock& clock) {
    Move best;
    double best_score = -1e9;
    for (const Move& move : board.legal_moves()) {
        board.make(move);
        // Chance decides between equal moves.
        const double score = -best_reply(board) + std::uniform_real_distribution<>(0, 0.1)(generator);
        board.undo();
        if (score > best_score) {
            best = move;
            best_score = score;
        }
    }
    return best;
}

/// Chooses a move in any other game of the arena, such as atomic chess: one of position.moves.
std::string choose_move(const Position& position, const Clock& clock) {
    return position.moves[std::uniform_int_distribution<size_t>(0, position.moves.size() - 1)(generator)];
}
