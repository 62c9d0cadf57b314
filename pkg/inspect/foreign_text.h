#pragma once

// Text that somebody else wrote: names and kinds of owners, messages of events and servers, names
// of files. The API server restricts few of them, so a tenant can put escape sequences, line feeds
// or reversed text into what another person's terminal, spreadsheet or log shows.
//
// Hidden characters are: controls (C0, DEL, C1), separators of lines and paragraphs, annotations,
// and whatever Unicode calls "default ignorable": controls of the direction of text, characters
// without a width, fillers, tags. Pure functions; any thread.

#include <string>
#include <string_view>

namespace inspect {

// Returns the text as one line: each hidden character becomes a blank, and each byte that is not
// UTF-8 the replacement character.
std::string Harmless(std::string_view text);

// Returns a line of output: Harmless() with a line feed. Whatever prints a line uses it, so that
// foreign text cannot begin a line of its own.
std::string Line(std::string_view text);

// The last gate before a terminal or a pipe: like Harmless(), but keeps what output consists of,
// line ends ("\n", "\r\n") and the colours of tables.
std::string HarmlessOutput(std::string_view text);

// Returns the same document with hidden characters as escapes. REQUIRES: they stand only in quoted
// strings, as json::WritePretty() and config::WriteYaml() write them.
std::string HarmlessJson(std::string_view document);
std::string HarmlessYaml(std::string_view document);

}  // namespace inspect
