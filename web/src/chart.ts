// A figure of lines and marks: axes, bands, legend, a pointer for the nearest point (by mouse and by keyboard), its data
// as a table, and both as files.
import { extent, max, min } from "d3-array";
import { scaleLinear, scaleLog, type ScaleContinuousNumeric } from "d3-scale";
import { area, line } from "d3-shape";
import { count, lightRules } from "./colours";
import { checkbox, freshId, h, svg } from "./dom";
import { number } from "./format";
import { csv, fileName, saveText, svgText, type Cell } from "./save";
import { table } from "./table";

export interface Point {
  x: number;
  y: number | null;
  low?: number; // of the band
  high?: number;
  text?: string; // in the place of x
}

export interface Series {
  name: string;
  points: Point[];
  dashed?: boolean;
  marks?: "also" | "only"; // a mark for each point
  colour?: number; // as that of another series
}

export interface ChartSpec {
  title: string;
  xLabel: string;
  yLabel: string;
  series: Series[];
  xLog?: boolean;
  yLog?: boolean;
  offerLog?: boolean; // a box that changes the scale of y
  ticks?: { x: number; text: string }[]; // in the place of numbers
  yFrom?: number; // the axis has these values in any case
  yTo?: number;
  note?: string;
}

const width = 760, left = 66, right = 14, top = 12, bottom = 46;
type Scale = ScaleContinuousNumeric<number, number>;

function scale(log: boolean, values: number[], range: [number, number]): Scale {
  const usable = log ? values.filter((v) => v > 0) : values;
  let [low, high] = extent(usable) as [number | undefined, number | undefined];
  if (low === undefined || high === undefined) [low, high] = log ? [0.1, 1] : [0, 1];
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - (Math.abs(low) / 10 || 1), high + (Math.abs(high) / 10 || 1)];
  return log ? scaleLog([low, high], range) : scaleLinear([low, high], range).nice();
}

const finite = (v: number | null | undefined): v is number => v !== null && v !== undefined && Number.isFinite(v);

