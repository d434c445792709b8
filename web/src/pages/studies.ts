// The figures of an experiment: one for each panel, a curve with its band for each model.
import { chart, type Series } from "../chart";
import type { Study } from "../data";
import { h } from "../dom";

const unique = <T>(values: T[]): T[] => [...new Set(values)];

export function studyFigures(study: Study): Node[] {
  const order = unique(study.points.map((p) => p.series));
  const figures = unique(study.points.map((p) => p.panel)).map((panel) => {
    const points = study.points.filter((p) => p.panel === panel);
    const ticks = unique(points.map((p) => p.x)).sort((a, b) => a - b).map((x) => ({ x, text: points.find((p) => p.x === x)?.x_text ?? String(x) }));
    const spread = (p: (typeof points)[number]): number => p.ci95;
    const series: Series[] = order.filter((name) => points.some((p) => p.series === name)).map((name) => ({
      name,
      colour: order.indexOf(name),
      marks: "also",
      points: points.filter((p) => p.series === name).sort((a, b) => a.x - b.x)
        .map((p) => ({ x: p.x, text: p.x_text, y: p.mean, ...(p.runs > 1 ? { low: p.mean - spread(p), high: p.mean + spread(p) } : {}) })),
    }));
    return chart({
      title: `${study.title}: ${panel}`, xLabel: study.x_label || "x", yLabel: study.y_label || "mean", series, ticks, offerLog: true,
      note: points.some((p) => p.runs > 1) ? "The band is the 95 % interval of the mean over the runs." : "One run at each point.",
    });
  });
  const losses = unique(study.loss_curves.map((c) => c.panel)).map((panel) => {
    const curves = study.loss_curves.filter((c) => c.panel === panel);
    return chart({
      title: `${study.title}: training loss, ${panel}`, xLabel: "epoch", yLabel: "training loss", offerLog: true,
      series: curves.map((c) => ({ name: `${c.series}, ${c.x_text}`, points: c.epochs.map((x, i) => ({ x, y: c.train[i] })) })),
    });
  });
  return [h("h2", {}, study.title), ...figures, ...losses];
}

/** Studies that have a page of their own. */
export const isNoise = (study: Study): boolean => study.experiment === "noise";
export const isTime = (study: Study): boolean => study.experiment === "efficiency";
