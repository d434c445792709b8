// Elements from code. Texts become text nodes: no name of a run, node or class is ever read as HTML.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | ((event: any) => void)>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

let numbered = 0;
export const freshId = (word: string): string => `${word}-${++numbered}`;

/** A sentence for a page without data, with the command that makes some. */
export function nothing(sentence: string, command: string): HTMLElement {
  return h("p", { class: "nothing" }, sentence, " ", h("code", {}, command));
}

/** A choice among a few; `act` is called with its index. */
export function choice(label: string, options: string[], act: (index: number) => void, first = 0): HTMLElement {
  const id = freshId("choice");
  const select = h("select", { id, change: () => act(select.selectedIndex) }, ...options.map((text) => h("option", {}, text)));
  select.selectedIndex = first;
  return h("span", { class: "control" }, h("label", { for: id }, label), select);
}

export function checkbox(label: string, checked: boolean, act: (on: boolean) => void): HTMLElement {
  const id = freshId("check");
  const box = h("input", { type: "checkbox", id, change: () => act(box.checked) });
  box.checked = checked;
  return h("span", { class: "control" }, box, h("label", { for: id }, label));
}
