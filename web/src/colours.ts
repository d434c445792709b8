// The classes of the figures' marks and their colours: on the page by theme, in a saved SVG always those on white.

export const count = 10;

// Each has a contrast of 3 : 1 or more on its ground.
const onWhite = ["#1f6fb4", "#b34a00", "#20794a", "#7a3fb0", "#b4235a", "#0b7a8a", "#7a6200", "#4b5bd0", "#8a3b2f", "#4d4d4d"];
const onBlack = ["#6db3f2", "#ff9a52", "#62cf92", "#c79bff", "#ff85b0", "#5fd3e0", "#e3c34a", "#a3afff", "#f0a092", "#c8c8c8"];

const rules = (colours: string[], ink: string, faint: string, raise: string, lower: string): string =>
  colours.map((c, i) => `.s${i}{stroke:${c}}.f${i}{fill:${c}}`).join("") +
  `.axis,.tick{stroke:${faint}}.grid{stroke:${faint};stroke-opacity:.35}.ink{fill:${ink};font:13px system-ui,sans-serif}` +
  `.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.band{stroke:none;fill-opacity:.16}.dash{stroke-dasharray:6 4}` +
  `.edge{stroke:${faint};stroke-opacity:.6;fill:none}.raise{fill:${raise}}.lower{fill:${lower}}.raising{stroke:${raise}}.lowering{stroke:${lower}}` +
  `.wrong{stroke:${ink};stroke-width:2.5}.right{stroke:none}.node.chosen{stroke:${raise};stroke-width:5;stroke-opacity:.7}.unknown{fill:${faint}}.guide{fill:none;stroke:${faint};stroke-dasharray:2 4}`;

export const lightRules = rules(onWhite, "#1b1f24", "#8b949e", "#1f6fb4", "#c0341d");
const darkRules = rules(onBlack, "#e6edf3", "#768390", "#6db3f2", "#ff7b66");

/** Rules for the page: those of the theme that is in force. */
export function themeStyle(dark: boolean): string {
  return dark ? darkRules : lightRules;
}
