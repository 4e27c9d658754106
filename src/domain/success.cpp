#include <holdfast/domain/success.hpp>

namespace holdfast::domain {

SuccessOffer offer_of(const std::optional<SuccessTold>& told, const SuccessAsker& asker) {
  if (!told) return SuccessOffer::first;
  if (asker.key && asker.key == told->key) {
    return asker.fingerprint == told->fingerprint ? SuccessOffer::again : SuccessOffer::key_reused;
  }
  const bool is_lost = !told->is_delivered && told->life != asker.life;
  return is_lost ? SuccessOffer::first : SuccessOffer::taken;
}

}  // namespace holdfast::domain
