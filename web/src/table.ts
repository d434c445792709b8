// Tables that are sorted by a press on the head of a column.
import { h } from "./dom";
import { fixed, number } from "./format";
import { csv, fileName, saveText, type Cell } from "./save";

export interface Column {
  name: string;
  number?: boolean; // sorted as a number, aligned to the right
  digits?: number; // behind the point; significant ones when not given
  show?: (value: Cell, row: number) => Node | string; // in the place of the plain value
}

export interface TableSpec {
  caption: string;
  columns: Column[];
  rows: Cell[][];
  saving?: boolean;
}

const order = new Intl.Collator("en", { numeric: true }).compare;

export function table(spec: TableSpec): HTMLElement {
  const places = spec.rows.map((_, i) => i);
  const body = h("tbody", {});
  const lines = spec.rows.map((row, place) =>
    h("tr", {}, ...spec.columns.map((column, k) => {
      const value = row[k];
      const text = column.show ? column.show(value, place)
        : value === null || value === undefined ? "–"
        : typeof value === "number" ? (column.digits === undefined ? number(value, 6) : fixed(value, column.digits))
        : value;
      return k === 0 ? h("th", { scope: "row", class: column.number ? "number" : null }, text) : h("td", { class: column.number ? "number" : null }, text);
    })));
  body.append(...lines);
  const heads = spec.columns.map((column, k) => {
    const button = h("button", { type: "button", click: () => sort(k) }, column.name);
    return h("th", { scope: "col", class: column.number ? "number" : null }, button);
  });
  function sort(k: number): void {
    const up = heads[k].getAttribute("aria-sort") !== "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[k].setAttribute("aria-sort", up ? "ascending" : "descending");
    const missing = (v: Cell): boolean => v === null || v === undefined || (typeof v === "number" && !Number.isFinite(v));
    places.sort((a, b) => {
      const x = spec.rows[a][k], y = spec.rows[b][k];
      if (missing(x) || missing(y)) return Number(missing(x)) - Number(missing(y)) || a - b; // what is missing comes last
      const way = typeof x === "number" && typeof y === "number" ? x - y : order(String(x), String(y));
      return (up ? way : -way) || a - b;
    });
    body.append(...places.map((place) => lines[place]));
  }
  const element = h("table", {}, h("caption", {}, spec.caption), h("thead", {}, h("tr", {}, ...heads)), body);
  const save = spec.saving === false ? null
    : h("div", { class: "buttons" }, h("button", {
        type: "button", class: "save-csv",
        click: () => saveText(fileName(spec.caption, "csv"), "text/csv", csv(spec.columns.map((c) => c.name), places.map((place) => spec.rows[place]))),
      }, "Save CSV", h("span", { class: "unseen" }, ` of ${spec.caption}`)));
  return h("div", { class: "table" }, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": spec.caption }, element), save);
}
