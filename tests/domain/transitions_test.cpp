#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <doctest/doctest.h>

#include <holdfast/domain/transitions.hpp>

#include "domain/golden.hpp"

namespace holdfast::domain {
namespace {

using enum IntentState;

constexpr std::array all_states = {created, authorized, settling, confirming,
                                   settled, failed,     canceled, needs_review};
static_assert(all_states.size() == intent_state_count);
constexpr std::array all_actors = {Actor::api, Actor::operator_, Actor::system, Actor::relayer,
                                   Actor::listener};
constexpr std::array all_needs = {Need::reason, Need::tx_hash, Need::final_evidence,
                                  Need::unredeemable, Need::no_attempt};

Offer everything(Actor actor) { return {actor, true, true, true, true, true}; }

bool by(const Transition& row, Actor actor) {
  return std::find(row.actors.begin(), row.actors.end(), actor) != row.actors.end();
}

const Transition* row_for(IntentState from, IntentState to, Actor actor) {
  for (const Transition& row : transitions()) {
    if (row.from == from && row.to == to && by(row, actor)) return &row;
  }
  return nullptr;
}

bool any_row(IntentState from, IntentState to) {
  return std::any_of(all_actors.begin(), all_actors.end(),
                     [&](Actor actor) { return row_for(from, to, actor) != nullptr; });
}

// Takes one thing away from an offer of everything.
Offer without(Need need, Actor actor) {
  Offer offer = everything(actor);
  if (need == Need::reason) offer.reason = false;
  if (need == Need::tx_hash) offer.tx_hash = false;
  if (need == Need::final_evidence) offer.final_evidence = false;
  if (need == Need::unredeemable) offer.unredeemable = false;
  if (need == Need::no_attempt) offer.no_attempt = false;
  return offer;
}

}  // namespace

TEST_CASE("transitions: the table printed as text is the golden file, byte for byte") {
  CHECK(transitions_as_text() == test::golden("transitions.txt"));
}

TEST_CASE("transitions: every state that has not ended has an exit, and no ended one has") {
  for (const IntentState state : all_states) {
    CAPTURE(to_text(state));
    const bool has_exit = std::any_of(transitions().begin(), transitions().end(),
                                      [&](const Transition& row) { return row.from == state; });
    CHECK(has_exit == !is_terminal(state));
  }
}

TEST_CASE("transitions: every state but the first can be reached from created") {
  std::set<IntentState> reached = {created};
  for (std::size_t round = 0; round < all_states.size(); ++round) {
    for (const Transition& row : transitions()) {
      if (reached.contains(row.from)) reached.insert(row.to);
    }
  }
  CHECK(reached.size() == all_states.size());
}

TEST_CASE("transitions: the only ways back to settling are from confirming and, unsigned, review") {
  std::set<IntentState> sources;
  for (const Transition& row : transitions()) {
    if (row.to != settling) continue;
    sources.insert(row.from);
    if (row.from == needs_review) CHECK(has(row.needs, Need::no_attempt));
    // Whoever puts a payment back must also see that somebody drives it.
    if (row.from != authorized) CHECK(has(row.effects, Effect::enqueue_settle));
  }
  CHECK(sources == std::set{authorized, confirming, needs_review});
}

TEST_CASE("transitions: no row reaches failed without a proof, or settled without final evidence") {
  for (const Transition& row : transitions()) {
    CAPTURE(to_text(row.from));
    if (row.to == failed) CHECK(has(row.needs, Need::unredeemable));
    if (row.to == settled) CHECK(has(row.needs, Need::final_evidence | Need::tx_hash));
    if (row.to == settled) CHECK(has(row.needs, Need::final_evidence));
    if (row.to == confirming) CHECK(has(row.needs, Need::tx_hash));
    if (row.to == failed || row.to == canceled || row.to == needs_review) {
      CHECK(has(row.needs, Need::reason));
    }
  }
}

TEST_CASE("transitions: the hold is made once, and every end of a held payment resolves it once") {
  for (const Transition& row : transitions()) {
    CAPTURE(to_text(row.from));
    CAPTURE(to_text(row.to));
    CHECK(has(row.effects, Effect::journal_hold) == (row.from == authorized && row.to == settling));
    CHECK(has(row.effects, Effect::journal_post) == (row.to == settled));
    CHECK(has(row.effects, Effect::journal_void) == (row.to == failed));
    CHECK(has(row.effects, Effect::end_slot) == (row.to == settled || row.to == failed));
    // Nothing was held yet where a cancel is still legal.
    if (row.to == canceled) CHECK((row.from == created || row.from == authorized));
  }
}

TEST_CASE("transitions: an operator skips no proof that the engine itself would need") {
  const Need proofs[] = {Need::final_evidence, Need::unredeemable};
  for (const Transition& row : transitions()) {
    if (!by(row, Actor::operator_) || row.from == created || row.from == authorized) continue;
    CHECK(row.from == needs_review);
    CHECK(has(row.needs, Need::reason));
    if (row.to == settled) CHECK(has(row.needs, proofs[0]));
    if (row.to == failed) CHECK(has(row.needs, proofs[1]));
  }
}

TEST_CASE("transitions: no two rows are the same move of the same actor") {
  std::set<std::tuple<IntentState, IntentState, Actor>> seen;
  for (const Transition& row : transitions()) {
    for (const Actor actor : row.actors) CHECK(seen.insert({row.from, row.to, actor}).second);
  }
}

TEST_CASE("transitions: each of the 8 x 8 x 5 moves is a replay, a row, or the right refusal") {
  int legal = 0;
  for (const IntentState from : all_states) {
    for (const IntentState to : all_states) {
      for (const Actor actor : all_actors) {
        CAPTURE(to_text(from));
        CAPTURE(to_text(to));
        CAPTURE(to_text(actor));
        const auto answer = check_transition(from, to, everything(actor));
        const Transition* row = row_for(from, to, actor);
        if (from == to) {
          REQUIRE(answer.has_value());
          CHECK_FALSE(answer->has_value());
        } else if (is_terminal(from)) {
          REQUIRE(answer.has_error());
          CHECK(answer.error().code == TransitionError::terminal);
        } else if (row != nullptr) {
          ++legal;
          REQUIRE(answer.has_value());
          REQUIRE(answer->has_value());
          CHECK((*answer)->needs == row->needs);
          CHECK((*answer)->effects == row->effects);
        } else {
          REQUIRE(answer.has_error());
          CHECK(answer.error().code ==
                (any_row(from, to) ? TransitionError::wrong_actor : TransitionError::illegal_move));
          CHECK_FALSE(answer.error().detail.empty());
        }
      }
    }
  }
  CHECK(legal == 21);  // the sum over section 2's rows of the actors each names
}

TEST_CASE("transitions: a move that lacks a single thing it needs is refused, and says which") {
  for (const Transition& row : transitions()) {
    for (const Actor actor : row.actors) {
      for (const Need need : all_needs) {
        const auto answer = check_transition(row.from, row.to, without(need, actor));
        CHECK(answer.has_value() == !has(row.needs, need));
        if (answer.has_error()) CHECK(answer.error().code == TransitionError::missing_need);
      }
    }
  }
  const auto answer =
      check_transition(settling, failed, without(Need::unredeemable, Actor::relayer));
  CHECK(answer.error().detail == "settling to failed lacks unredeemable");
}

TEST_CASE("transitions: a replay needs nothing and may come from anyone, even after the end") {
  for (const IntentState state : all_states) {
    const auto answer = check_transition(state, state, Offer{.actor = Actor::api});
    REQUIRE(answer.has_value());
    CHECK_FALSE(answer->has_value());
  }
}

TEST_CASE("transitions: there are eight review reasons, all different") {
  const auto reasons = review_reasons();
  CHECK(std::set<std::string_view>(reasons.begin(), reasons.end()).size() == 8);
}

TEST_CASE("transitions: every error has a text of its own") {
  std::set<std::string> texts;
  for (int code = 1; code <= 5; ++code) {
    texts.insert(make_error_code(static_cast<TransitionError>(code)).message());
  }
  CHECK(texts.size() == 5);
  CHECK(make_error_code(static_cast<TransitionError>(99)).message() == "unknown error 99");
}

TEST_CASE("intent: states and actors read back from the text they are written as") {
  for (const IntentState state : all_states) CHECK(intent_state_from(to_text(state)) == state);
  for (const Actor actor : all_actors) CHECK(actor_from(to_text(actor)) == actor);
  CHECK(to_text(Actor::operator_) == "operator");
  CHECK_FALSE(intent_state_from("Settled"));
  CHECK_FALSE(actor_from("root"));
}

}  // namespace holdfast::domain
