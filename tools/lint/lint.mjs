// What the lints share: which files they read, how they see C++, how they report.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";

/** The tree to read: the last `--root DIR`; scripts name the checkout, the self-test another. */
export function rootFrom(argv) {
  return argv[argv.lastIndexOf("--root") + 1];
}

/** All files under the given folders of root, as sorted paths from root. */
export function filesUnder(root, folders) {
  const found = [];
  const walk = (path) => {
    if (!existsSync(path)) return;
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path)) walk(join(path, name));
    } else {
      found.push(relative(root, path));
    }
  };
  for (const folder of folders) walk(join(root, folder));
  return found.sort();
}

/** Files that git tracks or would add. In a tree that is not git's: all of them. */
export function trackedFiles(root) {
  if (!existsSync(join(root, ".git"))) return filesUnder(root, ["."]);
  const listed = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"],
    { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 });
  return listed.split("\0").filter((path) => path && existsSync(join(root, path))).sort();
}

export const isCpp = (path) => /\.(cpp|hpp)$/.test(path);

export function read(root, path) {
  return readFileSync(join(root, path), "utf8");
}

export function linesOf(text) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * C++ with comments blanked, and the insides of strings and character literals too, unless they
 * are kept; every newline stays, so line numbers hold.
 */
export function codeOf(text, { keepStrings = false } = {}) {
  const token = new RegExp([
    String.raw`\/\/[^\n]*`,
    String.raw`\/\*[\s\S]*?\*\/`,
    String.raw`\bR"([^\s()\\]*)\([\s\S]*?\)\1"`,
    String.raw`"(?:[^"\\\n]|\\.)*"`,
    String.raw`(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+'`,
  ].join("|"), "g");
  const blank = (part) => part.replace(/[^\n]/g, " ");
  return text.replace(token, (part) => {
    if (part.startsWith("//") || part.startsWith("/*")) return blank(part);
    return keepStrings ? part : part[0] + blank(part.slice(1, -1)) + part.at(-1);
  });
}

/** Collects findings; end() prints them, or one line if there are none, and sets the exit code. */
export class Report {
  constructor(name) {
    this.name = name;
    this.findings = [];
  }
  add(path, line, sentence) {
    this.findings.push({ path, line, sentence });
  }
  end(what) {
    this.findings.sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
    for (const { path, line, sentence } of this.findings) {
      console.log(`${path}:${line}: ${sentence}`);
    }
    if (this.findings.length > 0) {
      console.log(`${this.name}: ${this.findings.length} finding(s)`);
      process.exitCode = 1;
    } else {
      console.log(`${this.name}: ${what}, all well`);
    }
  }
}
