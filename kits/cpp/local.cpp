// Plays a game against the bot without an arena: ./my_bot local [greedy|random|me]. No need to change this file.
//
// greedy (the default) takes the most valuable piece, random plays any move, and `me` asks you: e2e4.

#include <algorithm>
#include <cctype>
#include <chrono>
#include <iostream>
#include <map>
#include <random>

#include "board.hpp"
#include "guard.hpp"
#include "kit.hpp"

static const double CLOCK = 60; // seconds
static const double INCREMENT = 0.5;
static std::mt19937 generator{std::random_device{}()};

/// The game's end in words, or nothing. `times`: how often the position has been on the board.
static std::string end_of(Board& board, int times) {
    if (board.legal_moves().empty()) {
        return board.in_check() ? "checkmate" : "stalemate";
    }
    return times == 3 ? "threefold repetition" : board.halfmoves() >= 100 ? "fifty moves" : "";
}

static Move program_move(Board& board, bool greedy) {
    std::vector<Move> moves = board.legal_moves();
    std::shuffle(moves.begin(), moves.end(), generator);
    const std::string values = ".pnbrqk";
    const auto gain = [&](const Move& move) { return values.find(static_cast<char>(std::tolower(board.at(move.to)))); };
    const auto less = [&gain](const Move& one, const Move& other) { return gain(one) < gain(other); };
    return greedy ? *std::max_element(moves.begin(), moves.end(), less) : moves[0];
}

static std::string person_move(const std::vector<std::string>& moves) {
    std::string move;
    while (std::cout << "Your move: " << std::flush, std::getline(std::cin, move)) {
        if (std::find(moves.begin(), moves.end(), move) != moves.end()) {
            return move;
        }
        std::cout << "Not a legal move. Legal:";
        for (const std::string& legal : moves) {
            std::cout << " " << legal;
        }
        std::cout << "\n";
    }
    return "";
}

int local(const std::vector<std::string>& arguments) {
    const std::string opponent = arguments.empty() ? "greedy" : arguments[0];
    if (opponent != "greedy" && opponent != "random" && opponent != "me") {
        std::cerr << "against whom? ./my_bot local greedy, random or me; the game is chess\n";
        return 1;
    }
    Guard guard;
    Board board;
    std::map<std::string, int> seen;
    const bool bot_is_white = generator() % 2 == 0;
    double own = CLOCK;
    std::string end;
    std::cout << "my_bot is " << (bot_is_white ? "white (capital letters)" : "black (small letters)") << std::endl;
    for (int ply = 0; end.empty(); ply++) {
        std::map<std::string, Move> legal;
        std::vector<std::string> moves;
        for (const Move& move : board.legal_moves()) {
            legal[move.text()] = move;
            moves.push_back(move.text());
        }
        std::string move;
        if (board.white_to_move() == bot_is_white) {
            const auto began = std::chrono::steady_clock::now();
            const Guard::Choice choice = guard.choose("chess", board.fen(), own, CLOCK, INCREMENT, moves);
            own += INCREMENT - std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
            move = choice.move;
            if (!choice.problem.empty()) {
                std::cout << "Move " << ply / 2 + 1 << ": " << choice.text() << std::endl;
                guard.restart();
            }
        } else {
            move = opponent == "me" ? person_move(moves) : program_move(board, opponent == "greedy").text();
        }
        if (move.empty()) {
            std::cout << "\nStopped.\n";
            return 0;
        }
        std::cout << "\n" << ply / 2 + 1 << ". " << (board.white_to_move() ? "" : "... ") << move << "\n";
        board.make(legal[move]);
        std::cout << board.text() << std::endl;
        const std::vector<std::string> fields = words(board.fen());
        end = end_of(board, ++seen[fields[0] + fields[1] + fields[2] + fields[3]]);
    }
    const std::string winner = board.white_to_move() == bot_is_white ? "my_bot loses" : "my_bot wins";
    std::cout << "\n" << (board.is_checkmate() ? winner : "a draw") << ": " << end << std::endl;
    return 0;
}
