#include <holdfast/ports/outcome.hpp>

#include "domain/enum_text.hpp"

namespace holdfast::ports {
namespace {

constexpr domain::EnumText<RefusalKind> kind_texts[] = {
    {RefusalKind::nonce_too_low, "nonce_too_low"},
    {RefusalKind::nonce_too_high, "nonce_too_high"},
    {RefusalKind::replacement_underpriced, "replacement_underpriced"},
    {RefusalKind::type_conflict, "type_conflict"},
    {RefusalKind::underpriced, "underpriced"},
    {RefusalKind::over_fee_cap, "over_fee_cap"},
    {RefusalKind::unfunded, "unfunded"},
    {RefusalKind::gas, "gas"},
    {RefusalKind::tx_type, "tx_type"},
    {RefusalKind::malformed, "malformed"},
    {RefusalKind::pool_full, "pool_full"},
    {RefusalKind::stuck_for_good, "stuck_for_good"},
    {RefusalKind::reverted, "reverted"},
    {RefusalKind::no_such_method, "no_such_method"},
    {RefusalKind::other, "other"},
};

}  // namespace

std::string_view to_text(RefusalKind kind) { return domain::text_of(kind_texts, kind); }

}  // namespace holdfast::ports
