// The page: reads the object that the command has put into it, and shows one of its pages at a time.
import "./style.css";
import { themeStyle } from "./colours";
import type { Report } from "./data";
import { choice, h } from "./dom";
import { graph } from "./pages/graph";
import { inside } from "./pages/inside";
import { longRange } from "./pages/long_range";
import { overview } from "./pages/overview";
import { provenance } from "./pages/provenance";
import { robustness } from "./pages/robustness";
import { speed } from "./pages/speed";
import { tables } from "./pages/tables";
import { training } from "./pages/training";
import { why } from "./pages/why";

export interface Page {
  name: string;
  title: string;
  intro: string;
  body: (report: Report) => (Node | string | null)[];
}

const pages: Page[] = [overview, longRange, training, tables, robustness, speed, inside, why, graph, provenance];

function start(): void {
  const report = JSON.parse((document.getElementById("data") as HTMLElement).textContent ?? "") as Report;
  const main = h("main", { id: "main", tabindex: -1 });
  const links = pages.map((page) => h("a", { href: `#${page.name}` }, page.title));
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [sheet];
  const system = matchMedia("(prefers-color-scheme: dark)");
  let theme = 0; // as the system, light, dark
  const paint = (dark: boolean): void => {
    document.documentElement.classList.toggle("dark", dark);
    sheet.replaceSync(themeStyle(dark));
  };
  const repaint = (): void => paint(theme === 2 || (theme === 0 && system.matches));
  system.addEventListener("change", repaint);
  addEventListener("beforeprint", () => paint(false)); // paper is white
  addEventListener("afterprint", repaint);
  const themes = choice("Colours", ["as the system", "light", "dark"], (index) => { theme = index; repaint(); });
  themes.classList.add("theme");
  document.getElementById("page")?.replaceWith(
    h("a", { class: "skip", href: "#main", click: (event: Event) => { event.preventDefault(); main.focus(); } }, "To the content"),
    h("header", {}, h("span", { class: "name" }, "eignn report"), h("nav", { "aria-label": "Pages" }, h("ul", {}, ...links.map((link) => h("li", {}, link)))), themes),
    main,
  );
  const made = new Map<string, HTMLElement>();
  const show = (focus: boolean): void => {
    const wanted = pages.find((page) => `#${page.name}` === location.hash) ?? pages[0];
    links.forEach((link, i) => (pages[i] === wanted ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")));
    let content = made.get(wanted.name);
    if (content === undefined) {
      content = h("div", { class: `page-${wanted.name}` }, h("h1", {}, wanted.title), h("p", { class: "intro" }, wanted.intro), ...wanted.body(report));
      made.set(wanted.name, content);
    }
    main.replaceChildren(content);
    document.title = `${wanted.title} – eignn report`;
    if (focus) {
      main.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  };
  addEventListener("hashchange", () => show(true));
  repaint();
  show(false);
}

start();
