import { chart } from "../chart";
import type { Page } from "../main";
import type { Report } from "../data";
import { choice, freshId, h, nothing } from "../dom";
import { isShare } from "../format";

const kinds = ["train_loss", "val_loss", "val_score"];

function overlay(report: Report): Node[] {
  const runs = report.runs.filter((run) => run.curves.length > 0);
  const metrics = [...new Set(runs.map((run) => run.metric))].join(", ");
  const labels = ["training loss", "validation loss", `validation ${metrics}`];
  const place = h("div", {});
  let kind = 0, wanted = "";
  const draw = (): void => {
    const chosen = runs.filter((run) => run.name.toLowerCase().includes(wanted.toLowerCase()));
    if (chosen.length === 0) return place.replaceChildren(h("p", { class: "nothing" }, "No run has this in its name."));
    const share = (metric: string): number => (kind === 2 && isShare(metric) ? 100 : 1);
    place.replaceChildren(chart({
      title: `Training: ${labels[kind]}`, xLabel: "epoch", yLabel: kind === 2 && runs.every((run) => isShare(run.metric)) ? `${labels[kind]}, %` : labels[kind],
      yLog: kind < 2, offerLog: true,
      series: chosen.map((run) => {
        const curve = run.curves.find((one) => one.name === kinds[kind]);
        return { name: run.name, points: (curve?.x ?? []).map((x, i) => ({ x, y: curve?.y[i] === null ? null : share(run.metric) * (curve?.y[i] as number) })) };
      }),
      note: "Long curves are drawn with fewer points, among them the smallest and the largest of every stretch.",
    }));
  };
  const id = freshId("filter");
  const filter = h("input", { id, type: "search", input: () => { wanted = filter.value; draw(); } });
  draw();
  return [h("div", {}, choice("Show", labels, (index) => { kind = index; draw(); }), h("span", { class: "control" }, h("label", { for: id }, "Runs with"), filter)), place];
}

export const training: Page = {
  name: "training",
  title: "Training",
  intro: "The curves of all runs, epoch by epoch.",
  body: (report) =>
    report.runs.some((run) => run.curves.length > 0) ? overlay(report)
      : [nothing("No run of this report has curves. A training with a folder keeps them:", "eignn train --dataset karate --out runs/karate")],
};
