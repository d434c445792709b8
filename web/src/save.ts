// Files that the page hands out: figures as SVG, data as CSV.

export function saveText(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A name for a file: letters and digits of any script. */
export function fileName(title: string, ending: string): string {
  const plain = title.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 80);
  return `${plain || "report"}.${ending}`;
}

export type Cell = string | number | null;

/** RFC 4180: a field with a comma, a quote or a line break stands between quotes. */
export function csv(header: string[], rows: Cell[][]): string {
  const field = (cell: Cell): string => {
    const text = cell === null ? "" : String(cell);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [header, ...rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

/** The drawing as a file of its own, on white, whatever the theme of the page. */
export function svgText(drawing: SVGSVGElement, style: string): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  copy.querySelectorAll(".pointer").forEach((element) => element.remove());
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const box = drawing.viewBox.baseVal;
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of [["x", box.x], ["y", box.y], ["width", box.width], ["height", box.height]]) ground.setAttribute(String(key), String(value));
  ground.setAttribute("fill", "#ffffff");
  copy.prepend(ground);
  // As text, because the policy of the page would not let it have another style element. The first > ends the root's tag:
  // within attributes it is written as &gt;.
  const text = new XMLSerializer().serializeToString(copy).replace(">", () => `><style>${style}</style>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`;
}
