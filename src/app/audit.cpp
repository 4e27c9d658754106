// Owns: `holdfast ledger verify` and `holdfast audit [--chain]`.
// Must never: write to the store, or take a node's silence for a finding: it is an error of the
// run.
#include "store/audit.hpp"

#include <unistd.h>
#include <algorithm>
#include <cstdio>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "app/open_store.hpp"
#include "app/service.hpp"
#include "store/reads.hpp"

namespace holdfast::app {
namespace {

namespace json = boost::json;

constexpr std::size_t most_findings = 1'000;
constexpr std::size_t page = 200;

store::Progress progress_line(const char* what) {
  if (isatty(STDERR_FILENO) == 0) return {};
  return [what](std::uint64_t done, std::uint64_t all) {
    std::fprintf(stderr, "\r%s: %llu of %llu ", what, static_cast<unsigned long long>(done),
                 static_cast<unsigned long long>(all));
    if (done >= all) std::fputc('\n', stderr);
  };
}

int report(const store::AuditReport& found, bool as_json) {
  if (as_json) {
    json::array findings;
    for (const store::Finding& one : found.findings) {
      findings.push_back(
          {{"invariant", one.invariant}, {"subject", one.subject}, {"sentence", one.sentence}});
    }
    std::printf("%s\n", json::serialize(json::value{{"good", found.good()},
                                                    {"intents", found.intents},
                                                    {"entries", found.entries},
                                                    {"attempts", found.attempts},
                                                    {"slots", found.slots},
                                                    {"findings", findings}})
                            .c_str());
  } else {
    constexpr std::size_t most_shown = 20;
    for (std::size_t i = 0; i < std::min(found.findings.size(), most_shown); ++i) {
      const store::Finding& one = found.findings[i];
      std::printf("%2d  %s: %s\n", one.invariant, one.subject.c_str(), one.sentence.c_str());
    }
    if (found.findings.size() > most_shown) {
      std::printf("    and %zu more; --json shows all\n", found.findings.size() - most_shown);
    }
    std::string counts;
    const auto count = [&counts](std::uint64_t number, const char* one, const char* many) {
      if (number > 0) counts += std::to_string(number) + " " + (number == 1 ? one : many) + ", ";
    };
    count(found.intents, "intent", "intents");
    count(found.entries, "journal entry", "journal entries");
    count(found.attempts, "attempt", "attempts");
    count(found.slots, "slot", "slots");
    std::printf("%s%s\n", counts.c_str(),
                found.good() ? "all well"
                             : (std::to_string(found.findings.size()) + " finding(s)").c_str());
  }
  return found.good() ? exit_done : exit_refused;
}

/// A settled intent, and what the journal's post says arrived at its payee.
struct Settled {
  domain::Intent intent;
  std::optional<domain::Amount> posted;
};

std::optional<domain::Amount> posted_to_payee(store::Txn& txn, const domain::Intent& intent) {
  const std::string payee = domain::payee_account(intent.terms.payee);
  for (const store::EntryRow& row : store::entries_of(txn, intent.id)) {
    if (row.entry.kind != domain::EntryKind::post) continue;
    for (const domain::Leg& leg : row.entry.legs) {
      if (leg.account == payee) return leg.amount.magnitude;
    }
  }
  return std::nullopt;
}

std::vector<Settled> settled_intents(store::Txn& txn) {
  std::vector<Settled> out;
  store::ListFilter filter;
  filter.state = domain::IntentState::settled;
  filter.limit = page;
  do {
    store::IntentPage found = store::list_intents(txn, filter);
    for (domain::Intent& intent : found.intents) {
      const auto posted = posted_to_payee(txn, intent);
      out.push_back({std::move(intent), posted});
    }
    filter.before = found.next;
  } while (filter.before != 0);
  return out;
}

ports::Method* method_of(const std::vector<ChainParts>& chains, const domain::Terms& terms) {
  for (const ChainParts& parts : chains) {
    for (const auto& method : parts.methods) {
      if (method->chain() == terms.chain && method->name() == terms.method) return method.get();
    }
  }
  return nullptr;
}

// Invariants 1 and 9 on the chain itself: the transaction a settled intent cites is canonical and
// moved this payment, in the amount that the journal's post says: less than was asked where a
// person took it so. What is wrong with it, or nothing. Throws when the node is silent.
boost::asio::awaitable<std::string> check_on_chain(const std::vector<ChainParts>& chains,
                                                   const Settled& settled) {
  const domain::Intent& intent = settled.intent;
  ports::Method* const method = method_of(chains, intent.terms);
  if (method == nullptr) co_return "its chain or method is not configured";
  if (!intent.tx_hash) co_return "is settled without a transaction";
  const auto same = [&](const ChainParts& parts) {
    return parts.chain->info().id == intent.terms.chain;
  };
  const auto parts = std::find_if(chains.begin(), chains.end(), same);
  const auto found = co_await parts->chain->find(*intent.tx_hash);
  if (found.ok() == nullptr) throw std::runtime_error("the chain was not audited: " + found.text());
  if (!found.ok()->tx) co_return "the chain has no transaction " + intent.tx_hash->hex();
  const domain::Evidence evidence = method->evidence(intent, *found.ok()->tx, true);
  const bool moved =
      evidence.moved == domain::Moved::exact || evidence.moved == domain::Moved::less;
  if (moved && settled.posted == evidence.arrived) co_return "";
  if (moved && settled.posted) {
    co_return "the transaction " + intent.tx_hash->hex() + " moved " + evidence.arrived.decimal() +
        " to the payee, its post says " + settled.posted->decimal();
  }
  co_return "the transaction " + intent.tx_hash->hex() + " did not move this payment";
}

boost::asio::awaitable<void> check_all(const std::vector<ChainParts>& chains,
                                       const std::vector<Settled>& intents,
                                       store::Progress progress,
                                       std::vector<store::Finding>& findings) {
  std::uint64_t done = 0;
  for (const Settled& settled : intents) {
    const std::string wrong = co_await check_on_chain(chains, settled);
    if (!wrong.empty() && findings.size() < most_findings) {
      findings.push_back({9, domain::text(settled.intent.id), wrong});
    }
    if (progress && ++done % 50 == 0) progress(done, intents.size());
  }
  if (progress) progress(intents.size(), intents.size());
}

int audit_chain(const std::string& config_path, const std::vector<Settled>& settled,
                std::vector<store::Finding>& findings) {
  const auto checked = read_config_file(config_path);
  if (!checked || !checked->problems.empty()) {
    std::fputs("holdfast: audit --chain needs a good --config, for the nodes\n", stderr);
    return exit_usage;
  }
  log::set_level(log::Level::warn);  // of a node that answers, the report is all there is to say
  boost::asio::io_context context(1);
  SystemClock clock;
  auto chains = open_chains(checked->config.chains, context.get_executor(), clock);
  if (!chains) {
    std::fprintf(stderr, "holdfast: %s\n", chains.error().detail.c_str());
    return exit_usage;
  }
  std::exception_ptr error;
  boost::asio::co_spawn(context, check_all(*chains, settled, progress_line("chain"), findings),
                        [&](std::exception_ptr ended) {
                          error = std::move(ended);
                          for (ChainParts& parts : *chains) parts.rpc->close();
                          context.stop();
                        });
  context.run();
  if (error) std::rethrow_exception(error);
  return exit_done;
}

}  // namespace

int ledger_verify(const StoreChoice& from, bool as_json) {
  const auto path = store_path_of(from);
  if (!path) return exit_usage;
  return with_reader(*path, [&](store::Txn& txn) {
    return report(store::verify_ledger(txn, progress_line("journal")), as_json);
  });
}

int audit(const StoreChoice& from, bool chain, bool as_json) {
  const auto path = store_path_of(from);
  if (!path) return exit_usage;
  return with_reader(*path, [&](store::Txn& txn) {
    store::AuditReport found = store::audit(txn, progress_line("store"));
    if (chain) {
      const int code = audit_chain(from.config, settled_intents(txn), found.findings);
      if (code != exit_done) return code;
    }
    return report(found, as_json);
  });
}

}  // namespace holdfast::app
