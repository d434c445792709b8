// A drawing of the graph: nodes by truth or prediction, errors ringed, one node chosen by mouse or keyboard.
import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import { count, lightRules } from "../colours";
import type { GraphView } from "../data";
import { choice, freshId, h, nothing, svg } from "../dom";
import { number, percent } from "../format";
import type { Page } from "../main";
import { csv, fileName, saveText, svgText } from "../save";

const size = 760;

function neighboursOf(graph: GraphView): number[][] {
  const out: number[][] = graph.names.map(() => []);
  for (let e = 0; e < graph.edges.length; e += 2) {
    out[graph.edges[e]].push(graph.edges[e + 1]);
    out[graph.edges[e + 1]].push(graph.edges[e]);
  }
  return out;
}

function within(neighbours: number[][], from: number, hops: number): Set<number> {
  const seen = new Set([from]);
  let front = [from];
  for (let k = 0; k < hops && front.length > 0; k++) {
    front = front.flatMap((v) => neighbours[v].filter((u) => !seen.has(u) && seen.add(u)));
  }
  return seen;
}

function one(graph: GraphView): Node[] {
  const n = graph.names.length, neighbours = neighboursOf(graph);
  const numeric = graph.task === "regression";
  const wrong = (v: number): boolean => graph.task !== "regression" && graph.label[v] !== "" && graph.label[v] !== graph.predicted[v];
  const errors = graph.names.reduce((sum, _, v) => sum + Number(wrong(v)), 0);
  const title = `Graph of ${graph.dataset}, as ${graph.run} predicts it`;
  const drawing = svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "drawing network", "aria-hidden": "true" });
  const edges = svg("path", { class: "edge" });
  const radius = n > 1500 ? 2.5 : n > 300 ? 4 : 7;
  const marks = graph.names.map((_, v) => svg("circle", { r: radius, "data-node": v }));
  drawing.append(edges, ...marks);
  const info = h("div", { class: "panel", "aria-live": "polite" }, "Point at a node, or name one.");
  let source: "label" | "predicted" | "part" = "predicted", chosen = -1, reach = 0;

  const values = (): string[] => graph[source];
  const words = (v: number): string => {
    const p = graph.likeliest[v];
    const likely = [];
    for (let k = 0; k < p.length; k += 2) likely.push(`${graph.classes[p[k]]} ${percent(p[k + 1])}`);
    return `Node ${graph.names[v]} (${graph.part[v] || "none"}): ${graph.label[v] === "" ? "label unknown" : `label ${graph.label[v]}`}, predicted ${graph.predicted[v]}` +
      `${wrong(v) ? ", wrong" : ""}${likely.length > 0 ? `; ${likely.join(", ")}` : ""}; ${neighbours[v].length} neighbours.`;
  };
  const legend = h("ul", { class: "legend" });
  const paint = (): void => {
    const kinds = [...new Set(values().filter((text) => text !== ""))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const few = kinds.length <= 40 && !(numeric && source !== "part");
    const range = numeric && source !== "part" ? values().filter((t) => t !== "").map(Number).filter(Number.isFinite) : [];
    const low = range.reduce((a, b) => Math.min(a, b), Infinity), high = range.reduce((a, b) => Math.max(a, b), -Infinity);
    const near = chosen >= 0 && reach > 0 ? within(neighbours, chosen, reach) : null;
    marks.forEach((mark, v) => {
      const text = values()[v];
      let colour = "unknown";
      if (text !== "" && few) colour = `f${kinds.indexOf(text) % count}`;
      mark.setAttribute("class", `node ${colour} ${wrong(v) ? "wrong" : "right"}${v === chosen ? " chosen" : ""}${near && !near.has(v) ? " far" : ""}`);
      if (text !== "" && range.length > 0) {
        mark.setAttribute("class", `${mark.getAttribute("class")} raise`.replace("unknown ", ""));
        mark.setAttribute("fill-opacity", String(0.15 + (0.85 * (Number(text) - low)) / (high - low || 1)));
      } else mark.removeAttribute("fill-opacity");
    });
    edges.setAttribute("class", `edge${near ? " far" : ""}`);
    legend.replaceChildren(
      ...(few ? kinds.map((text, i) => h("li", {}, svg("svg", { viewBox: "0 0 12 12", class: "key", "aria-hidden": "true" }, svg("circle", { class: `f${i % count}`, cx: 6, cy: 6, r: 6 })), ` ${text} `)) : []),
      ...(range.length > 0 ? [h("li", {}, `from ${number(low)} (pale) to ${number(high)} (full)`)] : []),
      h("li", {}, svg("svg", { viewBox: "0 0 12 12", class: "key", "aria-hidden": "true" }, svg("circle", { class: "wrong", fill: "none", cx: 6, cy: 6, r: 4.5 })), ` wrong: ${errors} `));
  };
  const pick = (v: number): void => {
    chosen = v;
    info.textContent = words(v);
    paint();
  };
  const chooser = freshId("node"), names = freshId("names");
  const box = h("input", {
    id: chooser, list: names, size: 16,
    change: () => {
      const v = graph.names.indexOf(box.value);
      if (v >= 0) pick(v);
      else info.textContent = `No node that is shown is called ${box.value}.`;
    },
  });
  const stage = h("div", { class: "stage", tabindex: 0, role: "application", "aria-roledescription": "graph", "aria-label": `${title}: ${n} nodes, ${errors} wrong`, "aria-description": "Left and right arrows step through the nodes, E through the wrong ones." }, drawing);
  drawing.addEventListener("pointerover", (event) => {
    const v = Number((event.target as Element).getAttribute("data-node") ?? -1);
    if (v >= 0 && (event.target as Element).hasAttribute("data-node")) info.textContent = words(v);
  });
  drawing.addEventListener("click", (event) => {
    const mark = event.target as Element;
    if (mark.hasAttribute("data-node")) pick(Number(mark.getAttribute("data-node")));
  });
  stage.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      event.preventDefault();
      pick((chosen + (event.key === "ArrowRight" ? 1 : n - 1) + (chosen < 0 ? Number(event.key === "ArrowLeft") : 0)) % n);
    } else if (event.key === "e" || event.key === "E") {
      for (let k = 1; k <= n; k++) {
        const v = (Math.max(chosen, -1) + k) % n;
        if (wrong(v)) return pick(v);
      }
    }
  });

  // The layout: springs along edges, a charge at each node; in pieces of some milliseconds, so that the page answers.
  const points = graph.names.map((_, index) => ({ index, x: NaN, y: NaN }));
  const links = [];
  for (let e = 0; e < graph.edges.length; e += 2) links.push({ source: graph.edges[e], target: graph.edges[e + 1] });
  const simulation = forceSimulation(points)
    .force("charge", forceManyBody().strength(-30).theta(1.1).distanceMax(400))
    .force("link", forceLink(links).distance(20).iterations(n > 1500 ? 1 : 2))
    .force("x", forceX().strength(0.06)).force("y", forceY().strength(0.06)).stop();
  const put = (): void => {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const p of points) [x0, x1, y0, y1] = [Math.min(x0, p.x), Math.max(x1, p.x), Math.min(y0, p.y), Math.max(y1, p.y)];
    const zoom = (size - 30) / Math.max(x1 - x0, y1 - y0, 1);
    const at = points.map((p) => [size / 2 + (p.x - (x0 + x1) / 2) * zoom, size / 2 + (p.y - (y0 + y1) / 2) * zoom].map((c) => c.toFixed(1)));
    marks.forEach((mark, v) => { mark.setAttribute("cx", at[v][0]); mark.setAttribute("cy", at[v][1]); });
    let d = "";
    for (let e = 0; e < graph.edges.length; e += 2) d += `M${at[graph.edges[e]].join(" ")}L${at[graph.edges[e + 1]].join(" ")}`;
    edges.setAttribute("d", d);
  };
  const ticks = n > 1500 ? 120 : 300;
  let done = 0;
  const go = (): void => {
    const until = performance.now() + 12;
    do {
      simulation.tick();
      done++;
    } while (done < ticks && performance.now() < until);
    if (done % 10 === 0 || n < 1500 || done >= ticks) put();
    if (done < ticks) requestAnimationFrame(go);
    else drawing.setAttribute("data-settled", "true");
  };
  put();
  requestAnimationFrame(go);
  paint();
  if (graph.middle !== null) pick(graph.middle);

  const sources = [["prediction", "predicted"], ["truth", "label"], ["part of the split", "part"]] as const;
  const rows = (): (string | number | null)[][] => graph.names.map((name, v) => [name, graph.part[v], graph.label[v], graph.predicted[v], wrong(v) ? "wrong" : "", neighbours[v].length]);
  return [
    h("h2", {}, title),
    h("p", {}, graph.whole ? `${graph.nodes} nodes and ${graph.edges_in_all} edges; ${errors} of the nodes with a label are predicted wrongly.`
      : `The ${n} nodes nearest to ${graph.names[graph.middle ?? 0]}, of ${graph.nodes} nodes and ${graph.edges_in_all} edges in all; ${errors} of those shown are predicted wrongly. Another node stands in the middle with --node.`),
    h("div", {},
      choice("Colour by", sources.map(([text]) => text), (i) => { source = sources[i][1]; paint(); }),
      choice("Show around the chosen node", ["everything", "1 hop", "2 hops", "3 hops", "5 hops"], (i) => { reach = [0, 1, 2, 3, 5][i]; paint(); }),
      h("span", { class: "control" }, h("label", { for: chooser }, "Node"), box, h("datalist", { id: names }, ...graph.names.slice(0, 5000).map((name) => h("option", { value: name })))),
    ),
    info, stage, legend,
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "save-svg", click: () => saveText(fileName(title, "svg"), "image/svg+xml", svgText(drawing, lightRules)) }, "Save SVG", h("span", { class: "unseen" }, ` of ${title}`)),
      h("button", { type: "button", class: "save-csv", click: () => saveText(fileName(title, "csv"), "text/csv", csv(["node", "split", "label", "predicted", "wrong", "neighbours"], rows())) }, "Save CSV", h("span", { class: "unseen" }, ` of ${title}`))),
  ];
}

export const graph: Page = {
  name: "graph",
  title: "Graph",
  intro: "The graph with truth and prediction; wrong nodes have a ring. Of a graph beyond a few thousand nodes the neighbourhood of one node is drawn.",
  body: (report) => {
    if (report.graphs.length === 0) return [nothing("No run of this report has predictions with its data at hand. This one has:", "eignn train --dataset karate --out runs/karate && eignn report runs/karate")];
    const place = h("div", {});
    const show = (index: number): void => place.replaceChildren(...one(report.graphs[index]));
    show(0);
    return [report.graphs.length > 1 ? choice("Graph", report.graphs.map((g) => `${g.dataset}, ${g.run}`), show) : null, place];
  },
};
