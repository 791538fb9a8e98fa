// Commands of the program. No need to change this file.

#include <algorithm>
#include <iostream>

#include "kit.hpp"

std::string program;

int main(int count, char** values) {
    program = values[0];
    const std::string command = count > 1 ? values[1] : "";
    const std::vector<std::string> arguments(values + std::min(count, 2), values + count);
    if (command == "test") {
        return test();
    }
    if (command == "local") {
        return local(arguments);
    }
    if (command == "client") {
        return client(arguments);
    }
    if (command == "worker") {
        return worker();
    }
    std::cerr << "usage: ./my_bot test | local [greedy|random|me] | client NAME [KEY] | worker\n";
    return 2;
}
