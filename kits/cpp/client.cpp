// Plays on an arena with choose_move of my_bot.cpp: ./my_bot client NAME [KEY]. No need to change this file.
//
// The protocol is text, one message a line; docs/arena.md of Zeitnot describes it.

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <utility>

#include "guard.hpp"
#include "kit.hpp"

static const int RETRY = 2; // seconds until the next try to reach the arena
static const int PATIENCE = 10; // seconds until a try fails

/// Messages of the arena on one connection.
struct Session {
    bool is_in = false;
    std::string last; // INFO
};

/// Reads settings.txt: lines `key = value`.
static std::map<std::string, std::string> read_settings() {
    std::map<std::string, std::string> settings;
    std::ifstream file("settings.txt");
    if (!file) {
        std::cerr << "settings.txt is missing; run this in the folder of the kit\n";
        std::exit(1);
    }
    for (std::string line; std::getline(file, line);) {
        const size_t equals = line.find('=');
        if (line[0] != '#' && equals != std::string::npos) {
            settings[rest(words(line.substr(0, equals)))] = rest(words(line.substr(equals + 1)));
        }
    }
    return settings;
}

static bool is_port(const std::string& text) {
    const bool is_number = !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string::npos;
    return is_number && std::stoi(text) <= 65535;
}

/// Returns a connection, or -1 and the reason.
static int connect_to(const std::string& host, const std::string& port, std::string& reason) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found)) {
        reason = gai_strerror(error);
        return -1;
    }
    int connection = -1;
    for (const addrinfo* at = found; at && connection < 0; at = at->ai_next) {
        connection = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        const timeval patience = {PATIENCE, 0};
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connect(connection, at->ai_addr, at->ai_addrlen) != 0) {
            reason = errno == EINPROGRESS ? "no answer within " + std::to_string(PATIENCE) + " s" : std::strerror(errno);
            close(connection);
            connection = -1;
        }
    }
    freeaddrinfo(found);
    return connection;
}

