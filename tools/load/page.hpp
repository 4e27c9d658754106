// Owns: a run as one HTML page: its figures and its plots, with nothing fetched from anywhere.
#pragma once

#include <string>

#include "drive.hpp"
#include "support/report.hpp"

namespace holdfast::load {

std::string page(const std::string& command, const Driven& driven, const tools::Report& figures);
/// As `folder`/index.html; makes the folder. Throws runtime_error with a sentence.
void write_page(const std::string& folder, const std::string& html);

}  // namespace holdfast::load
