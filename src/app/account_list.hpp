// Owns: how the sending accounts are listed for a person: a table that fits a terminal, and below
// it the sentences that would not.
#pragma once

#include <string>
#include <vector>

#include <boost/json/value.hpp>

namespace holdfast::app {

/// The lines of what GET /v1/accounts answers.
std::vector<std::string> account_lines(const boost::json::value& body);

}  // namespace holdfast::app
