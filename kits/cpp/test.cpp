// Asks the bot for its move in each position of positions.txt: ./my_bot test. Add positions of your own there.

#include <algorithm>
#include <fstream>
#include <iostream>

#include "board.hpp"
#include "guard.hpp"
#include "kit.hpp"

static const double SECONDS = 10; // on the clock; a move may take half of it

static bool has(const std::vector<std::string>& moves, const std::string& move) {
    return std::find(moves.begin(), moves.end(), move) != moves.end();
}

/// Returns the legal moves, or none if this is not a position.
static std::vector<std::string> legal_moves(const std::string& fen) {
    std::vector<std::string> moves;
    try {
        for (const Move& move : Board(fen).legal_moves()) {
            moves.push_back(move.text());
        }
    } catch (const std::out_of_range&) {
        // more squares than a board has
    }
    return moves;
}

int test() {
    std::ifstream file("positions.txt");
    if (!file) {
        std::cerr << "positions.txt is missing; run this in the folder of the kit\n";
        return 1;
    }
    Guard guard;
    int failed = 0;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        number++;
        if (words(line).empty() || line[0] == '#') {
            continue;
        }
        const std::vector<std::string> fields = split(line, '|'); // name | position | good moves
        const std::vector<std::string> good = words(fields.size() > 2 ? fields[2] : "");
        const std::vector<std::string> legal = good.empty() ? good : legal_moves(fields[1]);
        if (legal.empty()) {
            std::cerr << "positions.txt, line " << number << ": expected `name | FEN | moves that pass`\n";
            return 1;
        }
        for (const std::string& move : good) {
            if (!has(legal, move)) {
                std::cerr << "positions.txt, line " << number << ": '" << move
                          << "' is not legal there; write moves such as e2e4\n";
                return 1;
            }
        }
        const std::string fen = fields[1].substr(fields[1].find_first_not_of(' '));
        const Guard::Choice choice = guard.choose("chess", fen, SECONDS, SECONDS, 0, legal);
        const bool passed = choice.problem.empty() && has(good, choice.move);
        std::cout << (passed ? "ok    " : "FAIL  ") << fields[0].substr(0, fields[0].find_last_not_of(' ') + 1) << ": "
                  << choice.text() << (passed || !choice.problem.empty() ? "" : "; good:" + fields[2]) << std::endl;
        failed += !passed;
        if (!choice.problem.empty()) {
            guard.restart();
        }
    }
    if (failed > 0) {
        std::cerr << failed << " failed\n";
    }
    return failed > 0;
}
