// The operators' verbs, as people run them: at a store nobody owns, beside one, and through a
// server.
#include <pwd.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <holdfast/domain/refs.hpp>

#include "app/account_list.hpp"
#include "app/open_store.hpp"
#include "home.hpp"
#include "store/writes.hpp"

namespace {

using namespace holdfast;
using test::Ended;
using test::Home;
using test::run;
using test::Server;
using test::TempFolder;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Anvil's second account, as the key of the tests has it.
constexpr const char* our_account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/// A payout whose job was parked before anything was signed: in review, or failed.
std::string parked_payment(const std::string& path, std::int64_t number, bool ended) {
  store::NewIntent wanted;
  domain::Intent& intent = wanted.intent;
  intent.caller = {"shop"};
  intent.id = domain::derive_intent_id(intent.caller, std::to_string(number));
  intent.terms = {{"eip155:31337"}, {"native"},        {our_account},
                  {our_account},    domain::Amount(5), {"payout"}};
  intent.ref = domain::derive_ref(intent.id, intent.terms);
  intent.state = domain::IntentState::authorized;
  intent.created_ms = 1'767'225'600'000;
  intent.publish_before_s = 4'000'000'000;
  wanted.request.key.value[0] = static_cast<Byte>(number);
  store::LeaseRequest lease;
  lease.now_ms = intent.created_ms;
  lease.receipts.emplace_back();
  store::Move claim;
  claim.id = intent.id;
  claim.to = domain::IntentState::settling;
  claim.reason = store::claimed_as_paid;  // it takes no number here
  claim.actor = domain::Actor::relayer;
  claim.now_ms = intent.created_ms;
  claim.receipt = lease.receipts.front();
  store::Move park = claim;
  park.to = ended ? domain::IntentState::failed : domain::IntentState::needs_review;
  if (ended) park.proof = domain::NeverAsked{};
  park.reason = "budget_spent";
  park.ack = true;
  park.park = "budget_spent";
  const int code = app::with_writer(path, [&](store::Txn& txn) {
    store::take_over_account(txn, intent.terms.chain, {our_account}, "test", intent.created_ms);
    const bool done = store::create_intent(txn, wanted).has_value() &&
                      store::lease_jobs(txn, lease).size() == 1 &&
                      store::move_intent(txn, claim).has_value() &&
                      store::move_intent(txn, park).has_value();
    return done ? app::exit_done : app::exit_refused;
  });
  REQUIRE(code == 0);
  return domain::text(intent.id);
}

Ended at(const std::string& path, std::vector<std::string> verb) {
  verb.insert(verb.end(), {"--store", path});
  return run(verb);
}

}  // namespace

TEST_CASE("dlq: parked jobs are listed, shown, redriven and dropped, signed by the user") {
  const TempFolder folder;
  const std::string path = folder / "pay.db";
  const std::string open = parked_payment(path, 1, false);
  const std::string ended = parked_payment(path, 2, true);
  const Ended listed = at(path, {"dlq", "list"});
  CHECK(listed.code == 0);
  CHECK(contains(listed.out, "NUMBER  PAYMENT"));
  CHECK(contains(listed.out, open));
  CHECK(contains(listed.out, "needs_review"));
  CHECK(contains(listed.out, ended));
  CHECK(contains(at(path, {"dlq", "list", "--json"}).out, R"({"dead_letters":[{"number":2,)"));
  const Ended shown = at(path, {"dlq", "show", "1"});
  CHECK(shown.code == 0);
  CHECK(contains(shown.out, "\n  \"verdict\": \"budget_spent\",\n"));

  const Ended refused = at(path, {"dlq", "redrive", "2"});
  CHECK(refused.code == 1);
  CHECK(contains(refused.err, "the payment has ended as failed"));
  CHECK(refused.out.empty());
  CHECK(at(path, {"dlq", "drop", "2", "--reason", "known"}).code == 0);
  const Ended redriven = at(path, {"dlq", "redrive", "1", "--reason", "node is back"});
  CHECK(redriven.code == 0);
  CHECK(contains(redriven.out, "stays there until evidence"));
  const passwd* const user = getpwuid(geteuid());  // NOLINT(concurrency-mt-unsafe): one thread
  REQUIRE(user != nullptr);
  CHECK(contains(redriven.out, "\"by\": \"" + std::string(user->pw_name) + "\""));
  CHECK(contains(redriven.out, "\"why\": \"node is back\""));
  CHECK(at(path, {"dlq", "redrive", "1"}).code == 1);
  CHECK(contains(at(path, {"dlq", "list", "--all"}).out, "redriven"));
  CHECK_FALSE(contains(at(path, {"dlq", "list"}).out, open));
  CHECK(at(path, {"audit"}).code == 0);

  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"dlq", "show"},
           {"dlq", "show", "x"},
           {"dlq", "drop", "1"},
           {"dlq", "drop", "1", "--reason", ""},
           {"dlq", "redrive", "1", "--reason", std::string(201, 'x')}}) {
    CAPTURE(bad.back());
    CHECK(at(path, bad).code == 2);
  }
  CHECK(at(path, {"dlq", "show", "99"}).code == 1);
}

