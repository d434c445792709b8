import type { Page } from "../main";
import type { Report } from "../data";
import { h, nothing } from "../dom";
import { duration, score, signed, fixed } from "../format";
import { table } from "../table";

function runs(report: Report): Node {
  return table({
    caption: "Runs",
    columns: [
      { name: "run" }, { name: "model" }, { name: "data set" }, { name: "metric" },
      { name: "validation", number: true, show: (v, i) => score(report.runs[i].metric, v as number) },
      { name: "test", number: true, show: (v, i) => score(report.runs[i].metric, v as number) },
      { name: "best epoch", number: true }, { name: "epochs", number: true },
      { name: "time", number: true, show: (v) => duration(v as number) },
    ],
    rows: report.runs.map(({ name, summary: s, metric, epochs, finished }) => [
      finished ? name : `${name} (unfinished)`, s.model, s.dataset, metric, s[`val_${metric}`] ?? null, s[`test_${metric}`] ?? null,
      s.best_epoch ?? null, s.epochs ?? epochs, s.seconds_total ?? null,
    ]),
  });
}

function claims(report: Report): Node | null {
  const rows = report.studies.flatMap((study) => study.claims.flatMap((claim) => claim.panels.map((panel) => ({ study, claim, panel }))));
  if (rows.length === 0) return null;
  const held = rows.filter((row) => row.panel.verdict === "holds").length, run = rows.filter((row) => row.panel.points > 0).length;
  return h("section", {},
    h("h2", {}, "What the paper says, and what our runs say"),
    h("p", {}, `Of ${run} checked statements, one for each panel, ${held} hold.`),
    table({
      caption: "Statements of the paper",
      columns: [
        { name: "statement" }, { name: "experiment" }, { name: "panel" },
        { name: "ours", show: (v) => h("span", { class: v === "holds" ? "good" : v === "fails" ? "bad" : "" }, String(v)) },
        { name: "compared", number: true }, { name: "what speaks against it" },
      ],
      rows: rows.map(({ study, claim, panel }) => [claim.text, study.title, panel.panel, panel.points === 0 ? "not run" : panel.verdict, panel.points, [...panel.breaches, ...panel.controls].join("; ") || null]),
    }));
}

/** A difference in words: what ten splits can tell apart. */
export function verdict(difference: number | null, p: number | null): string {
  if (difference === null) return "";
  if (difference >= 0) return "at or above the paper";
  if (p === null) return "below the paper";
  return p > 0.05 ? "below, within the noise of the splits" : "below the paper";
}

function figures(report: Report): Node | null {
  const rows = report.tables.flatMap((one) => one.rows.filter((row) => row.paper !== null).map((row) => ({ one, row })));
  if (rows.length === 0) return null;
  return h("section", {},
    h("h2", {}, "The paper's figures, and ours"),
    table({
      caption: "Figures of the paper's tables",
      columns: [
        { name: "data" }, { name: "model" }, { name: "table" }, { name: "ours", number: true, digits: 2 }, { name: "paper", number: true, digits: 2 },
        { name: "difference", number: true, show: (v) => (v === null ? "–" : signed(v as number, 3)) },
        { name: "p", number: true, show: (v) => fixed(v as number, 3) },
        { name: "verdict", show: (v) => h("span", { class: v === "below the paper" ? "bad" : "" }, String(v)) },
        { name: "remark" },
      ],
      rows: rows.map(({ one, row }) => [row.label, row.model, one.title, row.mean, row.paper?.mean ?? null, row.difference, row.p, verdict(row.difference, row.p), row.remark || null]),
    }));
}

export const overview: Page = {
  name: "overview",
  title: "Overview",
  intro: "What this report holds: the runs, and where experiments of the paper were run again, its statements and figures beside ours.",
  body: (report) => {
    const facts: [string, number][] = [
      ["runs", report.runs.length], ["experiments", report.studies.length + report.tables.length + report.robustness.length],
      ["speed measurements", report.speed.length], ["explanations", report.explanations.length], ["graphs", report.graphs.length],
    ];
    return [
      h("dl", { class: "facts" }, ...facts.map(([what, count]) => h("div", {}, h("dt", {}, what), h("dd", {}, count)))),
      claims(report), figures(report),
      report.runs.length > 0 ? runs(report) : nothing("No run is in this report. A training leaves one:", "eignn train --dataset karate --out runs/karate"),
    ];
  },
};
