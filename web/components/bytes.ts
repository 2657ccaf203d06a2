const units = ["bytes", "kB", "MB", "GB", "TB"];

/** `12.4 MB`, with a thin space. */
export function bytesInWords(bytes: number): string {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(bytes || 1) / 3)));
  const value = bytes / 1000 ** power;
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)}\u2009${units[power]}`;
}