TEST_CASE("review: what waits is listed and shown; only a running engine resolves it") {
  const TempFolder folder;
  const std::string path = folder / "pay.db";
  const std::string id = parked_payment(path, 1, false);
  const Ended listed = at(path, {"review", "list"});
  CHECK(listed.code == 0);
  CHECK(contains(listed.out, id));
  CHECK(contains(listed.out, "budget_spent"));
  const Ended shown = at(path, {"review", "show", id});
  CHECK(shown.code == 0);
  CHECK(contains(shown.out, "\"possible\": [\n    \"confirming\",\n    \"settled\","));
  CHECK(contains(shown.out, "\"kind\": \"dead_letter\""));
  CHECK(at(path, {"review", "show", "pi_1"}).code == 2);
  CHECK(at(path, {"review", "show", "pi_" + std::string(32, '0')}).code == 1);
  CHECK(contains(at(path, {"audit"}).out, "1 intent, 1 journal entry, "));
  const Ended accounts = at(path, {"accounts", "list"});
  CHECK(accounts.code == 0);
  CHECK(contains(accounts.out, our_account));

  const Ended no_server =
      run({"review", "resolve", id, "--as", "failed", "--reason", "x", "--store", path});
  CHECK(no_server.code == 2);
  const std::vector<std::string> through = {"--server", "http://127.0.0.1:1"};
  for (std::vector<std::string> bad : std::vector<std::vector<std::string>>{
           {"review", "resolve", id, "--as", "paid", "--reason", "x"},
           {"review", "resolve", "pi_1", "--as", "failed", "--reason", "x"},
           {"review", "resolve", id, "--as", "failed", "--reason", ""},
           {"review", "resolve", id, "--as", "failed"},
           {"review", "abandon", id},
           {"review", "abandon", "x", "--reason", "x"}}) {
    bad.insert(bad.end(), through.begin(), through.end());
    const Ended refused = run(bad, {.environment = {"HOLDFAST_TOKEN=hf_x"}});
    CHECK(refused.code == 2);
    CHECK_FALSE(refused.err.empty());
  }
}

TEST_CASE("accounts: what is wrong with one is a sentence below the table, which stays narrow") {
  const auto body = boost::json::parse(R"({"accounts":[{"chain":"eip155:1","address":"0xA",
    "epoch":1,"latest":7,"pending":7,"finalized":6,"unconsumed":0,"lowest_open":null,
    "highest_open":null,"handed_over":0,"blocked":"it was used elsewhere","trouble":null,
    "unread":[{"sequence":3}]},{"chain":"eip155:1","address":"0xB","epoch":1,"latest":null,
    "pending":null,"finalized":null,"unconsumed":0,"lowest_open":null,"highest_open":null,
    "handed_over":0,"blocked":null,"trouble":null,"unread":[]}]})");
  const std::vector<std::string> lines = app::account_lines(body);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].ends_with("HANDED  BLOCKED  TROUBLE"));
  CHECK(lines[1].ends_with("0       yes      yes"));
  CHECK(lines[2].ends_with("0       -        -"));
  CHECK(lines[3] == "eip155:1 0xA, blocked: it was used elsewhere");
  CHECK(lines[4] == "eip155:1 0xA, trouble: used, by no transaction found: 3");
}

