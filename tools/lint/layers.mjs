// Every #include of src/ and include/holdfast/ against the floors of ARCHITECTURE.md: an arrow
// that points up, or sideways between wings, is an error; so is a library on a floor that must not
// see it. A header in src/ is private to the project, not to its floor: it is not installed, so no
// public header may include it, and floors above may.

import process from "node:process";
import { codeOf, filesUnder, isCpp, linesOf, read, Report, rootFrom } from "./lint.mjs";

// What each floor may include besides itself.
const wing = ["base", "domain", "ports"];
const below = {
  base: [],
  domain: ["base"],
  ports: ["base", "domain"],
  store: ["base", "domain", "ports"],
  engine: ["base", "domain", "ports", "store"],
  http: ["base", "domain", "ports", "engine"],
  sqlite: wing,
  evm: wing,
  signer: wing,
  sim: wing,
  app: ["base", "domain", "ports", "store", "engine", "http", "sqlite", "evm", "signer"],
  // include/holdfast/*.hpp: what an embedder includes to have everything
  umbrella: ["base", "domain", "ports", "store", "engine", "http", "sqlite", "evm", "signer"],
};

// Who may include what of other people's. `floors`: only these, and never in a public header;
// `not`: all but these; `once`: a single source file, because the header is so heavy.
const libraries = [
  { header: /^boost\/beast/, name: "Beast", floors: ["http", "evm"] },
  { header: /^boost\/json/, name: "Boost.JSON", floors: ["http", "evm", "app"] },
  { header: /^boost\/url/, name: "Boost.URL", floors: ["http", "evm"] },
  { header: /^sqlite3/, name: "SQLite", floors: ["sqlite", "sim"] },
  { header: /^openssl\//, name: "OpenSSL", floors: ["base", "evm", "signer", "app"] },
  { header: /^secp256k1/, name: "libsecp256k1", floors: ["evm", "signer"] },
  { header: /^cryptopp\/|^crypto\+\+\//, name: "Crypto++", floors: ["evm"] },
  { header: /^prometheus\//, name: "prometheus-cpp", floors: ["http"] },
  { header: /^spdlog\//, name: "spdlog", floors: ["base"], once: true },
  { header: /^CLI\//, name: "CLI11", floors: ["app"], once: true },
  { header: /^toml\+\+\//, name: "toml++", floors: ["app"], once: true },
  { header: /^boost\/asio/, name: "Asio", not: ["base", "domain"] },
  { header: /^(chrono|ctime|time\.h|thread|mutex|random)$/, name: "a clock, a thread or chance",
    not: ["domain"] },
  { header: /^doctest/, name: "doctest", floors: [] },
];

const known = new Set(Object.keys(below));
const isPublic = (path) => path.startsWith("include/");

function floorOf(path) {
  const parts = path.split("/");
  if (parts[0] === "src") return parts.length > 2 ? parts[1] : undefined;
  return parts.length > 3 ? parts[2] : "umbrella";
}

/** The floor that an #include names; undefined for headers that are not ours. */
function floorNamed(header, quoted) {
  if (header.startsWith("holdfast/")) {
    const parts = header.split("/");
    return parts.length > 2 ? parts[1] : "umbrella";
  }
  return quoted ? header.split("/")[0] : undefined;
}

function checkOurs(report, path, line, floor, target, header, quoted) {
  if (target === floor) {
    if (quoted && isPublic(path)) {
      report.add(path, line, `a public header may not include the private "${header}"`);
    }
    return;
  }
  if (!known.has(target)) {
    report.add(path, line, `write "${header}" from its floor, as "evm/rpc.hpp" or <holdfast/…>`);
  } else if (!below[floor].includes(target)) {
    report.add(path, line, `${floor} may not include ${target} (${header})`);
  } else if (quoted && isPublic(path)) {
    report.add(path, line, `a public header may not include the private "${header}"`);
  }
}

function checkTheirs(report, path, line, floor, header, seen) {
  for (const library of libraries) {
    if (!library.header.test(header)) continue;
    const { name, floors, not, once } = library;
    if (not?.includes(floor)) report.add(path, line, `${floor} may not see ${name} (${header})`);
    if (floors && !floors.includes(floor)) {
      const who = floors.length > 0 ? `only ${floors.join(", ")}` : "no source";
      report.add(path, line, `${who} may include ${name} (${header})`);
    } else if (floors && isPublic(path)) {
      report.add(path, line, `public headers are light: not ${name} (${header})`);
    }
    if (!once) continue;
    const first = seen.get(name) ?? path;
    seen.set(name, first);
    if (first !== path) {
      report.add(path, line, `${name} is heavy and stays in one source, which is ${first}`);
    }
  }
}

const root = rootFrom(process.argv);
const report = new Report("layers");
const files = filesUnder(root, ["src", "include/holdfast"]).filter(isCpp);
const seen = new Map();
for (const path of files) {
  const floor = floorOf(path);
  if (!known.has(floor)) {
    report.add(path, 1, "this folder is no floor of ARCHITECTURE.md");
    continue;
  }
  linesOf(codeOf(read(root, path), { keepStrings: true })).forEach((text, at) => {
    const include = text.match(/^\s*#\s*include\s*([<"])([^>"]+)[>"]/);
    if (!include) return;
    const [, mark, header] = include;
    const target = floorNamed(header, mark === '"');
    if (target) checkOurs(report, path, at + 1, floor, target, header, mark === '"');
    else checkTheirs(report, path, at + 1, floor, header, seen);
  });
}
report.end(`${files.length} files`);
