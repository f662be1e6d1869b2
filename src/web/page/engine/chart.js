// A line chart of the last ten minutes, as SVG, so that the style sheet colours it.

import { el, setChildren, setText, svg } from "../base/dom.js";

const WIDTH = 600; // a unit a second
const HEIGHT = 120;

// The next round number at or above `value`: 1, 2 or 5 times a power of ten.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

export class Chart {
  // `lines`: [{name, label, value(second) -> number or null}], drawn in the colours line-0, line-1, …
  // `format` writes a value. `fills`: whether a second without an entry counts as zero.
  constructor(title, lines, { format, fills }) {
    this.lines = lines;
    this.format = format;
    this.fills = fills;
    this.paths = lines.map((_, at) => svg(`path.line.line-${at}`));
    this.areas = lines.map((_, at) => svg(`path.area.line-${at}`));
    this.picture = svg(
      "svg.chart-picture",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
      svg("path.grid", { d: `M0 0.5H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT - 0.5}H${WIDTH}` }),
      ...this.areas,
      ...this.paths,
    );
    this.top = el("span.chart-top");
    this.values = lines.map(() => el("b", {}, "–"));
    this.title = title;
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
            el("li", {}, el(`span.swatch.line-${at}`), line.label, " ", this.values[at]),
          ),
        ),
      ),
      el("div.chart-frame", {}, this.picture, this.top),
      el("p.chart-axis", {}, el("span", {}, "10 min ago"), el("span", {}, "5 min"), el("span", {}, "now")),
    );
  }

  show(seconds, now) {
    const end = Math.floor(now);
    const begin = end - WIDTH;
    const series = this.lines.map((line) => {
      const points = [];
      for (let second = begin; second < end; second += 1) {
        const entry = seconds.get(second);
        points.push(entry ? line.value(entry) : this.fills ? 0 : null);
      }
      return points;
    });
    const highest = Math.max(0, ...series.flat().filter((value) => value !== null));
    const top = highest > 0 ? roundUp(highest) : 1;
    series.forEach((points, at) => {
      const { line, area } = this.draw(points, top);
      this.paths[at].setAttribute("d", line);
      this.areas[at].setAttribute("d", this.fills ? area : "");
      const last = points.findLast((value, place) => value !== null && (place > WIDTH - 6 || !this.fills));
      setText(this.values[at], last === undefined ? "–" : this.format(last));
    });
    setText(this.top, highest > 0 ? this.format(top) : "");
    const said = this.lines.map((line, at) => `${line.label} ${this.values[at].textContent}`);
    this.picture.setAttribute("aria-label", `${this.title}: ${said.join(", ")}`);
  }

  // Neighbouring seconds are joined; a lone one becomes a short dash.
  draw(points, top) {
    let line = "";
    let area = "";
    let begin = null;
    const y = (value) => (HEIGHT - 2 - (value / top) * (HEIGHT - 6)).toFixed(1);
    points.forEach((value, x) => {
      if (value === null) {
        begin = null;
        return;
      }
      if (begin === null) {
        begin = x;
        line += `M${x} ${y(value)}h1`;
      } else if (value !== points[x - 1] || value !== points[x + 1]) {
        line += `L${x} ${y(value)}`;
      }
    });
    if (this.fills && points.length > 0) {
      area = `M0 ${HEIGHT}${line.replace("M", "L")}V${HEIGHT}Z`;
    }
    return { line, area };
  }
}

export function setFigure(element, text, hint) {
  setChildren(element, [el("b", {}, text), el("span", {}, hint)]);
}
