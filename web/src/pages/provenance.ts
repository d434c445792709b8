import type { Page } from "../main";
import { h } from "../dom";
import { table } from "../table";

export const provenance: Page = {
  name: "provenance",
  title: "Provenance",
  intro: "Where each figure comes from: program, commit, machine and command.",
  body: (report) => [
    h("p", {}, `Made by eignn ${report.made.version} (${report.made.commit}) with `, h("code", {}, report.made.command), "."),
    report.runs.length > 0
      ? table({
          caption: "Runs and their machines",
          columns: [{ name: "run" }, { name: "machine" }, { name: "device" }, { name: "dtype" }, { name: "threads", number: true }, { name: "solver" }, { name: "seed", number: true }, { name: "split", number: true }, { name: "version" }, { name: "commit" }],
          rows: report.runs.map(({ name, summary: s }) => [name, s.machine || null, s.device ?? null, s.dtype ?? null, s.threads ?? null, s.solver ?? null, s.seed ?? null, s.split ?? null, s.version || null, s.commit || null]),
        })
      : null,
    ...report.runs.slice(0, 200).map((run) =>
      h("details", {}, h("summary", {}, `Settings of ${run.name}`), h("p", {}, h("code", {}, Object.entries(run.settings).map(([name, value]) => `${name} = ${value}`).join("; "))))),
    report.files.length > 0
      ? table({
          caption: "Files of results",
          columns: [{ name: "file" }, { name: "command" }, { name: "machine" }, { name: "version" }, { name: "commit" }],
          rows: report.files.map((file) => [file.file, file.command, file.machine, file.version, file.commit]),
        })
      : null,
    report.not_shown.length > 0 ? h("section", {}, h("h2", {}, "Not shown"), h("ul", {}, ...report.not_shown.map((text) => h("li", {}, text)))) : null,
  ],
};
