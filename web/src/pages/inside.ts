import { chart } from "../chart";
import type { Page } from "../main";
import { h, nothing } from "../dom";
import { number } from "../format";
import { table } from "../table";

export const inside: Page = {
  name: "inside",
  title: "Inside",
  intro: "What decides how far a signal goes: the eigenvalues λ of the propagation matrix S, the eigenvalues μ of g before and after training, and the share of influence by distance.",
  body: (report) => {
    const spectra = report.graphs.filter((graph) => graph.spectrum !== null);
    const runs = report.runs.filter((run) => run.summary.mu_start?.length > 0);
    const influences = report.influences;
    return [
      h("h2", {}, "Spectrum of S"),
      ...(spectra.length > 0
        ? spectra.map(({ spectrum: s, dataset, run }) => chart({
            title: `Eigenvalues of S: ${dataset}`, xLabel: "λ", yLabel: "eigenvalues in a bin", offerLog: true, yFrom: 0,
            note: `${s!.counts.reduce((a, b) => a + b, 0)} eigenvalues from ${number(s!.min)} to ${number(s!.max)}, in ${s!.counts.length} equal bins; S as ${run} has it.`,
            series: [{ name: "eigenvalues", points: s!.counts.flatMap((y, i) => [0, 1].map((side) => ({ x: s!.from + ((i + side) * (s!.to - s!.from)) / s!.counts.length, y }))) }],
          }))
        : [nothing("No run of this report has a graph whose S is symmetric and small enough to be decomposed here. This one has:", "eignn train --dataset karate --out runs/karate && eignn report runs/karate")]),
      h("h2", {}, "Eigenvalues of g"),
      ...(runs.length > 0
        ? [
            chart({
              title: "The largest eigenvalues of g, before and after training", xLabel: "rank", yLabel: "μ", yFrom: 0, yTo: 1, ticks: [1, 2, 3, 4, 5].map((x) => ({ x, text: String(x) })),
              note: "Dashed: at the start. A signal that goes k hops along an eigenvector is multiplied by about (γ μ)^k: a μ near 1 carries it far.",
              series: runs.slice(0, 40).flatMap((run, i) => [
                { name: run.name, colour: i, marks: "also" as const, points: run.summary.mu_end.map((y: number, k: number) => ({ x: k + 1, y })) },
                { name: `${run.name}, start`, colour: i, dashed: true, points: run.summary.mu_start.map((y: number, k: number) => ({ x: k + 1, y })) },
              ]),
            }),
            table({
              caption: "F and g",
              columns: [{ name: "run" }, { name: "γ", number: true }, { name: "largest μ at the start", number: true }, { name: "largest μ at the end", number: true }, { name: "change of F, ‖F−F₀‖/‖F₀‖", number: true }],
              rows: runs.map((run) => [run.name, Number(run.settings.gamma), run.summary.mu_start[0], run.summary.mu_end[0], run.summary.weight_change ?? null]),
            }),
          ]
        : [nothing("No run of this report is of EIGNN, whose summary has the eigenvalues. This one is:", "eignn train --dataset karate --out runs/karate")]),
      h("h2", {}, "How far a signal reaches"),
      influences.length > 0
        ? chart({
            title: "Share of the influence by distance", xLabel: "hops", yLabel: "share of the influence", yLog: true, offerLog: true,
            series: influences.map((one) => ({ name: one.run || one.model, marks: "also" as const, points: one.by_hop.map((hop) => ({ x: hop.hops, y: hop.share })) })),
            note: `Mean distance: ${influences.map((one) => `${one.run || one.model} ${number(one.mean_hops, 3)} hops`).join("; ")}.`,
          })
        : nothing("No influence by distance is in this report. This measures it:", "eignn explain --checkpoint runs/karate --influence --json > influence.json"),
    ];
  },
};
