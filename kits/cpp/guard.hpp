#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

/// Asks the worker for moves, and plays a legal move where it has none in time. No need to change this file.
class Guard {
public:
    /// A legal move, and why it is not that of choose_move, or nothing.
    struct Choice {
        std::string move;
        std::string problem;

        std::string text() const;
    };

    Guard();
    ~Guard() { stop(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    /// Chooses one of these legal moves. Times are in seconds. After a problem, restart() must follow.
    Choice choose(const std::string& kind, const std::string& fen, double own, double opponent, double increment,
                  const std::vector<std::string>& moves);

    /// Replaces a worker that was late or failed by a new one.
    void restart() {
        if (!is_replacement) {
            stop();
            start();
            is_replacement = true;
        }
    }

private:
    pid_t child = -1;
    int requests = -1;
    int answers = -1;
    bool is_replacement = false; // of a worker that failed, and not asked yet

    void start();
    int stop();
    bool read_answer(double seconds, std::string& answer);
};
