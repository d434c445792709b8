// A node's contributions: rings by hop distance, bars of the nodes and features that gave most, and the sum.
import { lightRules } from "../colours";
import type { Explanation, Part } from "../data";
import { choice, freshId, h, nothing, svg } from "../dom";
import { number, signed } from "../format";
import type { Page } from "../main";
import { fileName, saveText, svgText } from "../save";
import { table } from "../table";

function saveButton(title: string, drawing: SVGSVGElement): HTMLElement {
  return h("div", { class: "buttons" }, h("button", { type: "button", class: "save-svg", click: () => saveText(fileName(title, "svg"), "image/svg+xml", svgText(drawing, lightRules)) }, "Save SVG", h("span", { class: "unseen" }, ` of ${title}`)));
}

const side = (value: number): string => (value >= 0 ? "raise" : "lower");
const times = (exponent: number): string => (exponent === 0 ? "" : ` · 2^${exponent}`);

/** The explained node in the middle, others on the ring of their distance; areas are sizes of contributions. */
function rings(why: Explanation): HTMLElement {
  const parts: Part[] = (why.picture?.nodes ?? why.nodes).filter((part) => part.hops !== null);
  const distances = [...new Set(parts.map((part) => part.hops as number))].sort((a, b) => a - b);
  const size = 560, middle = size / 2, step = (middle - 26) / Math.max(1, distances.filter((d) => d > 0).length);
  const radius = (hops: number): number => step * distances.filter((d) => d > 0 && d <= hops).length;
  const largest = Math.max(...parts.map((part) => Math.abs(part.contribution)), 1e-300);
  const title = `Who decided on node ${why.node}`;
  const drawing = svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "drawing", role: "img", "aria-label": `${title}: ${parts.length} nodes on rings by distance; the table below has the same figures.` });
  const every = Math.ceil(distances.length / 8);
  distances.filter((d) => d > 0).forEach((d, i) => {
    drawing.append(svg("circle", { class: "guide", cx: middle, cy: middle, r: radius(d) }));
    if (i % every === 0) drawing.append(svg("text", { class: "ink", x: middle, y: middle - radius(d) - 3, "text-anchor": "middle" }, d));
  });
  const place = new Map<Part, [number, number]>();
  for (const d of distances) {
    const ring = parts.filter((part) => part.hops === d);
    ring.forEach((part, i) => {
      const angle = (2 * Math.PI * (i + 0.5)) / ring.length + 0.7 * distances.indexOf(d);
      place.set(part, [middle + radius(d) * Math.cos(angle), middle + radius(d) * Math.sin(angle)]);
    });
  }
  for (const [a, b] of why.picture?.arcs ?? []) {
    const from = place.get((why.picture as { nodes: Part[] }).nodes[a]), to = place.get((why.picture as { nodes: Part[] }).nodes[b]);
    if (from && to) drawing.append(svg("line", { class: "edge", x1: from[0].toFixed(1), y1: from[1].toFixed(1), x2: to[0].toFixed(1), y2: to[1].toFixed(1) }));
  }
  for (const [part, [cx, cy]] of place) {
    const mark = svg("circle", { class: `${side(part.contribution)} contribution`, cx: cx.toFixed(1), cy: cy.toFixed(1), r: (2 + 14 * Math.sqrt(Math.abs(part.contribution) / largest)).toFixed(2) });
    mark.append(svg("title", {}, `${part.node}: ${signed(part.contribution)}${times(why.exponent)}, ${part.hops} hops`));
    drawing.append(mark);
  }
  return h("figure", {}, h("figcaption", {}, title), h("p", { class: "note" }, "Rings are distances in hops, areas the sizes of contributions; blue raises the score, red lowers it. Lines are arcs of the shortest paths."), h("div", { class: "stage" }, drawing), saveButton(title, drawing));
}

