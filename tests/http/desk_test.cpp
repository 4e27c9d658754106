// The operators' desk over a socket: dead letters, reviews, resolutions, accounts.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "scene.hpp"

namespace holdfast::testing {
namespace {

constexpr const char* intents = "/v1/payment_intents";

/// A payment in review, nothing signed, its job parked as dead letter 1.
struct Desk {
  Desk() {
    scene.set_chain_down(true);
    REQUIRE(scene.get("/readyz").status == 503);
    created = scene.post(intents, shop, "one", payout_body());
    REQUIRE(created.status == 201);
    scene.park(created.at("id"));
  }
  std::string resolve_path() const {
    return std::string(intents) + "/" + created.at("id") + "/resolve";
  }
  void bring_chain_up() {
    scene.set_chain_down(false);
    for (int i = 0; scene.get("/readyz").status != 200 && i < 5'000; ++i) {
    }
  }

  SceneOptions options = [] {
    SceneOptions out;
    out.chain_starts_down = true;
    return out;
  }();
  Scene scene{options};
  std::string ops = scene.add_key("ann", {"ops"});
  std::string shop = scene.add_key("shop", {"payout"});
  HttpAnswer created;
};

}  // namespace

TEST_CASE("dead letters over http: listed, shown, redriven with who and when, and replayed") {
  Desk desk;
  Scene& scene = desk.scene;
  const HttpAnswer list = scene.get("/v1/dead_letters", desk.ops);
  REQUIRE(list.status == 200);
  REQUIRE(list.json().at("dead_letters").as_array().size() == 1);
  const auto letter = list.json().at("dead_letters").at(0).as_object();
  CHECK(letter.at("number").as_int64() == 1);
  CHECK(letter.at("payment_intent").as_string() == desk.created.at("id").c_str());
  CHECK(letter.at("verdict") == "budget_spent");
  CHECK(letter.at("state") == "needs_review");
  CHECK(letter.at("ended").is_null());
  CHECK(scene.get("/v1/dead_letters/1", desk.ops).json() == list.json().at("dead_letters").at(0));

  const HttpAnswer done =
      scene.post("/v1/dead_letters/1/redrive", desk.ops, "r", R"({"reason":"node is back"})");
  REQUIRE(done.status == 200);
  const auto ended = done.json().at("ended").as_object();
  CHECK(ended.at("as") == "redriven");
  CHECK(ended.at("by") == "ann");
  CHECK(ended.at("why") == "node is back");
  CHECK(ended.at("at").as_string().starts_with("20"));
  CHECK(done.json().at("cycles").as_int64() == 1);
  CHECK(done.at("note").find("stays there") != std::string::npos);
  CHECK(scene.get(std::string(intents) + "/" + desk.created.at("id"), desk.shop).at("state") ==
        "needs_review");

  const HttpAnswer again =
      scene.post("/v1/dead_letters/1/redrive", desk.ops, "r", R"({"reason":"node is back"})");
  CHECK(again.status == 200);
  CHECK(again.body == done.body);
  CHECK(again.header("Idempotent-Replayed") == "true");
  CHECK(scene.post("/v1/dead_letters/1/redrive", desk.ops, "r", "{}").status == 422);
  const HttpAnswer twice = scene.post("/v1/dead_letters/1/redrive", desk.ops, "r2", "");
  CHECK(twice.status == 409);
  CHECK(twice.at("error") == "wrong_state");
  CHECK(twice.at("detail") == "dead letter 1 was redriven before, by ann");
  CHECK(scene.get("/v1/dead_letters", desk.ops).json().at("dead_letters").as_array().empty());
  CHECK(scene.get("/v1/dead_letters?open=false", desk.ops)
            .json()
            .at("dead_letters")
            .as_array()
            .size() == 1);
}

TEST_CASE("dead letters over http: dropped with a reason, and bad requests named") {
  Desk desk;
  Scene& scene = desk.scene;
  const auto post = [&](const std::string& path, const std::string& key, const std::string& body) {
    return scene.post(path, desk.ops, key, body);
  };
  CHECK(post("/v1/dead_letters/1/drop", "a", "{}").at("error") == "missing_field");
  CHECK(post("/v1/dead_letters/1/drop", "b", "").at("error") == "missing_field");
  CHECK(post("/v1/dead_letters/1/drop", "c", R"({"reason":"x","force":true})").at("error") ==
        "unknown_field");
  CHECK(post("/v1/dead_letters/1/drop", "", R"({"reason":"x"})").at("error") == "missing_header");
  for (const char* path :
       {"/v1/dead_letters/2/drop", "/v1/dead_letters/x/drop", "/v1/dead_letters/-1/drop",
        "/v1/dead_letters/1.0/drop", "/v1/dead_letters/99999999999999999999/drop"}) {
    CAPTURE(path);
    CHECK(post(path, "d", R"({"reason":"x"})").status == 404);
  }
  for (const char* query : {"?open=yes", "?limit=0", "?limit=501", "?cursor=-1", "?state=open"}) {
    CHECK(scene.get(std::string("/v1/dead_letters") + query, desk.ops).status == 400);
  }
  CHECK(scene.get("/v1/dead_letters", desk.shop).status == 403);
  CHECK(scene.get("/v1/dead_letters/1", desk.shop).status == 403);
  CHECK(scene.post("/v1/dead_letters/1/drop", desk.shop, "e", R"({"reason":"x"})").status == 403);
  const HttpAnswer done = post("/v1/dead_letters/1/drop", "f", R"({"reason":"known"})");
  REQUIRE(done.status == 200);
  CHECK(done.json().at("ended").at("as") == "dropped");
  CHECK(post("/v1/dead_letters/1/drop", "f", R"({"reason":"known"})").body == done.body);
}

TEST_CASE("reviews over http: listed for operators, shown whole, and settled afresh") {
  Desk desk;
  Scene& scene = desk.scene;
  const std::string id = desk.created.at("id");
  const HttpAnswer list = scene.get("/v1/reviews", desk.ops);
  REQUIRE(list.status == 200);
  REQUIRE(list.json().at("reviews").as_array().size() == 1);
  CHECK(list.json().at("reviews").at(0).at("id").as_string() == id.c_str());
  CHECK(list.json().at("reviews").at(0).at("reason") == "budget_spent");
  CHECK(scene.get(std::string(intents) + "?state=needs_review", desk.ops)
            .json()
            .at("payment_intents") == list.json().at("reviews"));
  const HttpAnswer shown = scene.get("/v1/reviews/" + id, desk.ops);
  REQUIRE(shown.status == 200);
  CHECK(shown.json().at("attempts").as_array().empty());
  CHECK(shown.json().at("found").is_null());
  CHECK(shown.json().at("possible").as_array().size() == 4);
  CHECK(shown.json().at("history").as_array().back().at("kind") == "dead_letter");
  CHECK(shown.json().at("history").as_array().back().at("who") == "test");

  const std::string body = R"({"as":"retry","reason":"nothing was signed"})";
  const HttpAnswer early = scene.post(desk.resolve_path(), desk.ops, "early", body);
  CHECK(early.status == 503);
  CHECK(early.header("Retry-After") == "1");
  desk.bring_chain_up();
  const HttpAnswer done = scene.post(desk.resolve_path(), desk.ops, "k", body);
  REQUIRE_MESSAGE(done.status == 200, done.body);
  CHECK(done.at("state") == "settling");
  CHECK(done.json().at("resolution").at("as") == "retry");
  const HttpAnswer settled =
      scene.get(std::string(intents) + "/" + id + "?wait=settled&timeout_s=60", desk.ops);
  CHECK(settled.at("state") == "settled");
  CHECK(scene.moved(id) == 1);
  const HttpAnswer again = scene.post(desk.resolve_path(), desk.ops, "k", body);
  CHECK(again.body == done.body);
  CHECK(again.header("Idempotent-Replayed") == "true");
  CHECK(scene.get("/v1/reviews", desk.ops).json().at("reviews").as_array().empty());
  const HttpAnswer gone = scene.get("/v1/reviews/" + id, desk.ops);
  CHECK(gone.status == 404);
  CHECK(gone.at("detail") == "the payment is settled, not in review");
  const HttpAnswer late =
      scene.post(desk.resolve_path(), desk.ops, "late", R"({"as":"failed","reason":"x"})");
  CHECK(late.status == 409);
  CHECK(late.at("detail") == "the payment has ended as settled");
}

TEST_CASE("reviews over http: a wish without its proof is 409 and says what is missing") {
  Desk desk;
  Scene& scene = desk.scene;
  desk.bring_chain_up();
  const std::string hash = "0x" + std::string(64, 'a');
  const auto resolve = [&](const std::string& body, const std::string& token) {
    static int number = 0;
    return scene.post(desk.resolve_path(), token, "k" + std::to_string(++number), body);
  };
  const HttpAnswer unknown =
      resolve(R"({"as":"settled","reason":"x","tx_hash":")" + hash + "\"}", desk.ops);
  CHECK(unknown.status == 409);
  CHECK(unknown.at("error") == "unproven");
  CHECK(unknown.at("detail") == "the chain knows no transaction " + hash);
  const HttpAnswer nothing = resolve(R"({"as":"rebroadcast","reason":"x"})", desk.ops);
  CHECK(nothing.status == 409);
  CHECK(nothing.at("error") == "wrong_state");
  struct Row {
    std::string body;
    const char* error;
  };
  const std::vector<Row> bad = {
      {R"({"reason":"x"})", "missing_field"},
      {R"({"as":"settled","reason":"x"})", "bad_terms"},
      {R"({"as":"retry"})", "missing_field"},
      {R"({"as":"paid","reason":"x"})", "bad_field"},
      {R"({"as":"settled","reason":"x","tx_hash":"0x12"})", "bad_field"},
      {R"({"as":"failed","reason":"x","consumers":[]})", "bad_field"},
      {R"({"as":"failed","reason":"x","consumers":["0x12"]})", "bad_field"},
      {R"({"as":"retry","reason":"x","force":true})", "unknown_field"},
      {R"({"as":"retry","reason":""})", "bad_field"},
  };
  for (const Row& row : bad) {
    CAPTURE(row.body);
    const HttpAnswer answer = resolve(row.body, desk.ops);
    CHECK(answer.status == 400);
    CHECK(answer.at("error") == row.error);
  }
  const std::string good = R"({"as":"failed","reason":"not wanted any more"})";
  CHECK(resolve(good, desk.shop).status == 403);
  CHECK(scene.get("/v1/reviews", desk.shop).status == 403);
  CHECK(scene.get("/v1/reviews/" + desk.created.at("id"), desk.shop).status == 403);
  CHECK(scene.post(desk.resolve_path(), desk.ops, "", good).status == 400);
  const HttpAnswer done = resolve(good, desk.ops);
  REQUIRE(done.status == 200);
  CHECK(done.at("state") == "failed");
  CHECK(done.at("reason") == "not wanted any more");
  CHECK(scene
            .post(std::string(intents) + "/pi_" + std::string(32, '0') + "/resolve", desk.ops,
                  "none", good)
            .status == 404);
}

