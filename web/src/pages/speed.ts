import { chart } from "../chart";
import type { Page } from "../main";
import type { Speed } from "../data";
import { nothing } from "../dom";
import { number } from "../format";
import { table } from "../table";
import { isTime, studyFigures } from "./studies";

const words = (row: Speed): string => `${row.dataset ?? row.file}${row.device === "cuda" ? ", GPU" : ""}`;

export const speed: Page = {
  name: "speed",
  title: "Speed",
  intro: "Milliseconds of an epoch, ours beside the published algorithm in one run, and the floor: what the products that nobody can leave out take at the machine's own speed.",
  body: (report) => {
    const rows = report.speed, time = report.studies.filter(isTime);
    if (rows.length + time.length === 0) return [nothing("No measurement is in this report. This makes one:", "eignn bench chains --json > chains.json")];
    const shown = rows.slice(0, 40);
    const ticks = shown.map((_, x) => ({ x: x + 1, text: String(x + 1) }));
    const series = (name: string, value: (row: Speed) => number | null) =>
      ({ name, marks: "only" as const, points: shown.map((row, i) => ({ x: i + 1, y: value(row), text: `${i + 1}, ${words(row)}` })) });
    return [
      rows.length > 0
        ? chart({
            title: "An epoch, by measurement", xLabel: "measurement (the number in the table)", yLabel: "ms", yLog: true, offerLog: true, ticks,
            series: [series("ours", (r) => r.ours.epoch_ms), series("published", (r) => r.published.epoch_ms), ...(rows.some((r) => r.floor_ms !== null) ? [series("floor", (r) => r.floor_ms)] : [])],
          })
        : null,
      rows.length > 0
        ? table({
            caption: "Ours, published, ratio, floor",
            columns: [
              { name: "number", number: true }, { name: "data" }, { name: "solver" }, { name: "ours, ms", number: true }, { name: "published, ms", number: true },
              { name: "ratio", number: true, show: (v) => (v === null ? "–" : `${number(v as number, 3)} ×`) },
              { name: "floor, ms", number: true }, { name: "ours over floor", number: true, show: (v) => number(v as number, 3) },
              { name: "device" }, { name: "threads", number: true }, { name: "machine" }, { name: "commit" }, { name: "file" },
            ],
            rows: rows.map((r, i) => [i + 1, r.dataset ?? null, r.ours.solver, r.ours.epoch_ms, r.published.epoch_ms, r.ratio, r.floor_ms, r.over_floor, r.device ?? null, r.threads ?? null, r.machine ?? null, r.commit ?? null, r.file]),
          })
        : null,
      ...time.flatMap(studyFigures),
    ];
  },
};
