// holdfast-sim: years of crashes before breakfast. Each seed is a life of some thirty payments,
// with everything that can go wrong; the same seed is the same life.
#include <iostream>

#include <holdfast/sqlite/sqlite.hpp>

#include "campaign.hpp"
#include "options.hpp"
#include "teeth.hpp"

int main(int argc, char** argv) {
  using namespace holdfast::campaign;
  int exit_code = 0;
  const auto command = read_command(argc, argv, exit_code);
  if (!command) return exit_code;
  const Orders& orders = command->orders;
  holdfast::sqlite::expect_one_thread();
  try {
    if (command->all_teeth) return try_teeth(orders);
    if (!orders.tooth.empty()) plant(orders.tooth);
    return orders.minimises ? minimise(orders) : run_campaign(orders);
  } catch (const std::exception& error) {
    std::cerr << "holdfast-sim: " << error.what() << '\n';
    return 1;
  }
}