/// Enables TCP keep-alive, so that a connection that died silently ends. Closes it in the worker.
static void set_options(int connection) {
    const auto set = [connection](int level, int option, int value) {
        setsockopt(connection, level, option, &value, sizeof value); // works without it, too
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
    set(IPPROTO_TCP, TCP_KEEPIDLE, 20);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
#endif
    fcntl(connection, F_SETFD, FD_CLOEXEC);
}

/// Describes the end of a game for the player of this name.
static std::string outcome(const std::string& name, const std::pair<std::string, std::string>& players, const std::string& result) {
    const bool first = players.first == name;
    const std::string ended = result == "0.5-0.5" ? "drew" : (result == "1-0") == first ? "won" : "lost";
    return name + " " + ended + " against " + (first ? players.second : players.first);
}

/// Joins and plays until the connection ends, and closes it.
static Session play(int connection, Guard& guard, const std::string& name, const std::string& join) {
    Session session;
    std::string kind = "chess";
    std::vector<std::string> moves;
    std::pair<std::string, std::string> players; // first and second
    double increment = 0;
    int number = 0;
    set_options(connection);
    FILE* lines = fdopen(connection, "r");
    const auto send = [connection](const std::string& line) {
        if (write(connection, (line + "\n").data(), line.size() + 1) < 0) {
            std::perror("the arena"); // the next read sees the end
        }
    };
    send(join);
    char* buffer = nullptr;
    size_t size = 0;
    while (getline(&buffer, &size, lines) > 0) {
        const std::vector<std::string> word = words(buffer);
        const std::string message = word.empty() ? "" : word[0];
        if (message == "INFO") {
            session.last = rest(word, 1);
            session.is_in = session.is_in || session.last.rfind("You joined", 0) == 0;
            if (session.is_in && session.last.rfind("Game over: ", 0) != 0) { // GAME_OVER follows
                std::cout << session.last << std::endl;
            }
        } else if (message.rfind("HTTP/", 0) == 0) {
            session.last = "this is its WebSocket or web port; settings.txt needs its TCP port (8000 by default)";
        } else if (message == "GAME_PAIRED") { // game first second seconds increment
            increment = std::stod(word.at(5));
            send("ACK " + word[1]);
        } else if (message == "VARIANT") {
            kind = word.at(2);
        } else if (message == "GAME_STARTED") {
            number = 0;
            players = {word.at(2), word.at(3)};
            std::cout << "Game of " << kind << ": " << word.at(2) << " (first) against " << word.at(3) << std::endl;
        } else if (message == "LEGAL_MOVES") {
            moves.assign(word.begin() + 2, word.end());
        } else if (message == "YOUR_MOVE") { // game first second first's-seconds second's-seconds position
            const bool first = word.at(2) == name;
            const double own = std::stod(word.at(first ? 4 : 5));
            const double opponent = std::stod(word.at(first ? 5 : 4));
            const Guard::Choice choice = guard.choose(kind, rest(word, 6), own, opponent, increment, moves);
            send("MOVE " + word[1] + " " + choice.move);
            std::cout << "Move " << ++number << ": " << choice.text() << std::endl;
            if (!choice.problem.empty()) {
                guard.restart();
            }
        } else if (message == "GAME_OVER") { // game result reason
            std::cout << outcome(name, players, word.at(2)) << ": " << rest(word, 3) << std::endl;
        } else if (message == "GAME_ABORTED") {
            std::cout << "The game was aborted: " << rest(word, 1) << std::endl;
        }
    }
    free(buffer);
    fclose(lines);
    return session;
}

int client(const std::vector<std::string>& arguments) {
    std::map<std::string, std::string> settings = read_settings();
    const std::string name = arguments.size() > 0 ? arguments[0] : settings["name"];
    const std::string key = arguments.size() > 1 ? arguments[1] : settings["key"];
    if (words(name).size() != 1 || arguments.size() > 2) {
        std::cerr << "under which name? ./my_bot client NAME [KEY], or `name = ...` in settings.txt; a name has no spaces\n";
        return 1;
    }
    const std::string tournament = settings["tournament"];
    const std::string join = "JOIN " + tournament + " " + name + (key.empty() ? "" : " " + key) + " +moves +protocol=1";
    const std::string arena = settings["arena"].substr(settings["arena"].rfind('/') + 1); // tcp://HOST:PORT, too
    const size_t colon = arena.rfind(':');
    const std::string port = colon == std::string::npos ? "" : arena.substr(colon + 1);
    if (colon == 0 || !is_port(port) || words(tournament).size() != 1) {
        std::cerr << "settings.txt needs the lines `arena = HOST:PORT` and `tournament = NAME`; it has `arena = "
                  << settings["arena"] << "` and `tournament = " << tournament << "`\n";
        return 1;
    }
    Guard guard;
    bool was_in = false;
    while (true) {
        Session session;
        std::string reason;
        std::string problem;
        const int connection = connect_to(arena.substr(0, colon), port, reason);
        if (connection < 0) {
            problem = "Cannot reach the arena at " + arena + ": " + reason + ". Is it running, and is settings.txt right?";
        } else {
            session = play(connection, guard, name, join);
            const std::string hint = session.last.empty() ? " Is " + arena + " its TCP port (8000 by default)?" : "";
            problem = "The arena has closed the connection." + hint;
        }
        was_in = was_in || session.is_in;
        const auto says = [&session](const char* text) { return session.last.find(text) != std::string::npos; };
        const bool is_over = says(" is over");
        const bool may_retry = says("try again") || (was_in && says("already taken"));
        if (!session.last.empty() && !session.is_in) {
            if (!is_over && !may_retry) {
                std::cerr << "The arena does not let " << name << " in: " << session.last << std::endl;
                return 1;
            }
            std::cout << session.last << std::endl;
        }
        if (is_over) {
            return 0;
        }
        std::cout << problem << std::endl;
        std::cout << "Trying again in " << RETRY << " s; Ctrl-C stops." << std::endl;
        sleep(RETRY);
    }
}
