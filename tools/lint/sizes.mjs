// Sizes: a file has at most 400 lines and 100 columns; a function of src/ and include/ 70 lines.

import process from "node:process";
import { codeOf, filesUnder, linesOf, read, Report, rootFrom, trackedFiles } from "./lint.mjs";

const fileLimit = 400;
const columnLimit = 100;
const functionLimit = 70;

const isSource = (path) =>
  /\.(cpp|hpp|cmake|mjs|js|sh|sol|sql|html|css)$|(^|\/)CMakeLists\.txt$/.test(path) ||
  /^(tools|\.ci)\/[^.]*$/.test(path);

// What others made or what is made by a script, and what must be bad to be a test of this lint.
const isExempt = (path) => /(^|\/)package-lock\.json$|^tools\/lint\/fixtures\//.test(path);

const root = rootFrom(process.argv);
const report = new Report("sizes");

function checkText(path, text) {
  const lines = linesOf(text);
  if (lines.length > fileLimit) {
    report.add(path, fileLimit + 1, `${lines.length} lines; a file stops at ${fileLimit}`);
  }
  lines.forEach((line, at) => {
    const columns = [...line].length;
    if (columns > columnLimit) {
      report.add(path, at + 1, `${columns} columns; a line stops at ${columnLimit}`);
    }
  });
}

// A brace that follows a parameter list, outside of any function, opens one. Braces after
// namespace, class, struct, enum, union and extern open a scope in which functions are looked for.
const opensScope = /\b(namespace|class|struct|union|enum|extern|requires|concept)\b(?!.*\)\s*$)/s;
const opensFunction = /\)\s*(const|noexcept|override|final|mutable|&|->|try|:|requires|$)/s;

function checkFunctions(path, text) {
  const code = codeOf(text).replace(/^\s*#[^\n]*(\\\n[^\n]*)*/gm, (part) =>
    part.replace(/[^\n]/g, " "));
  let line = 1;
  let head = "";
  let headLine = 1;
  let depth = 0;
  let open = null; // the function we are in: { depth, line }
  for (const c of code) {
    if (c === "\n") line += 1;
    if (c === "{") {
      const isFunction = opensFunction.test(head) && !opensScope.test(head);
      if (!open && isFunction) open = { depth, line: headLine };
      depth += 1;
    } else if (c === "}") {
      depth -= 1;
      if (open && depth === open.depth) {
        const length = line - open.line + 1;
        if (length > functionLimit) {
          report.add(path, open.line,
            `a function of ${length} lines; they stop at ${functionLimit}`);
        }
        open = null;
      }
    }
    if (c === "{" || c === "}" || c === ";") {
      head = "";
    } else if (head !== "" || !/\s/.test(c)) {
      if (head === "") headLine = line;
      head += c;
    }
  }
}

const files = trackedFiles(root).filter((path) => isSource(path) && !isExempt(path));
for (const path of files) checkText(path, read(root, path));
const cpp = filesUnder(root, ["src", "include"]).filter((path) => /\.(cpp|hpp)$/.test(path));
for (const path of cpp) checkFunctions(path, read(root, path));
report.end(`${files.length} files`);
