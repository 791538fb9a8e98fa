#pragma once

#include <string>
#include <vector>

#include "board.hpp"

/// Seconds. `own` and `opponent` are left for the game, `increment` is added after each move, and after `limit` a random move is
/// played.
struct Clock {
    double own;
    double opponent;
    double increment;
    double limit;
};

/// A position of a game other than chess: the game's name, the position as text, and the legal moves.
struct Position {
    std::string kind;
    std::string fen;
    std::vector<std::string> moves;
};

Move choose_move(Board& board, const Clock& clock);
std::string choose_move(const Position& position, const Clock& clock);
