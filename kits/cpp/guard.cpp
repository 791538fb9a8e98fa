// No need to change this file.

#include "guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>

#include "kit.hpp"

static const char* const COMPILE = "g++ -std=c++17 -O2 -g -Wall -o my_bot *.cpp";
static const double MARGIN = 0.4; // seconds of the clock: half to wait for the worker's reason, half for the way to the arena
static const int SHORT = 1; // seconds of the clock; with less, a worker that replaces another gets no move
static const std::string ERROR = "error: ";

/// The seconds that a move may take: half of the clock is left if choose_move never returns.
static double time_limit(double own, double increment) {
    return std::max(own / 2, std::min(own / 2 + increment, own - MARGIN));
}

/// Returns the innermost of these addresses that is in a file of the bot, such as "line 12 of my_bot.cpp (in choose_move)".
static std::string place(const std::string& addresses) {
    FILE* lines = popen(("addr2line -f -C -i -e '" + program + "' " + addresses + " 2>/dev/null").c_str(), "r");
    std::string found;
    char function[4096];
    char file[4096];
    while (lines && std::fgets(function, sizeof function, lines) && std::fgets(file, sizeof file, lines)) {
        const std::string path = words(file).empty() ? "" : words(file)[0];
        const size_t name = path.rfind('/') + 1;
        const size_t colon = path.rfind(':');
        const bool own = path[0] == '/' && path.rfind("/usr/", 0) != 0 && path.find("/worker.cpp:") == std::string::npos;
        if (own && found.empty()) {
            const std::string caller(function, std::strcspn(function, "([\n"));
            found = "line " + path.substr(colon + 1) + " of " + path.substr(name, colon - name) + " (in " + caller + ")";
        }
    }
    if (lines) {
        pclose(lines);
    }
    return found;
}

std::string Guard::Choice::text() const {
    if (problem.empty()) {
        return move;
    }
    const std::vector<std::string> parts = split(problem, '\t');
    const std::string where = parts.size() > 1 ? place(parts[1]) : "";
    return parts[0] + (where.empty() ? "" : ", at " + where) + "; played " + move + " instead";
}

Guard::Guard() {
    std::error_code missing;
    const auto built = std::filesystem::last_write_time(program, missing);
    for (const auto& file : std::filesystem::directory_iterator(".")) {
        const std::string name = file.path().filename().string();
        const bool is_source = file.path().extension() == ".cpp" || file.path().extension() == ".hpp";
        if (is_source && !missing && file.last_write_time() > built) {
            std::fprintf(stderr, "%s is newer than %s: compile it first (%s)\n", name.c_str(), program.c_str(), COMPILE);
            std::exit(1);
        }
    }
    start();
}

Guard::Choice Guard::choose(const std::string& kind, const std::string& fen, double own, double opponent, double increment,
                            const std::vector<std::string>& moves) {
    static std::mt19937 generator{std::random_device{}()};
    const std::string& move = moves[std::uniform_int_distribution<size_t>(0, moves.size() - 1)(generator)];
    if (is_replacement && own < SHORT) {
        return {move, "less than " + std::to_string(SHORT) + " s is left after a mistake"};
    }
    is_replacement = false;
    const double limit = time_limit(own, increment);
    std::ostringstream request;
    request << kind << '\t' << fen;
    for (double seconds : {own, opponent, increment}) {
        request << '\t' << static_cast<long>(seconds * 1000);
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto end = std::chrono::duration_cast<std::chrono::milliseconds>(now + std::chrono::duration<double>(limit));
    request << '\t' << rest(moves) << '\t' << end.count() << '\n';
    if (write(requests, request.str().data(), request.str().size()) < 0) {
        // The worker has ended, and so have its answers.
    }
    std::string answer;
    const bool in_time = read_answer(limit + std::min(0.5, (own - limit) / 2), answer);
    if (std::find(moves.begin(), moves.end(), answer) != moves.end()) {
        return {answer, ""};
    }
    if (answer.rfind(ERROR, 0) == 0) {
        return {move, answer.substr(ERROR.size())};
    }
    if (in_time) {
        const int status = stop();
        const bool killed = WIFSIGNALED(status);
        return {move, "the program that runs choose_move ended " + std::string(killed ? "by signal " : "with code ") +
                          std::to_string(killed ? WTERMSIG(status) : WEXITSTATUS(status))};
    }
    char late[64];
    std::snprintf(late, sizeof late, "choose_move took longer than %.1f s", limit);
    return {move, late};
}

/// Reads a line of the worker. Returns false if the time ends before the line, or before the worker.
bool Guard::read_answer(double seconds, std::string& answer) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(static_cast<long>(seconds * 1000));
    std::string text;
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd waiting = {answers, POLLIN, 0};
        char part[4096];
        if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) {
            return false;
        }
        const ssize_t count = read(answers, part, sizeof part);
        text.append(part, std::max<ssize_t>(count, 0));
        if (count <= 0 || text.find('\n') != std::string::npos) {
            answer = text.substr(0, text.find('\n'));
            return true;
        }
    }
}

void Guard::start() {
    std::signal(SIGPIPE, SIG_IGN); // a worker that has ended shows in its answers
    int to[2];
    int from[2];
    if (pipe(to) != 0 || pipe(from) != 0 || (child = fork()) < 0) {
        std::perror("cannot start the worker");
        std::exit(1);
    }
    if (child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        for (int end : {to[0], to[1], from[0], from[1]}) {
            close(end);
        }
        execlp(program.c_str(), program.c_str(), "worker", nullptr);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    requests = to[1];
    answers = from[0];
    fcntl(requests, F_SETFD, FD_CLOEXEC);
    fcntl(answers, F_SETFD, FD_CLOEXEC);
}

/// Returns how the worker has ended.
int Guard::stop() {
    if (child < 0) {
        return 0;
    }
    int status = 0;
    pollfd ended = {answers, 0, 0};
    if (poll(&ended, 1, 0) == 0) {
        kill(child, SIGKILL);
    }
    waitpid(child, &status, 0);
    close(requests);
    close(answers);
    child = -1;
    return status;
}
