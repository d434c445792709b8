import { chart, type Series } from "../chart";
import type { Page } from "../main";
import type { Robustness } from "../data";
import { h, nothing } from "../dom";
import { table } from "../table";
import { isNoise, studyFigures } from "./studies";

function figures(results: Robustness): Node[] {
  const out: Node[] = [h("h2", {}, results.title)];
  for (const dataset of [...new Set(results.rows.map((row) => row.dataset))]) {
    const rows = results.rows.filter((row) => row.dataset === dataset);
    for (const method of [...new Set(rows.flatMap((row) => row.attacks.map((a) => a.method)))]) {
      const series: Series[] = rows.flatMap((row, i): Series[] => {
        const attacks = row.attacks.filter((a) => a.method === method && a.epsilon > 0).sort((a, b) => a.epsilon - b.epsilon);
        const certified = attacks.filter((a) => a.certified !== null);
        return [
          { name: row.model, colour: i, marks: "also", points: attacks.map((a) => ({ x: a.epsilon, y: a.accuracy, ...(a.std > 0 ? { low: a.accuracy - a.std, high: a.accuracy + a.std } : {}) })) },
          ...(certified.length > 0 ? [{ name: `${row.model}, certified`, colour: i, dashed: true, points: certified.map((a) => ({ x: a.epsilon, y: a.certified })) } satisfies Series] : []),
        ];
      });
      out.push(chart({
        title: `${dataset}: accuracy under ${method}`, xLabel: "ε", yLabel: "test accuracy, %", xLog: true, yFrom: 0, series,
        note: "The dashed line is the certificate: no perturbation of this size leaves less. The band is the standard deviation over the splits.",
      }));
    }
  }
  out.push(table({
    caption: `${results.title}: figures`,
    columns: [{ name: "data" }, { name: "model" }, { name: "attack" }, { name: "ε", number: true }, ...["accuracy", "std", "certified", "paper", "without attack"].map((name) => ({ name, number: true, digits: 2 }))],
    rows: results.rows.flatMap((row) => row.attacks.map((a) => [row.dataset, row.model, a.method, a.epsilon || null, a.accuracy, a.std, a.certified, a.paper?.mean ?? null, row.clean])),
  }));
  return out;
}

export const robustness: Page = {
  name: "robustness",
  title: "Robustness",
  intro: "The accuracy that is left when features are perturbed by at most ε, with what is certified; and accuracy under noise.",
  body: (report) => {
    const noise = report.studies.filter(isNoise);
    if (report.robustness.length + noise.length === 0)
      return [nothing("No attack is in this report. This makes one:", "eignn attack --checkpoint runs/karate --method fgsm --epsilon 0.01 --epsilon 0.1 --json > attack.json")];
    return [...report.robustness.flatMap(figures), ...noise.flatMap(studyFigures)];
  },
};
