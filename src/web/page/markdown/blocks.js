// Text to blocks: paragraphs, headings, code, quotes, lists, tables, rules. A block is
// {type, line, ...} where `line` is the line it begins with, so that a growing text can be parsed
// from its last block on (stream.js).

const MAX_DEPTH = 12; // of quotes and lists inside each other; deeper ones are text

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const TABLE_RULE = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const MATHS = /^ {0,3}(\\\[|\$\$)/;

const isBlank = (line) => line.trim() === "";
const indentOf = (line) => line.length - line.trimStart().length;

export function parseBlocks(lines, depth = 0) {
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    const begin = at;
    const [block, end] = parseBlock(lines, at, depth);
    block.line = begin;
    blocks.push(block);
    at = end;
  }
  return blocks;
}

function parseBlock(lines, at, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return parseFence(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return [{ type: "heading", level: heading[1].length, text: heading[2] ?? "" }, at + 1];
  if (RULE.test(line)) return [{ type: "rule" }, at + 1];
  if (depth < MAX_DEPTH && QUOTE.test(line)) return parseQuote(lines, at, depth);
  if (depth < MAX_DEPTH && ITEM.test(line)) return parseList(lines, at, depth);
  if (isTable(lines, at)) return parseTable(lines, at);
  if (MATHS.test(line)) {
    const maths = parseMaths(lines, at);
    if (maths) return maths;
  }
  return parseParagraph(lines, at);
}

function parseFence(lines, at, [, mark, info]) {
  const indent = indentOf(lines[at]);
  const body = [];
  let end = at + 1;
  let isOpen = true;
  for (; end < lines.length; end += 1) {
    const line = lines[end].trim();
    if (line.startsWith(mark) && line.replaceAll(mark[0], "") === "") {
      isOpen = false;
      end += 1;
      break;
    }
    body.push(lines[end].slice(Math.min(indent, indentOf(lines[end]))));
  }
  const language = info.trim().split(/\s/)[0] ?? "";
  return [{ type: "code", language, text: body.join("\n"), isOpen }, end];
}

function parseMaths(lines, at) {
  const open = MATHS.exec(lines[at])[1];
  const close = open === "$$" ? "$$" : "\\]";
  let text = lines[at].trim().slice(open.length);
  let end = at;
  while (!text.trimEnd().endsWith(close)) {
    end += 1;
    if (end >= lines.length || isBlank(lines[end])) return null;
    text += `\n${lines[end]}`;
  }
  return [{ type: "maths", text: text.trimEnd().slice(0, -close.length).trim() }, end + 1];
}

function parseQuote(lines, at, depth) {
  const inside = [];
  let end = at;
  for (; end < lines.length && !isBlank(lines[end]); end += 1) {
    // A paragraph inside may go on without the mark.
    if (!QUOTE.test(lines[end]) && startsBlock(lines, end)) break;
    inside.push(lines[end].replace(QUOTE, ""));
  }
  return [{ type: "quote", blocks: parseBlocks(inside, depth + 1) }, end];
}

function parseList(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  const isOrdered = /\d/.test(first[2]);
  const items = [];
  let isLoose = false;
  let end = at;
  while (end < lines.length) {
    const found = RULE.test(lines[end]) ? null : ITEM.exec(lines[end]);
    if (!found || /\d/.test(found[2]) !== isOrdered) break;
    const [item, next, isFollowedByBlank] = parseItem(lines, end, found, depth);
    items.push(item);
    end = next;
    const goesOn = end < lines.length && ITEM.test(lines[end]);
    isLoose ||= (isFollowedByBlank && goesOn) || item.isLoose;
  }
  const start = isOrdered ? Number.parseInt(first[2], 10) : 1;
  return [{ type: "list", isOrdered, start, items, isLoose }, end];
}

// [item, the line after it, whether blank lines follow it]
function parseItem(lines, at, found, depth) {
  const markWidth = found[1].length + found[2].length;
  const spaces = found[3].length;
  const width = markWidth + (spaces >= 1 && spaces <= 4 ? spaces : 1);
  const inside = [lines[at].slice(found[0].length)];
  let end = at + 1;
  let numBlank = 0;
  for (; end < lines.length; end += 1) {
    const line = lines[end];
    if (isBlank(line)) {
      numBlank += 1;
      continue;
    }
    const isInside = indentOf(line) >= width;
    if (!isInside && (numBlank > 0 || startsBlock(lines, end))) break;
    for (; numBlank > 0; numBlank -= 1) inside.push("");
    inside.push(isInside ? line.slice(width) : line.trimStart());
  }
  const task = /^\[([ xX])\]\s+/.exec(inside[0]);
  if (task) inside[0] = inside[0].slice(task[0].length);
  const blocks = parseBlocks(inside, depth + 1);
  const isLoose = inside.some((line, i) => line === "" && i > 0) && blocks.length > 1;
  return [{ blocks, isDone: task ? task[1] !== " " : null, isLoose }, end, numBlank > 0];
}

function isTable(lines, at) {
  const rule = lines[at + 1];
  return (
    rule !== undefined &&
    lines[at].includes("|") &&
    rule.includes("-") &&
    TABLE_RULE.test(rule) &&
    splitRow(lines[at]).length === splitRow(rule).length
  );
}

function splitRow(line) {
  const cells = [];
  let cell = "";
  const text = line.trim().replace(/^\|/, "");
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\" && text[at + 1] === "|") {
      cell += "|";
      at += 1;
    } else if (text[at] === "|") {
      cells.push(cell.trim());
      cell = "";
    } else {
      cell += text[at];
    }
  }
  if (cell.trim() !== "") cells.push(cell.trim());
  return cells;
}

function parseTable(lines, at) {
  const align = splitRow(lines[at + 1]).map((cell) =>
    cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left",
  );
  const rows = [];
  let end = at + 2;
  for (; end < lines.length && !isBlank(lines[end]) && lines[end].includes("|"); end += 1) {
    rows.push(splitRow(lines[end]).slice(0, align.length));
  }
  return [{ type: "table", align, head: splitRow(lines[at]), rows }, end];
}

// Whether a line ends the paragraph before it.
function startsBlock(lines, at) {
  const line = lines[at];
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)) return true;
  const item = ITEM.exec(line);
  return item !== null && item[3] !== "";
}

function parseParagraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && !isBlank(lines[end]) && !startsBlock(lines, end) && !isTable(lines, end)) {
    end += 1;
  }
  const text = lines
    .slice(at, end)
    .map((line) => line.trimStart())
    .join("\n")
    .trimEnd();
  return [{ type: "paragraph", text }, end];
}
