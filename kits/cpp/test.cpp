// Asks the bot for its move in each position of positions.txt: ./my_bot test. Add positions of your own there.

#include <algorithm>
#include <fstream>
#include <iostream>

#include "guard.hpp"
#include "kit.hpp"

static const double SECONDS = 10; // on the clock; a move may take half of it

int test() {
    Guard guard;
    std::ifstream file("positions.txt");
    int failed = 0;
    for (std::string line; std::getline(file, line);) {
        const std::vector<std::string> fields = split(line, '|'); // name | position | good moves | legal moves
        if (line[0] == '#' || fields.size() != 4) {
            continue;
        }
        const std::string name = fields[0].substr(0, fields[0].size() - 1);
        const std::string fen = fields[1].substr(1);
        const std::vector<std::string> good = words(fields[2]);
        const Guard::Choice choice = guard.choose("chess", fen, SECONDS, SECONDS, 0, words(fields[3]));
        const bool passed = choice.problem.empty() && std::find(good.begin(), good.end(), choice.move) != good.end();
        std::cout << (passed ? "ok    " : "FAIL  ") << name << ": " << choice.text()
                  << (passed || !choice.problem.empty() ? "" : "; good:" + fields[2]) << std::endl;
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
