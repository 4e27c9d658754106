// HTTPS: whom the client believes. Certificates are made here and live for the test only.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>
#include <boost/asio/ssl/context.hpp>

#include "rpc_scene.hpp"

namespace holdfast::evm {
namespace {

namespace asio = boost::asio;
using tests::RpcScene;
using tests::RpcServer;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

Certificate self_signed(EVP_PKEY* key, const char* alternative_names) {
  Certificate made(X509_new());
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_set_pubkey(made.get(), key);
  X509_NAME* const name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  for (const auto& [id, text] : {std::pair<int, const char*>{NID_basic_constraints, "CA:TRUE"},
                                 {NID_subject_alt_name, alternative_names}}) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, text);
    REQUIRE(extension != nullptr);
    X509_add_ext(made.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  REQUIRE(X509_sign(made.get(), key, EVP_sha256()) > 0);
  return made;
}

/// A server's context with a fresh certificate, and that certificate in a file.
struct Identity {
  explicit Identity(const char* alternative_names)
      : key(EVP_EC_gen("P-256")), certificate(self_signed(key.get(), alternative_names)) {
    SSL_CTX_use_certificate(context.native_handle(), certificate.get());
    SSL_CTX_use_PrivateKey(context.native_handle(), key.get());
    static int count = 0;
    file = std::filesystem::temp_directory_path() /
           ("holdfast-tls-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".pem");
    std::FILE* const out = std::fopen(file.c_str(), "w");
    REQUIRE(out != nullptr);
    PEM_write_X509(out, certificate.get());
    std::fclose(out);
  }
  ~Identity() { std::filesystem::remove(file); }
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  Key key;
  Certificate certificate;
  asio::ssl::context context{asio::ssl::context::tls_server};
  std::filesystem::path file;
};

constexpr const char* loopback_names = "DNS:localhost,IP:127.0.0.1";

std::string named_url(const RpcScene& scene, const std::string& host) {
  return "https://" + host + ":" + std::to_string(scene.server->port());
}

/// The host names of these tests are all loopback.
Lookup loopback() {
  return [](const std::string&, const AddressesFound& found) { found({"127.0.0.1"}); };
}

}  // namespace

TEST_CASE("rpc tls: a certificate nobody vouches for is refused, and the call was not sent") {
  Identity identity(loopback_names);
  RpcScene scene(tests::echo, &identity.context);
  scene.open();
  const auto asked = scene.ask("m");
  scene.finish(asked);
  CHECK(asked->not_sent());
  CHECK(asked->text().find("the server's certificate is refused: self-signed certificate") !=
        std::string::npos);
  CHECK(scene.server->seen().empty());
}

TEST_CASE("rpc tls: with the certificate as CA file and the right host, calls go through") {
  Identity identity(loopback_names);
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    CAPTURE(host);
    RpcScene scene(tests::echo, &identity.context);
    scene.open({.url = named_url(scene, host), .ca_file = identity.file, .lookup = loopback()});
    const auto all = scene.ask_many(150);
    scene.finish(all);
    for (const auto& asked : all) CHECK(asked->ok());
    const int connections = scene.server->connections();
    const auto after = scene.ask("m");
    scene.finish(after);
    CHECK(after->ok());
    CHECK(scene.server->connections() == connections);  // kept and used again
  }
}

TEST_CASE("rpc tls: a good certificate for another host is refused") {
  Identity identity("DNS:other.example");
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    CAPTURE(host);
    RpcScene scene(tests::echo, &identity.context);
    scene.open({.url = named_url(scene, host), .ca_file = identity.file, .lookup = loopback()});
    const auto asked = scene.ask("m");
    scene.finish(asked);
    CHECK(asked->not_sent());
    CHECK(scene.server->seen().empty());
  }
}

TEST_CASE("rpc tls: the CA file is trusted instead of the system's store, not beside another's") {
  Identity identity(loopback_names);
  Identity other(loopback_names);
  RpcScene scene(tests::echo, &identity.context);
  scene.open({.ca_file = other.file});
  const auto asked = scene.ask("m");
  scene.finish(asked);
  CHECK(asked->not_sent());
}

TEST_CASE("rpc tls: verification can be switched off") {
  Identity identity("DNS:other.example");
  RpcScene scene(tests::echo, &identity.context);
  scene.open({.verify_tls = false});
  const auto asked = scene.ask("m");
  scene.finish(asked);
  CHECK(asked->ok());
}

TEST_CASE("rpc tls: an answer cut by closing the connection under TLS is no answer") {
  Identity identity(loopback_names);
  RpcScene scene(
      [](const RpcServer::Request&) {
        // It would be whole if a cut counted as an end.
        return RpcServer::Reply{.bytes = "HTTP/1.1 200 OK\r\n\r\n{\"id\":1,\"result\":\"0x1\"}",
                                .close = true};
      },
      &identity.context);
  scene.open({.ca_file = identity.file});
  const auto asked = scene.ask("m");
  scene.finish(asked);
  CHECK(asked->unknown());
}

TEST_CASE("rpc tls: the deadline ends a wait for an answer, and an idle connection is noticed") {
  Identity identity(loopback_names);
  RpcScene scene([](const RpcServer::Request&) { return RpcServer::Reply{.bytes = ""}; },
                 &identity.context);
  scene.open({.ca_file = identity.file});
  const auto hung = scene.ask("m");
  scene.run_until([&] { return scene.server->seen().size() == 1; });
  scene.clock.advance(5000);
  scene.finish(hung);
  CHECK(hung->unknown());

  scene.server->script(tests::echo);
  scene.finish(scene.ask("m"));
  scene.server->hang_up();
  scene.turn();
  const auto after = scene.ask("m");
  scene.finish(after);
  CHECK(after->ok());
  CHECK(scene.rpc->counters().repeats == 0);
}

TEST_CASE("rpc tls: a CA file that is none is a fault of the configuration") {
  asio::io_context context;
  tests::ManualClock clock(context.get_executor());
  const auto missing = HttpRpc::open(context.get_executor(), clock,
                                     {.url = "https://host", .ca_file = "/nowhere/at/all.pem"});
  REQUIRE(missing.has_error());
  CHECK(missing.error().code == RpcError::bad_ca_file);

  const auto garbage = std::filesystem::temp_directory_path() /
                       ("holdfast-garbage-" + std::to_string(::getpid()) + ".pem");
  std::ofstream(garbage) << "not a certificate";
  const auto refused = HttpRpc::open(context.get_executor(), clock,
                                     {.url = "https://host", .ca_file = garbage.string()});
  std::filesystem::remove(garbage);
  REQUIRE(refused.has_error());
  CHECK(refused.error().code == RpcError::bad_ca_file);
}

}  // namespace holdfast::evm