TEST_CASE("desk verbs: beside a running server they read; they write through it, with a key") {
  const Home home("http://127.0.0.1:" + std::to_string(test::closed_port()));
  const std::string path = home.folder / "pay.db";
  const std::string first = parked_payment(path, 1, false);
  const std::string second = parked_payment(path, 2, false);
  Server server(home);
  const test::RunOptions with_token{.environment = {"HOLDFAST_TOKEN=" + home.token}};
  const auto through = [&](std::vector<std::string> verb) {
    verb.insert(verb.end(), {"--server", server.url()});
    return run(verb, with_token);
  };
  CHECK(contains(at(path, {"dlq", "list"}).out, first));
  CHECK(contains(at(path, {"review", "list"}).out, second));
  const Ended owned = at(path, {"dlq", "drop", "1", "--reason", "x"});
  CHECK(owned.code == 3);
  CHECK(contains(owned.err, "in use by process"));

  CHECK(contains(through({"dlq", "list"}).out, first));
  const Ended dropped = through({"dlq", "drop", "1", "--reason", "known"});
  CHECK(dropped.code == 0);
  CHECK(contains(dropped.out, "\"by\": \"desk\""));
  const Ended redriven = through({"dlq", "redrive", "2"});
  CHECK(redriven.code == 0);
  CHECK(contains(through({"dlq", "show", "2"}).out, "\"as\": \"redriven\""));
  const Ended twice = through({"dlq", "redrive", "2"});
  CHECK(twice.code == 1);
  CHECK(contains(twice.err, "was redriven before, by desk"));

  CHECK(contains(through({"review", "list", "--json"}).out, first));
  CHECK(contains(through({"review", "show", first}).out, "\"possible\""));
  const Ended unread =
      through({"review", "resolve", first, "--as", "retry", "--reason", "node is back"});
  CHECK(unread.code == 1);
  CHECK(contains(unread.err, "cannot be asked now"));
  const Ended failed =
      through({"review", "resolve", first, "--as", "failed", "--reason", "not wanted"});
  CHECK(failed.code == 0);
  CHECK(contains(failed.out, "\"state\": \"failed\""));
  const Ended abandoned = through({"review", "abandon", second, "--reason", "not wanted"});
  CHECK(abandoned.code == 0);
  CHECK(contains(abandoned.out, "\"cancel_asked\": true"));
  CHECK(contains(through({"accounts", "list"}).out, our_account));
  CHECK(through({"keys", "list"}).out == at(path, {"keys", "list"}).out);
  CHECK(through({"keys", "list", "--json"}).out == at(path, {"keys", "list", "--json"}).out);
  const Ended chains = through({"chains", "list"});
  CHECK(chains.code == 0);
  CHECK(contains(chains.out, "eip155:31337"));
  CHECK(contains(through({"chains", "list", "--json"}).out, R"({"chains":[)"));
  const Ended well = through({"chains", "acknowledge", "eip155:31337", "--reason", "x"});
  CHECK(well.code == 1);
  CHECK(contains(well.err, "not halted"));
  const Ended unread_account = through({"accounts", "reconcile", "eip155:31337", our_account});
  CHECK(unread_account.code == 1);
  CHECK(contains(unread_account.err, "cannot be read now"));
  CHECK(through({"accounts", "adopt", "eip155:31337", our_account, "--reason", "x"}).code == 1);
  CHECK(through({"accounts", "adopt", "eip155:31337", "a/b", "--reason", "x"}).code == 2);
  CHECK(through({"accounts", "adopt", "eip155:31337", our_account, "--reason", ""}).code == 2);
  CHECK(run({"chains", "list"}).code == 2);
  CHECK(server.stop().code == 0);
  CHECK(at(path, {"audit"}).code == 0);
}
