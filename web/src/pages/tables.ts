import { chart } from "../chart";
import type { Page } from "../main";
import type { ResultTable } from "../data";
import { h, nothing } from "../dom";
import { fixed, number, signed } from "../format";
import { table } from "../table";
import { verdict } from "./overview";

const plain = (row: { metric: string }): boolean => !["mse", "mae", "r2"].includes(row.metric);

function one(results: ResultTable): Node[] {
  const labels = [...new Set(results.rows.map((row) => row.label))];
  const models = [...new Set(results.rows.map((row) => row.model))];
  return [
    h("h2", {}, results.title),
    table({
      caption: results.title,
      columns: [
        { name: "data" }, { name: "model" }, { name: "metric" },
        { name: "mean", number: true, show: (v, i) => (plain(results.rows[i]) ? fixed(v as number) : number(v as number)) },
        { name: "std", number: true, show: (v, i) => (plain(results.rows[i]) ? fixed(v as number) : number(v as number)) },
        { name: "runs", number: true }, { name: "paper", number: true, digits: 2 }, { name: "paper's std", number: true, digits: 2 },
        { name: "difference", number: true, show: (v) => (v === null ? "–" : signed(v as number, 3)) },
        { name: "p", number: true, digits: 3 }, { name: "verdict" },
      ],
      rows: results.rows.map((row) => [row.label, row.model, row.metric, row.mean, row.std, row.runs, row.paper?.mean ?? null, row.paper?.std ?? null, row.difference, row.p, verdict(row.difference, row.p) || null]),
    }),
    ...(results.rows.some((row) => row.values.length > 1)
      ? [chart({
          title: `${results.title}: each split`, xLabel: "data", yLabel: "test score", ticks: labels.map((text, x) => ({ x, text: text.length > 16 ? `${text.slice(0, 15)}…` : text })),
          note: "A mark for each run; models stand side by side.",
          series: models.map((model, k) => ({
            name: model, marks: "only" as const,
            points: results.rows.filter((row) => row.model === model).flatMap((row) => row.values.map((y) => ({ x: labels.indexOf(row.label) + (models.length > 1 ? (0.6 * k) / (models.length - 1) - 0.3 : 0), y, text: row.label }))),
          })),
        })]
      : []),
  ];
}

export const tables: Page = {
  name: "tables",
  title: "Tables",
  intro: "Mean and standard deviation over splits or seeds, with every run as a mark. A press on the head of a column sorts by it.",
  body: (report) =>
    report.tables.length > 0 ? report.tables.flatMap(one)
      : [nothing("No table is in this report. A training on all splits gives a row:", "eignn train --dataset examples/named-graph --split all --drawn 3 --out runs/splits")],
};
