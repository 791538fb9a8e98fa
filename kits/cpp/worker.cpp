// Calls choose_move of my_bot.cpp: one line in, one line out. No need to change this file.
//
// The other commands start it. So can anything that speaks the `lines` protocol of Zeitnot. A line in has fields separated by tabs:
// game, position, own milliseconds, the opponent's, own increment, the legal moves separated by spaces, and optionally the
// Unix time in ms at which to give up. A line out is a move, or "error: " and the reason why there is none. If the reason ends in
// a tab and addresses in the program, they are those of the functions that were running; guard.cpp translates them.

#include <cxxabi.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
#ifdef __linux__
#include <link.h>
#include <ucontext.h>
#endif

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>

#include "kit.hpp"
#include "my_bot.hpp"

static const int MEMORY_MIB = 1024; // of the worker, where the system can limit it; raise it if you need more
static int answers = 1;
static char late[64]; // what to say when the time is up
static uintptr_t base = 0; // where the system has loaded the program
static uintptr_t fault = 0; // the instruction at which a signal came; the other addresses are behind a call

static void say(const char* text) {
    if (write(answers, text, std::strlen(text)) < 0) {
        _exit(1); // the client has ended
    }
}

/// Answers that there is no move, and where the program is, and ends it. Uses no memory of the program, which may be damaged.
[[noreturn]] static void give_up(const char* reason, const char* detail = "") {
    void* places[64];
    const int count = backtrace(places, 64);
    say("error: ");
    say(reason);
    say(detail);
    say("\t");
    for (int at = 1; at < count; at++) {
        const uintptr_t place = reinterpret_cast<uintptr_t>(places[at]);
        char address[32];
        std::snprintf(address, sizeof address, "0x%zx ", place - base - (place == fault ? 0 : 1));
        say(address);
    }
    say("\n");
    _exit(1);
}

static void on_signal(int signal, siginfo_t*, void* context) {
#if defined(__linux__) && defined(__x86_64__)
    fault = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
    fault = static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#else
    (void)context;
#endif
    if (signal == SIGALRM) {
        give_up(late);
    }
    give_up("the program that runs choose_move ended by signal: ", strsignal(signal));
}

/// Called for an exception that nothing catches, at the place that throws it.
static void on_exception() {
    const std::type_info* type = abi::__cxa_current_exception_type();
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc&) {
        char what[64];
        std::snprintf(what, sizeof what, "choose_move needed more than the %d MiB that it may use", MEMORY_MIB);
        give_up(what);
    } catch (const std::exception& error) {
        const char* name = abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr);
        std::string text = std::string(name ? name : type->name()) + ": " + error.what();
        std::replace_if(text.begin(), text.end(), [](unsigned char letter) { return std::iscntrl(letter); }, ' ');
        give_up("choose_move threw ", text.c_str());
    } catch (...) {
        give_up("choose_move threw something that is not a std::exception");
    }
}

/// Takes the client's pipes. What the bot prints goes to stderr instead, and it has no input.
static FILE* take_over_pipes() {
    FILE* requests = fdopen(dup(0), "r");
    answers = dup(1);
    dup2(2, 1);
    dup2(open("/dev/null", O_RDONLY), 0);
    return requests;
}

static void catch_mistakes() {
#ifdef __linux__
    dl_iterate_phdr([](dl_phdr_info* first, size_t, void*) { base = first->dlpi_addr; return 1; }, nullptr);
#endif
    static char stack[1 << 16]; // for a stack overflow
    stack_t other = {};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    for (int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        sigaction(signal, &action, nullptr);
    }
    std::signal(SIGINT, SIG_IGN); // Ctrl-C ends the client, which ends this
    std::set_terminate(on_exception);
    void* place;
    backtrace(&place, 1); // loads what it needs
    const rlim_t bytes = static_cast<rlim_t>(MEMORY_MIB) << 20;
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
}

static void set_alarm(long milliseconds) {
    itimerval timer = {};
    timer.it_value.tv_sec = milliseconds / 1000;
    timer.it_value.tv_usec = milliseconds % 1000 * 1000;
    setitimer(ITIMER_REAL, &timer, nullptr);
}

static std::string answer_to(const std::vector<std::string>& fields) {
    const Position position{fields.at(0), fields.at(1), words(fields.at(5))};
    long limit = std::stol(fields[2]);
    if (fields.size() > 6) {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const long left = std::stol(fields[6]) - std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
        limit = std::max(left, 1L);
    }
    const Clock clock{std::stol(fields[2]) / 1e3, std::stol(fields[3]) / 1e3, std::stol(fields[4]) / 1e3, limit / 1e3};
    if (fields.size() > 6) {
        std::snprintf(late, sizeof late, "choose_move took longer than %.1f s", clock.limit);
        set_alarm(limit);
    }
    std::string move;
    if (position.kind == "chess") {
        Board board(position.fen);
        move = choose_move(board, clock).text();
    } else {
        move = choose_move(position, clock);
    }
    set_alarm(0);
    if (std::find(position.moves.begin(), position.moves.end(), move) != position.moves.end()) {
        return move;
    }
    std::replace(move.begin(), move.end(), '\n', ' ');
    const std::string shown = move == Move().text() ? "an empty Move, a1a1" : "'" + move.substr(0, 60) + "'";
    return "error: choose_move returned " + shown + ", which is not legal here; legal moves: " + fields[5];
}

int worker() {
    FILE* requests = take_over_pipes();
    catch_mistakes();
    char* line = nullptr;
    size_t size = 0;
    while (getline(&line, &size, requests) > 0) {
        line[std::strcspn(line, "\r\n")] = 0;
        say((answer_to(split(line, '\t')) + "\n").c_str());
    }
    return 0;
}
