const thin = "\u2009";

/** `84 ms`; an en dash for nothing. */
export const inMs = (ms: number | null | undefined): string =>
  ms == null ? "–" : `${Math.round(ms).toLocaleString("en")}${thin}ms`;

/** `99.98 %`, never rounded up; an en dash where nothing was measured. */
export function percent(ratio: number | null | undefined): string {
  if (ratio == null) return "–";
  if (ratio === 1) return `100${thin}%`;
  return `${(Math.floor(ratio * 10_000 + 1e-9) / 100).toFixed(2)}${thin}%`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
