import { chart } from "../chart";
import type { Page } from "../main";
import { nothing } from "../dom";
import { isNoise, isTime, studyFigures } from "./studies";

export const longRange: Page = {
  name: "long-range",
  title: "Long range",
  intro: "How far a model carries what one node knows: accuracy by the length of chains, and by the distance in hops from the informative node.",
  body: (report) => {
    const studies = report.studies.filter((study) => !isNoise(study) && !isTime(study));
    const runs = report.runs.filter((run) => run.summary.accuracy_by_distance?.length > 0);
    return [
      runs.length > 0
        ? chart({
            title: "Test accuracy by distance", xLabel: "hops from the informative node", yLabel: "test accuracy, %", yFrom: 0, yTo: 100,
            note: "Each mark is the mean over a band of distances, at its middle.",
            series: runs.map((run) => ({
              name: run.name, marks: "also" as const,
              points: run.summary.accuracy_by_distance.map((band: any) => ({ x: (band.from + band.to) / 2, y: 100 * band.accuracy, text: `${band.from} to ${band.to}` })),
            })),
          })
        : nothing("No run of this report has accuracies by distance. Runs on chains have them:", "eignn train --dataset chains --chain-length 100 --out runs/chains"),
      ...(studies.length > 0 ? studies.flatMap(studyFigures)
        : [nothing("No experiment on chains is in this report. This makes one:", "eignn reproduce chains-binary --quick")]),
    ];
  },
};