TEST_CASE("accounts over http: what is open on each, for operators alone") {
  Desk desk;
  Scene& scene = desk.scene;
  CHECK(scene.get("/v1/accounts", desk.shop).status == 403);
  desk.bring_chain_up();
  const HttpAnswer list = scene.get("/v1/accounts", desk.ops);
  REQUIRE(list.status == 200);
  REQUIRE(list.json().at("accounts").as_array().size() == 1);
  const auto account = list.json().at("accounts").at(0).as_object();
  CHECK(account.at("chain") == "sim:1");
  CHECK(account.at("address") == "relayer0");
  CHECK(account.at("latest").as_int64() == 0);
  CHECK(account.at("unconsumed").as_int64() == 0);
  CHECK(account.at("lowest_open").is_null());
  CHECK(account.at("blocked").is_null());
}

TEST_CASE(
    "accounts over http: reconciled on demand; adopted and acknowledged only where it is due") {
  Desk desk;
  Scene& scene = desk.scene;
  desk.bring_chain_up();
  const std::string account = "/v1/accounts/sim:1/relayer0";
  const HttpAnswer report = scene.post(account + "/reconcile", desk.ops, "r", "");
  REQUIRE_MESSAGE(report.status == 200, report.body);
  CHECK(report.at("address") == "relayer0");
  CHECK(report.json().at("changes").as_array().empty());
  CHECK(scene.post("/v1/accounts/sim:1/RELAYER0/reconcile", desk.ops, "r2", "{}").status == 200);
  CHECK(scene.post("/v1/accounts/sim:1/nobody/reconcile", desk.ops, "r3", "").status == 404);
  CHECK(scene.post("/v1/accounts/sim:2/relayer0/reconcile", desk.ops, "r4", "").status == 404);
  CHECK(scene.post(account + "/reconcile", desk.ops, "", "").status == 400);
  CHECK(scene.post(account + "/reconcile", desk.shop, "r5", "").status == 403);

  const std::string reason = R"({"reason":"it was me"})";
  const HttpAnswer needless = scene.post(account + "/adopt", desk.ops, "a", reason);
  CHECK(needless.status == 409);
  CHECK(needless.at("detail").find("not blocked") != std::string::npos);
  CHECK(scene.post(account + "/adopt", desk.ops, "a2", "{}").at("error") == "missing_field");
  CHECK(scene.post("/v1/accounts/sim:1/nobody/adopt", desk.ops, "a3", reason).status == 404);

  const HttpAnswer well = scene.post("/v1/chains/sim:1/acknowledge", desk.ops, "c", reason);
  CHECK(well.status == 409);
  CHECK(well.at("detail").find("not halted") != std::string::npos);
  CHECK(scene.post("/v1/chains/sim:2/acknowledge", desk.ops, "c2", reason).status == 404);
  CHECK(scene.post("/v1/chains/sim:1/acknowledge", desk.ops, "c3", "{}").status == 400);
  CHECK(scene.post("/v1/chains/sim:1/acknowledge", desk.shop, "c4", reason).status == 403);
}

}  // namespace holdfast::testing
