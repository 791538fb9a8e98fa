#pragma once

#include <sstream>
#include <string>
#include <vector>

/// The words of a text, which are separated by spaces.
inline std::vector<std::string> words(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
        words.push_back(word);
    }
    return words;
}

inline std::vector<std::string> split(const std::string& text, char separator) {
    std::istringstream in(text);
    std::vector<std::string> fields;
    for (std::string field; std::getline(in, field, separator);) {
        fields.push_back(field);
    }
    return fields;
}

/// These words from the one at this index on, separated by spaces.
inline std::string rest(const std::vector<std::string>& words, size_t at = 0) {
    std::string text;
    for (; at < words.size(); at++) {
        text += (text.empty() ? "" : " ") + words[at];
    }
    return text;
}

/// The name by which this program was started.
extern std::string program;

// The commands of main.cpp.
int client(const std::vector<std::string>& arguments);
int local(const std::vector<std::string>& arguments);
int test();
int worker();