/** Signed bars, the largest first. */
function bars(title: string, rows: { name: string; value: number }[], exponent: number): HTMLElement {
  const most = 15, shown = rows.slice(0, most);
  const largest = Math.max(...shown.map((row) => Math.abs(row.value)), 1e-300);
  const line = 24, width = 760, axis = 420, room = 220;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${Math.max(1, shown.length) * line + 8}`, class: "drawing", role: "img", "aria-label": `${title}; the table below has the same figures.` });
  shown.forEach((row, i) => {
    const reach = (room * Math.abs(row.value)) / largest, y = i * line + 4;
    const text = row.name.length > 22 ? `${row.name.slice(0, 21)}…` : row.name;
    drawing.append(
      svg("rect", { class: `${side(row.value)} bar`, x: row.value >= 0 ? axis : axis - reach, y, width: Math.max(reach, 0.5).toFixed(2), height: line - 6 }),
      svg("text", { class: "ink", x: 170, y: y + 14, "text-anchor": "end" }, text),
      svg("text", { class: "ink", x: width - 4, y: y + 14, "text-anchor": "end" }, signed(row.value) + times(exponent)),
    );
  });
  drawing.append(svg("line", { class: "axis", x1: axis, x2: axis, y1: 0, y2: shown.length * line + 8 }));
  return h("figure", {}, h("figcaption", {}, title), h("div", { class: "stage" }, drawing), saveButton(title, drawing));
}

function one(why: Explanation): Node[] {
  const listed = why.nodes.reduce((sum, part) => sum + part.contribution, 0);
  const all = why.sum - why.constant, rest = all - listed, others = why.reached - why.nodes.length;
  const power = times(why.exponent);
  const kind: Record<string, string> = {
    exact: "exact: without a node's features the score has its contribution less",
    normalised: "parts of the node's state, divided by its norm: they add up, but without a node the norm is another one",
    "first-order": "gradient times input; what is not linear remains",
  };
  return [
    h("p", { class: "sum" },
      `Score of class ${why.class}${why.predicted ? " (predicted)" : ""} at node ${why.node}: ${number(why.score, 6)}${power} = ${number(why.constant, 6)}${power} constant ${signed(all, 6)}${power} from ${why.reached} nodes, ${signed(why.remainder, 2)}${power} remainder.`),
    h("p", { class: "note" }, `The contributions are ${kind[why.kind] ?? why.kind}.`),
    rings(why),
    bars(`Nodes that gave most to node ${why.node}`, why.nodes.map((part) => ({ name: String(part.node), value: part.contribution })), why.exponent),
    table({
      caption: `Contributions to node ${why.node} by node${others > 0 ? `; ${others} others give ${signed(rest)}${power} together` : ""}`,
      columns: [{ name: "node" }, { name: "hops", number: true }, { name: `contribution${power}`, number: true, show: (v) => signed(v as number, 6) }],
      rows: why.nodes.map((part) => [String(part.node), part.hops, part.contribution]),
    }),
    table({
      caption: `Contributions to node ${why.node} by distance`,
      columns: [{ name: "hops", number: true }, { name: "nodes", number: true }, ...["contribution", "raising", "lowering"].map((name) => ({ name: `${name}${power}`, number: true, show: (v: any) => signed(v, 6) }))],
      rows: why.by_hop.map((hop) => [hop.hops ?? "no path", hop.nodes, hop.contribution, hop.raising, hop.lowering]),
    }),
    bars(`Features that gave most to node ${why.node}`, why.features.map((part) => ({ name: String(part.feature), value: part.contribution })), why.exponent),
    table({
      caption: `Contributions to node ${why.node} by feature`,
      columns: [{ name: "feature" }, { name: `contribution${power}`, number: true, show: (v) => signed(v as number, 6) }],
      rows: why.features.map((part) => [String(part.feature), part.contribution]),
    }),
  ];
}

export const why: Page = {
  name: "why",
  title: "Why",
  intro: "What every node of the graph, at any distance, and every feature gave to one score.",
  body: (report) => {
    if (report.explanations.length === 0) return [nothing("No explanation is in this report. This adds one:", "eignn report runs/karate --node 17")];
    const place = h("div", { id: freshId("why") });
    const show = (index: number): void => place.replaceChildren(...one(report.explanations[index]));
    show(0);
    const names = report.explanations.map((w) => `node ${w.node}, class ${w.class}${w.checkpoint ? `, ${w.checkpoint}` : ""}`);
    return [names.length > 1 ? choice("Explanation", names, show) : null, place];
  },
};
