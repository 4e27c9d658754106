// Owns: the people around the engine: clients who create, sign, ask again, change their minds and
// give up, and operators who look after what nobody else can end.
// Must never: know what the engine knows: they see its answers, and what the chain shows anybody.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>

#include <holdfast/engine/engine.hpp>

#include "setting.hpp"
#include "sim/chain.hpp"
#include "sim/world.hpp"
#include "tally.hpp"
#include "watch.hpp"

namespace holdfast::campaign {

/// One payment somebody wants, and how far they have come.
struct Wish {
  std::string key;
  engine::NewPayment payment;
  bool signs = false;         ///< a payer's signature is needed
  bool brings_nonce = false;  ///< create and sign in one request, with a nonce of the payer's
  bool never_signs = false;
  bool cancels = false;
  bool asks_again = false;    ///< the same request once more when all is done
  bool asks_otherwise = false;  ///< the same key with another body when all is done
  bool gives_up = false;      ///< hangs up in the middle of the first request
  bool signs_again = false;    ///< the same signature once more, long after
  bool cancels_again = false;  ///< as this
  bool is_meddled_with = false;  ///< another caller tries to cancel it
  std::int64_t dawdles_ms = 0;  ///< before whatever is asked once more
  domain::Authorization brought;
  std::optional<domain::Intent> intent;  ///< as first answered
  std::optional<domain::Intent> signed_as;    ///< its signature, as first answered
  std::optional<domain::Intent> canceled_as;  ///< as this
  std::int64_t due_ms = 0;               ///< the next request, monotonic
  int done = 0;                          ///< requests that were answered for good
  bool over = false;
  /// Who was told of its success, as far as the engine noted it: this client, or another with the
  /// same payload and no key.
  enum class Told { nobody, client, stranger } told = Told::nobody;
  bool wants_success = false;
  bool is_untold = false;  ///< it was offered, and could not be written: whoever asks next is told
  int waited = 0;  ///< rounds of asking how it stands
};

class Clients {
 public:
  /// `outside`: the chain of an outside sender, where there is one.
  Clients(std::uint64_t seed, const Setting& setting, sim::SimWorld& world,
          sim::ScriptedChain& chain, std::optional<domain::ChainId> outside, Watch& watch,
          Tally& tally);

  /// Sends what is due, to this engine.
  void turn(engine::Engine& engine);
  /// The process ended: nobody hears from it.
  void forget_requests();
  /// The store is an older one: everybody asks again from the beginning, under the same keys.
  void begin_again();
  bool all_answered() const;
  /// Signed by a payer and not known to be used: what anybody may run.
  std::vector<domain::Intent> signed_intents() const;
  std::optional<domain::Intent> some_intent(std::uint64_t chance) const;

 private:
  struct Request {
    bool under_way = false;
    std::int64_t hangs_up_ms = 0;
    std::unique_ptr<boost::asio::cancellation_signal> hang_up;
  };
  void make_wish(std::size_t number, const Setting& setting);
  void send(engine::Engine& engine, std::size_t at);
  ports::Awaitable<void> ask(engine::Engine& engine, std::size_t at, std::uint64_t life);
  ports::Awaitable<void> ask_once(engine::Engine& engine, Wish& wish);
  /// One round of waiting for the success of a payment (successes.cpp).
  ports::Awaitable<void> wait_for_success(engine::Engine& engine, Wish& wish);
  ports::Awaitable<void> take_success(engine::Engine& engine, Wish& wish,
                                      engine::Standing standing);
  void check_success(const engine::Standing& standing);
  /// What was answered, if it was.
  std::optional<domain::Intent> answered(Wish& wish, const Result<engine::Answer>& answer,
                                         std::string_view what);
  ports::Awaitable<void> ask_again(engine::Engine& engine, Wish& wish);
  ports::Awaitable<void> sign_again(engine::Engine& engine, Wish& wish);
  ports::Awaitable<void> cancel_again(engine::Engine& engine, Wish& wish);
  ports::Awaitable<void> meddle(engine::Engine& engine, Wish& wish);
  ports::Awaitable<void> ask_otherwise(engine::Engine& engine, Wish& wish);
  /// True: it was answered for good.
  bool check_again(const domain::Intent& first, const Result<engine::Answer>& again);
  domain::Authorization sign(const Wish& wish, const domain::Amount& amount) const;
  engine::Caller caller(const Wish& wish, std::string_view what) const;

  sim::Chance chance_;
  sim::SimWorld& world_;
  sim::ScriptedChain& chain_;
  std::optional<domain::ChainId> outside_;
  Watch& watch_;
  Tally& tally_;
  std::deque<Wish> wishes_;
  std::deque<Request> requests_;
  std::uint64_t life_ = 0;  ///< raised when the process ends
};

/// Hung up, or the store could not be asked: then they ask again. All else that an engine throws at
/// who asks is a fault of its own, and is said.
void note_thrown(Watch& watch, const std::exception& error);

class Operators {
 public:
  Operators(std::uint64_t seed, sim::SimWorld& world, sim::ScriptedChain& chain, Watch& watch,
            Tally& tally);

  /// What this sender has paid, they can look up too.
  void also_on(const sim::OpaqueChain& sender) { sender_ = &sender; }

  /// A round over the desk: reviews (when `resolves`), dead letters, blocked accounts, halted
  /// chains.
  void turn(engine::Engine& engine, bool resolves);
  /// What a payment in review waits for, they see on the chain as soon as anybody: they name it.
  void look(engine::Engine& engine);
  void abandon(engine::Engine& engine, const domain::IntentId& id);
  void reconcile(engine::Engine& engine, const domain::ChainId& chain,
                 const domain::Address& account);
  void forget_requests() { ++life_, under_way_ = false, waited_for_.clear(); }

 private:
  /// A payment in review, and what may yet move it.
  struct WaitedFor {
    domain::IntentId id;
    std::vector<domain::TxHash> hashes;
    domain::Ref ref;
    domain::AssetId asset;
    std::optional<domain::Authorization> authorization;
  };
  std::optional<domain::TxHash> seen_of(const WaitedFor& one);
  std::optional<domain::TxHash> sent_outside(const domain::Ref& ref) const;
  void wait_for(const engine::Review& review);
  ports::Awaitable<void> adopt(engine::Engine& engine, domain::IntentId id, domain::TxHash hash);
  ports::Awaitable<void> round(engine::Engine& engine, bool resolves, std::uint64_t life);
  ports::Awaitable<void> reviews(engine::Engine& engine);
  ports::Awaitable<void> dead_letters(engine::Engine& engine);
  std::optional<domain::TxHash> name_hash(const engine::Review& review);
  engine::Caller caller();

  sim::Chance chance_;
  sim::SimWorld& world_;
  sim::ScriptedChain& chain_;
  Watch& watch_;
  Tally& tally_;
  const sim::OpaqueChain* sender_ = nullptr;
  std::vector<WaitedFor> waited_for_;
  bool under_way_ = false;
  std::uint64_t life_ = 0;
  std::uint64_t keys_ = 0;
};

// What they are called.
extern const domain::Address payer;
extern const domain::Address merchant;
extern const domain::Address thief;
struct Token {
  domain::AssetId asset;
  sim::TokenKind kind;
};
const std::vector<Token>& tokens();

}  // namespace holdfast::campaign
