// Numbers as people read them.

/** So many significant digits, without a tail of zeros; very large and very small ones with an exponent. */
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(0, digits - 1)).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(digits)));
}

export const signed = (value: number, digits = 4): string => (value > 0 ? "+" : "") + number(value, digits);

export function fixed(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(digits);
}

export const percent = (share: number | null | undefined): string =>
  share === null || share === undefined ? "–" : `${(100 * share).toFixed(2)} %`;

/** Metrics that are shares of 1 and shown in percent. */
export const isShare = (metric: string): boolean => !["mse", "mae", "r2"].includes(metric);

export function score(metric: string, value: number | null | undefined): string {
  return isShare(metric) ? percent(value) : number(value);
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return `${number(1000 * seconds, 3)} ms`;
  if (seconds < 120) return `${number(seconds, 3)} s`;
  return seconds < 7200 ? `${number(seconds / 60, 3)} min` : `${number(seconds / 3600, 3)} h`;
}
