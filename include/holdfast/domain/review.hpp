// Owns: what an operator may resolve about a payment nobody else can end, as a pure function of the
// stored facts and of what the engine itself read.
// Must never: believe a person: each resolution has its proof, and no flag skips it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/domain/decide.hpp>

namespace holdfast::domain {

enum class Resolution {
  confirming,  ///< this transaction moved it; finality is still waited for
  settled,  ///< this final transaction moved it
  failed,  ///< it can never move again: a proof of unredeemable.hpp
  retry,  ///< nothing was ever signed: settle it afresh
  rebroadcast,  ///< the stored bytes once more; the state stays
};
std::string_view to_text(Resolution as);
std::optional<Resolution> resolution_from(std::string_view text);
/// Their names, for sentences.
std::string resolutions_as_text();

/// A transaction an operator named, as the engine found it.
struct NamedTx {
  enum class Place { unreadable, not_found, pending, mined } place = Place::unreadable;
  TxHash hash;
  std::optional<MinedTx> tx;  ///< for mined
  Verdict verdict = Verdict::pending;  ///< of its block, at the finality that settles
  Evidence evidence;  ///< what it proves of this payment, by its method
};

/// The final transaction at one of the payment's numbers, as the chain was asked.
struct NumberSeen {
  SlotId slot;
  bool readable = false;
  std::optional<MinedTx> tx;  ///< empty: none is final there
};

/// What was read for a resolution: `named` for confirming and settled; `consumers` and `numbers`
/// for failed where only our account can run it, else `authorization`.
struct ReviewSeen {
  std::optional<NamedTx> named;
  std::vector<NamedTx> consumers;  ///< named by the operator; the others are in `numbers`
  std::vector<NumberSeen> numbers;
  Boxed<AuthorizationSeen> authorization;
};

namespace ruling {
/// Not done, and what is missing, in a sentence for a person.
struct Refused {
  enum class Why {
    state,  ///< it is not where this resolution starts
    proof,  ///< what was read does not prove it
    unreadable,  ///< a node could not answer: ask again
  } why = Why::state;
  std::string sentence;
};
/// It is there already: no change.
struct Nothing {};
struct Move {
  IntentState to = IntentState::needs_review;
  std::optional<TxHash> tx_hash;
  std::optional<MinedTx> final_tx;
  Amount arrived;
  std::optional<Proof> proof;
};
struct Post {
  AttemptId attempt;
};
}  // namespace ruling

using Ruling = std::variant<ruling::Refused, ruling::Nothing, ruling::Move, ruling::Post>;

/// Total: every combination has a ruling. `now` gives the clocks and nothing else.
Ruling rule_on(const Facts& facts, Resolution as, const ReviewSeen& seen, const Now& now);

/// The numbers whose consumers `failed` must see: each an attempt was ever stored at, once.
std::vector<Slot> numbers_to_read(const Facts& facts);

}  // namespace holdfast::domain
