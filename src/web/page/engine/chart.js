// A line chart of the last ten minutes, as SVG, so that the style sheet colours it.

import { el, setChildren, setText, svg } from "../base/dom.js";

const WIDTH = 600; // a unit a second
const HEIGHT = 120;
const RECENT = 6; // seconds for which a value counts as the present one

// The next round number at or above `value`: 1, 2 or 5 times a power of ten.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

const y = (share) => (HEIGHT - 2 - share * (HEIGHT - 6)).toFixed(1);

export class Chart {
  // `lines`: [{label, value(second) -> number or null, color, isDots}]. `format` writes a value.
  // isSum: the values are sums, so that a second of which nothing is known has 0, and the scale begins
  // there; otherwise it has no value, and the scale is logarithmic.
  constructor(title, lines, { format, isSum }) {
    this.title = title;
    this.lines = lines;
    this.format = format;
    this.isSum = isSum;
    this.paths = lines.map((line) => svg(`path.line.line-${line.color}${line.isDots ? ".is-dots" : ""}`));
    this.area = svg(`path.area.line-${lines[0].color}`);
    this.picture = svg(
      "svg.chart-picture",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
      svg("path.grid", { d: `M0 0.5H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT - 0.5}H${WIDTH}` }),
      this.area,
      ...this.paths,
    );
    this.top = el("span.chart-top");
    this.bottom = el("span.chart-bottom");
    this.values = lines.map(() => el("b", {}, "–"));
    this.element = el(
      "section.card.chart",
      { "aria-label": title },
      el(
        "div.card-head",
        {},
        el("h2", {}, title),
        el(
          "ul.legend",
          {},
          ...lines.map((line, at) =>
            el("li", {}, el(`span.swatch.line-${line.color}`), line.label, " ", this.values[at]),
          ),
        ),
      ),
      el("div.chart-frame", {}, this.picture, this.top, this.bottom),
      el("p.chart-axis", {}, el("span", {}, "10 min ago"), el("span", {}, "5 min"), el("span", {}, "now")),
    );
  }

  show(seconds, now) {
    // The second under way is not whole yet.
    const end = Math.floor(now);
    const series = this.lines.map((line) =>
      Array.from({ length: WIDTH }, (_, x) => {
        const entry = seconds.get(end - WIDTH + x);
        return entry ? line.value(entry) : this.isSum ? 0 : null;
      }),
    );
    const known = series.flat().filter((value) => value !== null && value > 0);
    const share = this.scale(known);
    series.forEach((points, at) => {
      const path = this.lines[at].isDots ? dots(points, share) : joined(points, share);
      this.paths[at].setAttribute("d", path);
      const last = points.findLast((value, x) => value !== null && (this.isSum || x >= WIDTH - RECENT));
      setText(this.values[at], last === undefined ? "–" : this.format(last));
    });
    this.area.setAttribute("d", this.isSum && known.length > 0 ? `${joined(series[0], share)}V${HEIGHT}H0Z` : "");
    const said = this.lines.map((line, at) => `${line.label} ${this.values[at].textContent}`);
    this.picture.setAttribute("aria-label", `${this.title}: ${said.join(", ")}`);
  }

  // A function from a value to its height, 0 to 1.
  scale(known) {
    if (known.length === 0) {
      setText(this.top, "");
      setText(this.bottom, "");
      return () => 0;
    }
    if (this.isSum) {
      const top = roundUp(Math.max(...known));
      setText(this.top, this.format(top));
      return (value) => value / top;
    }
    const low = Math.floor(Math.log10(Math.min(...known)));
    const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...known))));
    setText(this.top, this.format(10 ** high));
    setText(this.bottom, this.format(10 ** low));
    return (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low);
  }
}

// Neighbouring seconds are joined; a lone one becomes a short dash.
function joined(points, share) {
  let path = "";
  points.forEach((value, x) => {
    const before = points[x - 1] ?? null;
    if (value === null) return;
    if (before === null) path += `M${x} ${y(share(value))}h1`;
    else if (value !== before || value !== points[x + 1]) path += `L${x} ${y(share(value))}`;
  });
  return path;
}

function dots(points, share) {
  return points.map((value, x) => (value === null ? "" : `M${x} ${y(share(value))}h0`)).join("");
}

export function setFigure(element, text, hint) {
  setChildren(element, [el("b", {}, text), el("span", {}, hint)]);
}