export function chart(spec: ChartSpec): HTMLElement {
  const shown = spec.series.map(() => true);
  const colour = spec.series.map((one, i) => (one.colour ?? i) % count);
  const dashed = spec.series.map((one, i) => Boolean(one.dashed) || (one.colour === undefined && Math.floor(i / count) % 2 === 1));
  let log = Boolean(spec.yLog);
  const height = 360;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "drawing", "aria-hidden": "true" });
  const tip = h("div", { class: "tip", hidden: true });
  const spoken = h("div", { class: "unseen", "aria-live": "polite" });
  const titleId = freshId("figure");
  const stage = h("div", {
    class: "stage", tabindex: 0, role: "application", "aria-roledescription": "chart",
    "aria-labelledby": titleId, "aria-description": "Left and right arrows step through the points, up and down through the curves.",
  }, drawing, tip);
  let x: Scale, y: Scale;
  let places: { series: number; point: number; px: number; py: number }[] = [];
  let at: { series: number; point: number } | null = null;

  // An interval around a mean of percents may pass 0 and 100; it is drawn up to there.
  const percents = spec.yLabel.endsWith("%");
  const within = (v: number): number => (percents ? Math.min(100, Math.max(0, v)) : v);
  const visible = (p: Point): boolean => finite(p.y) && (!log || p.y > 0) && (!spec.xLog || p.x > 0);

  function draw(): void {
    drawing.replaceChildren();
    places = [];
    const active = spec.series.filter((_, i) => shown[i]);
    const xs: number[] = [], ys: number[] = [];
    for (const one of active)
      for (const p of one.points) {
        if (!visible(p)) continue;
        xs.push(p.x);
        for (const v of [p.y, p.low, p.high]) if (finite(v)) ys.push(within(v));
      }
    for (const v of [spec.yFrom, spec.yTo]) if (v !== undefined) ys.push(v);
    x = scale(Boolean(spec.xLog), spec.ticks ? [...xs, ...spec.ticks.map((t) => t.x)] : xs, [left, width - right]);
    if (!spec.xLog && !spec.ticks && xs.length > 0) x.domain([min(xs) as number, (max(xs) as number) === min(xs) ? (max(xs) as number) + 1 : (max(xs) as number)]);
    if (spec.ticks) {
      const [a, b] = x.domain();
      if (!spec.xLog) x.domain([a - (b - a) * 0.02, b + (b - a) * 0.02]);
    }
    y = scale(log, ys, [height - bottom, top]);
    const axes = svg("g", {});
    const yTicks = log ? logTicks(y) : y.ticks(6);
    for (const v of yTicks)
      axes.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v) }), svg("text", { class: "ink", x: left - 8, y: y(v) + 4, "text-anchor": "end" }, number(v, 3)));
    let taken = -Infinity; // labels that would overlap the one before are left out
    const xTicks = spec.ticks ?? (spec.xLog ? logTicks(x) : x.ticks(7)).map((v) => ({ x: v, text: number(v, 6) }));
    for (const t of xTicks) {
      axes.append(svg("line", { class: "tick", x1: x(t.x), x2: x(t.x), y1: height - bottom, y2: height - bottom + 5 }));
      const half = 3.6 * t.text.length, middle = Math.min(x(t.x), width - half);
      if (middle - half < taken + 6) continue;
      taken = middle + half;
      axes.append(svg("text", { class: "ink", x: middle, y: height - bottom + 19, "text-anchor": "middle" }, t.text));
    }
    axes.append(
      svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
      svg("text", { class: "ink", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, spec.xLabel),
      svg("text", { class: "ink", x: 0, y: 0, transform: `translate(14 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, spec.yLabel),
    );
    drawing.append(axes);
    spec.series.forEach((one, i) => {
      if (!shown[i]) return;
      const points = one.points;
      const group = svg("g", { class: "series", "data-name": one.name, "data-points": points.filter(visible).length });
      if (points.some((p) => finite(p.low) && finite(p.high)))
        group.append(svg("path", {
          class: `band f${colour[i]}`,
          d: area<Point>().defined((p) => visible(p) && finite(p.low) && finite(p.high)).x((p) => x(p.x)).y0((p) => y(Math.max(within(p.low as number), log ? y.domain()[0] : -Infinity))).y1((p) => y(within(p.high as number)))(points) ?? "",
        }));
      if (one.marks !== "only")
        group.append(svg("path", { class: `line s${colour[i]}${dashed[i] ? " dash" : ""}`, d: line<Point>().defined(visible).x((p) => x(p.x)).y((p) => y(p.y as number))(points) ?? "" }));
      points.forEach((p, k) => {
        if (!visible(p)) return;
        const px = x(p.x), py = y(p.y as number);
        places.push({ series: i, point: k, px, py });
        const alone = !points[k - 1] || !visible(points[k - 1]) ? !points[k + 1] || !visible(points[k + 1]) : false;
        if (one.marks || alone) group.append(svg("circle", { class: `f${colour[i]}`, cx: px.toFixed(2), cy: py.toFixed(2), r: one.marks === "only" ? 4.5 : 3 }));
      });
      drawing.append(group);
    });
    drawing.append(svg("g", { class: "pointer" }));
    point(null);
  }

  const words = (i: number, p: Point): string =>
    `${spec.series[i].name}: ${spec.xLabel} ${p.text ?? number(p.x, 6)}, ${spec.yLabel} ${number(p.y, 6)}` +
    (finite(p.low) && finite(p.high) ? ` (${number(p.low)} to ${number(p.high)})` : "");

  function point(where: typeof at, speak = false): void {
    at = where;
    const pointer = drawing.querySelector(".pointer") as SVGGElement;
    pointer.replaceChildren();
    tip.hidden = where === null;
    if (where === null) return;
    const p = spec.series[where.series].points[where.point];
    const px = x(p.x), py = y(p.y as number);
    pointer.append(svg("line", { class: "axis", x1: px, x2: px, y1: top, y2: height - bottom }), svg("circle", { class: `line s${colour[where.series]}`, cx: px, cy: py, r: 6 }));
    tip.textContent = words(where.series, p);
    const ratio = drawing.getBoundingClientRect().width / width;
    tip.style.setProperty("left", `${Math.min(px, width * 0.7) * ratio}px`);
    tip.style.setProperty("top", `${Math.max(0, py - 54) * ratio}px`);
    if (speak) spoken.textContent = tip.textContent;
  }

  stage.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const mx = ((event.clientX - box.left) / box.width) * width, my = ((event.clientY - box.top) / box.height) * height;
    let best: (typeof places)[number] | null = null, distance = 60 * 60;
    for (const place of places) {
      const d = (place.px - mx) ** 2 + (place.py - my) ** 2;
      if (d < distance) [best, distance] = [place, d];
    }
    point(best && { series: best.series, point: best.point });
  });
  stage.addEventListener("pointerleave", () => point(null));
  stage.addEventListener("blur", () => point(null));
  stage.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    const turn = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Escape") return point(null);
    if (step === undefined && turn === undefined) return;
    event.preventDefault();
    const there = [...new Set(places.map((p) => p.series))];
    if (there.length === 0) return;
    const of = (series: number) => places.filter((p) => p.series === series);
    if (at === null) return point(of(there[0])[0], true);
    if (turn !== undefined) {
      const next = there[(there.indexOf(at.series) + turn + there.length) % there.length];
      const here = spec.series[at.series].points[at.point].x;
      const nearest = of(next).reduce((a, b) => (Math.abs(spec.series[next].points[b.point].x - here) < Math.abs(spec.series[next].points[a.point].x - here) ? b : a));
      return point(nearest, true);
    }
    const mine = of(at.series);
    const now = mine.findIndex((p) => p.point === at?.point);
    point(mine[Math.max(0, Math.min(mine.length - 1, now + (step as number)))], true);
  });

  const legend = h("ul", { class: "legend" });
  if (spec.series.length > 1)
    spec.series.forEach((one, i) => {
      const key = svg("svg", { viewBox: "0 0 22 10", class: "key", "aria-hidden": "true" }, svg("line", { class: `line s${colour[i]}${dashed[i] ? " dash" : ""}`, x1: 0, x2: 22, y1: 5, y2: 5 }));
      const button = h("button", { type: "button", "aria-pressed": "true" }, key, one.name);
      button.addEventListener("click", () => {
        shown[i] = !shown[i];
        button.setAttribute("aria-pressed", String(shown[i]));
        draw();
      });
      legend.append(h("li", {}, button));
    });

  const header = ["curve", spec.xLabel, spec.yLabel, "from", "to"];
  const rows = (): Cell[][] => spec.series.flatMap((one) => one.points.map((p): Cell[] => [one.name, p.text ?? p.x, p.y, p.low ?? null, p.high ?? null]));
  const details = h("details", { class: "data" }, h("summary", {}, "Data of the figure"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    const all = rows(), most = 2000;
    details.append(table({ caption: `${spec.title}: data${all.length > most ? ` (the first ${most} of ${all.length} rows; the CSV has all)` : ""}`, columns: header.map((name, i) => ({ name, number: i > 0 && !(i === 1 && spec.ticks) })), rows: all.slice(0, most), saving: false }));
  });
  const buttons = h("div", { class: "buttons" },
    spec.offerLog && checkbox("logarithmic scale", log, (on) => { log = on; draw(); }),
    h("button", { type: "button", class: "save-svg", click: () => saveText(fileName(spec.title, "svg"), "image/svg+xml", svgText(drawing, lightRules)) }, "Save SVG", h("span", { class: "unseen" }, ` of ${spec.title}`)),
    h("button", { type: "button", class: "save-csv", click: () => saveText(fileName(spec.title, "csv"), "text/csv", csv(header, rows())) }, "Save CSV", h("span", { class: "unseen" }, ` of ${spec.title}`)),
  );
  const figure = h("figure", { class: "chart" }, h("figcaption", { id: titleId }, spec.title), spec.note ? h("p", { class: "note" }, spec.note) : null, stage, legend, spoken, buttons, details);
  draw();
  return figure;
}

/** Powers of ten, or of ten and their halves where those are few. */
function logTicks(of: Scale): number[] {
  const [low, high] = of.domain();
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 1) return of.ticks(5);
  const step = Math.ceil((last - first) / 7);
  const out = [];
  for (let e = first; e <= last; e += step) out.push(10 ** e);
  return out;
}
