// Owns: the tokens of the HTTP face: how one is made, what is kept of it, how a key may be named.
// Must never: keep, log or show a token after it was handed out.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <holdfast/base/sha256.hpp>
#include <holdfast/ports/entropy.hpp>

namespace holdfast::http {

/// A new bearer token: "hf_" and 32 random bytes as 43 characters of base64url (RFC 4648 section 5,
/// without padding). Shown to its owner once; `hash_token` of it is what is stored.
std::string make_token(ports::Entropy& entropy);

/// The same token for the same three, in the form of make_token. `secret` has at least 128 bits of
/// chance and is stored nowhere.
std::string derive_token(ByteView secret, ByteView salt, std::string_view request);

/// SHA-256 of the token's text. A token has 256 bits of chance, so a slow hash would add nothing.
Digest hash_token(std::string_view token);

/// A key's name is its caller's id: 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter
/// or digit.
bool is_key_name(std::string_view name);

/// pay, payout, ops, x402.
std::span<const std::string_view> known_scopes();
bool is_scope(std::string_view scope);

}  // namespace holdfast::http
