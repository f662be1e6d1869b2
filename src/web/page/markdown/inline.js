// The inside of a paragraph: emphasis, code, links, maths, as a list of nodes
// {type, text} or {type, nodes}. CommonMark's rules where models keep to them, HTML never, and
// every loop bounded, so that no text takes more than linear time.

const MAX_LINK = 2000; // characters of an address
const MAX_LOOK_BACK = 50; // unclosed marks that are remembered

const ESCAPABLE = /[!-/:-@[-`{-~]/;
const PLAIN = /[^\\`*_~[\]!<>&\nhHwW$]+/y;
const ADDRESS = /https?:\/\/[^\s<>"'`\\^{}|]+/iy;
const ENTITY = /&(amp|lt|gt|quot|apos|nbsp|#39|#x27);/y;
const ENTITIES = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", "#39": "'", "#x27": "'",
};

// Only these leave the page, and only when somebody follows them.
export function safeAddress(text) {
  const address = text.trim();
  return /^(https?:\/\/|mailto:)[^\s]+$/i.test(address) ? address : null;
}

const isSpace = (c) => c === undefined || /\s/.test(c);
const isMark = (c) => c !== undefined && /[!-/:-@[-`{-~\p{P}\p{S}]/u.test(c);

class Scanner {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.nodes = []; // finished ones, and marks that may still become emphasis
    this.brackets = []; // places in nodes of each open "["
    this.failedRuns = new Set(); // lengths of backtick runs that nothing closes from here on
    this.failedMaths = new Set();
  }

  addText(text) {
    const last = this.nodes.at(-1);
    if (last?.type === "text") last.text += text;
    else this.nodes.push({ type: "text", text });
  }

  run() {
    while (this.at < this.text.length) {
      PLAIN.lastIndex = this.at;
      const plain = PLAIN.exec(this.text);
      if (plain) {
        this.addText(plain[0]);
        this.at = PLAIN.lastIndex;
        continue;
      }
      this.special(this.text[this.at]);
    }
    return closeEmphasis(this.nodes);
  }

  special(c) {
    if (c === "\\") this.escape();
    else if (c === "`") this.code();
    else if (c === "*" || c === "_" || c === "~") this.mark(c);
    else if (c === "[") this.openBracket(false);
    else if (c === "!" && this.text[this.at + 1] === "[") this.openBracket(true);
    else if (c === "]") this.closeBracket();
    else if (c === "<") this.pointed();
    else if (c === "h" || c === "H") this.address();
    else if (c === "&") this.entity();
    else if (c === "\n") this.lineBreak();
    else if (c === "$") this.maths("$$", "$$", true);
    else this.one();
  }

  one() {
    this.addText(this.text[this.at]);
    this.at += 1;
  }

  escape() {
    const next = this.text[this.at + 1];
    if (next === "(" && this.maths("\\(", "\\)", false)) return;
    if (next === "[" && this.maths("\\[", "\\]", true)) return;
    if (next === "\n") {
      this.nodes.push({ type: "break" });
      this.at += 2;
    } else if (next !== undefined && ESCAPABLE.test(next)) {
      this.addText(next);
      this.at += 2;
    } else {
      this.one();
    }
  }

  maths(open, close, isDisplay) {
    const begin = this.at + open.length;
    const end =
      this.text.startsWith(open, this.at) && !this.failedMaths.has(close)
        ? this.text.indexOf(close, begin)
        : -1;
    if (end > begin) {
      this.nodes.push({ type: "maths", text: this.text.slice(begin, end).trim(), isDisplay });
      this.at = end + close.length;
      return true;
    }
    if (this.text.startsWith(open, this.at)) this.failedMaths.add(close);
    if (open === "$$") this.one();
    return false;
  }

  code() {
    let size = 1;
    while (this.text[this.at + size] === "`") size += 1;
    const begin = this.at + size;
    if (!this.failedRuns.has(size)) {
      for (let end = begin; ; ) {
        end = this.text.indexOf("`", end);
        if (end < 0) break;
        let length = 1;
        while (this.text[end + length] === "`") length += 1;
        if (length === size) {
          let text = this.text.slice(begin, end).replaceAll("\n", " ");
          if (/^ .*[^ ].* $/.test(text)) text = text.slice(1, -1);
          this.nodes.push({ type: "code", text });
          this.at = end + size;
          return;
        }
        end += length;
      }
      this.failedRuns.add(size);
    }
    this.addText(this.text.slice(this.at, begin));
    this.at = begin;
  }

  mark(c) {
    let size = 1;
    while (this.text[this.at + size] === c) size += 1;
    const before = this.text[this.at - 1];
    const after = this.text[this.at + size];
    const opens = !isSpace(after) && (!isMark(after) || isSpace(before) || isMark(before));
    const closes = !isSpace(before) && (!isMark(before) || isSpace(after) || isMark(after));
    const isInWord = c === "_" && opens && closes && !isMark(before) && !isMark(after);
    this.nodes.push({
      type: "mark",
      c,
      size,
      opens: opens && !isInWord && (c !== "~" || size === 2),
      closes: closes && !isInWord && (c !== "~" || size === 2),
    });
    this.at += size;
  }

  openBracket(isImage) {
    this.brackets.push({ place: this.nodes.length, isImage });
    if (this.brackets.length > MAX_LOOK_BACK) this.brackets.shift();
    this.nodes.push({ type: "text", text: isImage ? "![" : "[" });
    // What follows must not be joined to the bracket, which may become a link.
    this.nodes.push({ type: "text", text: "" });
    this.at += isImage ? 2 : 1;
  }

  closeBracket() {
    const open = this.brackets.pop();
    const target = open && this.text[this.at + 1] === "(" ? this.linkTarget(this.at + 2) : null;
    if (!target) {
      this.one();
      return;
    }
    const inside = closeEmphasis(this.nodes.splice(open.place).slice(1));
    const address = safeAddress(target.address);
    // Nothing is loaded from elsewhere: an image becomes a link to it.
    if (open.isImage) inside.unshift({ type: "text", text: "Image: " });
    if (address) this.nodes.push({ type: "link", address, nodes: inside });
    else this.nodes.push(...inside, { type: "text", text: ` (${target.address})` });
    this.nodes.push({ type: "text", text: "" });
    this.brackets = this.brackets.filter((bracket) => bracket.place < this.nodes.length);
    this.at = target.end;
  }

  // "address "title")" from `begin` on.
  linkTarget(begin) {
    let depth = 0;
    for (let at = begin; at < this.text.length && at < begin + MAX_LINK; at += 1) {
      const c = this.text[at];
      if (c === "\\") at += 1;
      else if (c === "\n") return null;
      else if (c === "(") depth += 1;
      else if (c === ")" && depth-- === 0) {
        const inside = this.text.slice(begin, at).trim();
        const address = inside.replace(/\s+["'(].*$/, "").replace(/^<(.*)>$/, "$1");
        return { address, end: at + 1 };
      }
    }
    return null;
  }

  // <https://...>, <br>; other tags stay text.
  pointed() {
    const end = this.text.slice(this.at, this.at + MAX_LINK).indexOf(">");
    const inside = end > 0 ? this.text.slice(this.at + 1, this.at + end) : "";
    const address = /\s/.test(inside) ? null : safeAddress(inside);
    if (address) {
      this.nodes.push({ type: "link", address, nodes: [{ type: "text", text: inside }] });
      this.at += end + 1;
    } else if (/^br\s*\/?$/i.test(inside)) {
      this.nodes.push({ type: "break" });
      this.at += end + 1;
    } else {
      this.one();
    }
  }

  address() {
    ADDRESS.lastIndex = this.at;
    const found = /[\p{L}\p{N}]/u.test(this.text[this.at - 1] ?? " ") ? null : ADDRESS.exec(this.text);
    if (!found) {
      this.one();
      return;
    }
    let text = found[0].slice(0, MAX_LINK).replace(/[.,:;!?*_~]+$/, "");
    // A closing bracket belongs to it only with its opening one.
    while (text.endsWith(")") && text.split("(").length < text.split(")").length) {
      text = text.slice(0, -1);
    }
    text = text.replace(/\]+$/, "");
    this.nodes.push({ type: "link", address: text, nodes: [{ type: "text", text }] });
    this.at += text.length;
  }

  entity() {
    ENTITY.lastIndex = this.at;
    const found = ENTITY.exec(this.text);
    if (!found) {
      this.one();
      return;
    }
    this.addText(ENTITIES[found[1]]);
    this.at += found[0].length;
  }

  lineBreak() {
    const last = this.nodes.at(-1);
    const isHard = last?.type === "text" && / {2,}$/.test(last.text);
    if (last?.type === "text") last.text = last.text.replace(/ +$/, "");
    if (isHard) this.nodes.push({ type: "break" });
    else this.addText("\n");
    this.at += 1;
  }
}

// Joins marks to emphasis: each closing one looks for its opening one, nearest first.
function closeEmphasis(nodes) {
  const out = [];
  const open = []; // places in out of marks that may open
  for (const node of nodes) {
    if (node.type !== "mark") {
      out.push(node);
      continue;
    }
    let size = node.size;
    while (node.closes && size > 0) {
      const found = open.findLastIndex((place) => out[place].c === node.c);
      if (found < 0) break;
      const place = open[found];
      const opener = out[place];
      const used = Math.min(2, size, opener.size);
      if (node.c === "~" && used < 2) break;
      const type = node.c === "~" ? "deleted" : used === 2 ? "strong" : "emphasis";
      const inside = out.splice(place + 1).map(asText);
      open.length = found;
      opener.size -= used;
      size -= used;
      if (opener.size === 0) out.pop();
      else open.push(place);
      out.push({ type, nodes: inside });
    }
    if (size > 0) {
      out.push({ ...node, size });
      if (node.opens) open.push(out.length - 1);
      if (open.length > MAX_LOOK_BACK) open.shift();
    }
  }
  return out.map(asText);
}

function asText(node) {
  return node.type === "mark" ? { type: "text", text: node.c.repeat(node.size) } : node;
}

export function parseInline(text) {
  return new Scanner(text).run();
}
